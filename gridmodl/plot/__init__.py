"""Plots of models with matplotlib: one display class per kind of plot, which holds the data and draws it::

    display = gridmodl.plot.PartsDisplay.from_model(model).plot()

``plot(ax=...)`` draws on your own axes, best of a figure with ``layout="constrained"``; ``display.ax_`` and
``display.figure_`` are the axes and the figure drawn on. Nothing is shown or saved; to save, call
``display.figure_.savefig("parts.png")``.
"""

try:
    import matplotlib as _  # noqa: F401
except ImportError as error:
    raise ImportError('gridmodl.plot needs matplotlib: pip install "gridmodl[plot]"') from error

from gridmodl.plot.average import AverageDisplay, PosteriorDisplay
from gridmodl.plot.cells import CellsDisplay
from gridmodl.plot.columns import ColumnsDisplay
from gridmodl.plot.contributions import ContributionsDisplay
from gridmodl.plot.curves import CostDisplay, History, PenaltyDisplay, ProgressDisplay
from gridmodl.plot.density import DensityDisplay
from gridmodl.plot.drift import DriftDisplay
from gridmodl.plot.grid import GridDisplay
from gridmodl.plot.hierarchy import HierarchyDisplay
from gridmodl.plot.parts import EventDisplay, PartsDisplay
from gridmodl.plot.scorecard import ScorecardDisplay, ScoresDisplay
from gridmodl.plot.target import TargetDisplay

__all__ = [
    "AverageDisplay",
    "CellsDisplay",
    "ColumnsDisplay",
    "ContributionsDisplay",
    "CostDisplay",
    "DensityDisplay",
    "DriftDisplay",
    "EventDisplay",
    "GridDisplay",
    "HierarchyDisplay",
    "History",
    "PartsDisplay",
    "PenaltyDisplay",
    "PosteriorDisplay",
    "ProgressDisplay",
    "ScorecardDisplay",
    "ScoresDisplay",
    "TargetDisplay",
]
