"""The face of an editor in a notebook: a thin widget that sends states to the page and commands back."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gridmodl.data.frames import Name
from gridmodl.report.widget.editor import PartitionEditor

if TYPE_CHECKING:
    from gridmodl.model.model import Model


def _file(name: str) -> str:
    return (files("gridmodl.report.widget") / name).read_text(encoding="utf-8")


def editor_in_notebook(model: Model, name: Name | None) -> PartitionEditor:
    """An editor that a notebook shows; raise ImportError at once if it could not."""
    editor = PartitionEditor(model, name)
    _anywidget()
    return editor


def _anywidget() -> Any:
    try:
        import anywidget
    except ImportError as error:
        raise ImportError(
            'editing by eye needs anywidget: pip install "gridmodl[widget]"; gridmodl.PartitionEditor(model, name) '
            "edits from Python without it"
        ) from error
    return anywidget


def make_widget(editor: PartitionEditor) -> Any:
    """The widget of an editor: it shows each state, also after calls from Python, and handles commands of the page."""
    anywidget = _anywidget()
    import traitlets

    class EditorWidget(anywidget.AnyWidget):  # type: ignore[name-defined,misc]
        _esm = _file("editor.js")
        _css = _file("editor.css")
        state = traitlets.Dict().tag(sync=True)

    widget = EditorWidget(state=editor.state())

    def show() -> None:
        widget.state = editor.state()

    def handle(_widget: Any, command: Any, _buffers: Any) -> None:
        if isinstance(command, dict):
            editor.handle(command)

    editor._listeners.append(show)
    widget.on_msg(handle)
    return widget
