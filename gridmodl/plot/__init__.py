"""Pictures of models, drawn by matplotlib: a display for each kind, which holds what is drawn and draws it.

    display = gridmodl.plot.PartsDisplay.from_model(model).plot()

``plot(ax=...)`` draws on axes of your own, of a figure best made with ``layout="constrained"``; ``display.ax_`` and
``display.figure_`` are where it was drawn. Nothing is shown or saved: ``display.figure_.savefig("parts.png")``.
"""

try:
    import matplotlib as _  # noqa: F401
except ImportError as error:
    raise ImportError('gridmodl.plot needs matplotlib: pip install "gridmodl[plot]"') from error

from gridmodl.plot.cells import CellsDisplay
from gridmodl.plot.cost import CostDisplay
from gridmodl.plot.density import DensityDisplay
from gridmodl.plot.grid import GridDisplay
from gridmodl.plot.parts import PartsDisplay
from gridmodl.plot.posterior import PosteriorDisplay
from gridmodl.plot.progress import History, ProgressDisplay
from gridmodl.plot.target import TargetDisplay

__all__ = [
    "CellsDisplay",
    "CostDisplay",
    "DensityDisplay",
    "GridDisplay",
    "History",
    "PartsDisplay",
    "PosteriorDisplay",
    "ProgressDisplay",
    "TargetDisplay",
]
