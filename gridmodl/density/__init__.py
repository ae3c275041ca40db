"""The density of one numerical column: intervals without a target.

A place of its own: the cost of a grid is a sum of terms that searches merge down; a density is cut top-down by what a
cut is worth, and cross-validation says when to stop. It shares the reading of data, the bounds and the partitions.
"""

from __future__ import annotations

from gridmodl.density.baselines import equal_frequency, equal_width
from gridmodl.density.fitting import optimize_density
from gridmodl.density.model import DensityModel

__all__ = ["DensityModel", "equal_frequency", "equal_width", "optimize_density"]
