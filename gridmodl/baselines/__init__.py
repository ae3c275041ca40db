"""Binning methods to compare with: intervals of one numerical column with a class target, found without a criterion.

Each returns a `gridmodl.Model`, so that its parts are priced, used, shown and saved like those of `gridmodl.optimize`.
`gridmodl.density` has methods for a single column without a target.
"""

from __future__ import annotations

from gridmodl.baselines.methods import chi_merge, each, equal_frequency, equal_width, fayyad_irani

__all__ = ["chi_merge", "each", "equal_frequency", "equal_width", "fayyad_irani"]
