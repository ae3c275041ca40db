"""A private JupyterLab, and notebooks that run in it in Chromium: for pictures and tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reproduce import ROOT

START_SECONDS = 120
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},  # cells that are not in view exist too
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}

IS_CONNECTED = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status == 'idle'"
HAVE_RUN = """n => {
    const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")];
    return prompts.length == n && prompts.every(one => /[0-9]/.test(one.textContent));
}"""


@contextmanager
def jupyter_lab(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab that has all its files in `folder`; its notebooks find this gridmodl."""
    for name, settings in SETTINGS.items():
        path = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "run",
        "IPYTHONDIR": "ipython",
    }
    environment = {**os.environ, **{name: str(folder / of) for name, of in own.items()}, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root",
        "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True", f"--ServerApp.root_dir={folder}",
    ]  # fmt: skip
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)  # noqa: S603
    try:
        yield _address(process, folder)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _address(process: subprocess.Popen[bytes], folder: Path) -> str:
    """The address, once the server answers."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        for path in (folder / "run").glob("jpserver-*.json"):
            address = f"http://127.0.0.1:{json.loads(path.read_text())['port']}"
            try:
                urllib.request.urlopen(f"{address}/api/status", timeout=5).close()  # noqa: S310  our own server
            except (urllib.error.URLError, TimeoutError):
                continue
            return address
        time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start: {(folder / 'log.txt').read_text()[-2000:]}")


def run_notebook(browser: Any, address: str, folder: Path, cells: Sequence[str], theme: str = "Light") -> Any:
    """The page of a notebook of these cells, each of which was run, in the light or the dark theme."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    made = [{**empty, "id": f"cell{i}", "source": text} for i, text in enumerate(cells)]
    notebook = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "notebook.ipynb").write_text(json.dumps(notebook))
    page = browser.new_page(viewport={"width": 1280, "height": 1600})
    page.set_default_timeout(1000 * START_SECONDS)
    page.goto(f"{address}/lab/tree/notebook.ipynb?reset")
    page.wait_for_function(IS_CONNECTED)  # a notebook that is not connected yet asks for a kernel and runs nothing
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.ready.then(() => 1)")
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(HAVE_RUN, arg=len(cells))
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    run_command(page, "apputils:change-theme", theme=f"JupyterLab {theme}")
    return page


def run_command(page: Any, name: str, **options: Any) -> None:
    """Run a command of JupyterLab to its end."""
    page.evaluate(
        "([name, options]) => window.jupyterapp.commands.execute(name, options).then(() => 1)", [name, options]
    )


def chromium(playwright: Any) -> Any:
    """Debian's Chromium."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
