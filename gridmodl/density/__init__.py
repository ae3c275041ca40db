"""The density of one numerical column: intervals without a target.

Apart from the searches of grids, which merge down a sum of terms: a density is cut top-down by the score of each cut,
and cross-validation says when to stop. Both share the reading of data, the bounds and the partitions.
"""

from __future__ import annotations

from gridmodl.density.fitting import equal_frequency, equal_width, optimize_density
from gridmodl.density.model import DensityModel

__all__ = ["DensityModel", "equal_frequency", "equal_width", "optimize_density"]
