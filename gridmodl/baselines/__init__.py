"""Methods to compare with: intervals of one numerical column with a class target, found without a criterion.

Each returns a `gridmodl.Model`, so that its parts are priced, used, shown and saved like those of `gridmodl.optimize`.
Those of a single column without a target are in `gridmodl.density`.
"""

from __future__ import annotations

from gridmodl.baselines.methods import chi_merge, each, equal_frequency, equal_width, fayyad_irani

__all__ = ["chi_merge", "each", "equal_frequency", "equal_width", "fayyad_irani"]
