"""Pictures of models, drawn by matplotlib: a display for each kind, which holds what is drawn and draws it.

    display = gridmodl.plot.PartsDisplay.from_model(model).plot()

``plot(ax=...)`` draws on axes of your own, of a figure best made with ``layout="constrained"``; ``display.ax_`` and
``display.figure_`` are where it was drawn. Nothing is shown or saved: ``display.figure_.savefig("parts.png")``.
"""

try:
    import matplotlib as _  # noqa: F401
except ImportError as error:
    raise ImportError('gridmodl.plot needs matplotlib: pip install "gridmodl[plot]"') from error

from gridmodl.plot.grid import GridDisplay
from gridmodl.plot.parts import PartsDisplay

__all__ = ["GridDisplay", "PartsDisplay"]
