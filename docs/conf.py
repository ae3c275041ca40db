"""How Sphinx builds these pages: ``make docs``; docs/README.md says how to add one."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.pycode import ModuleAnalyzer

import gridmodl

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
warnings.simplefilter("error", FutureWarning)  # an example that uses what will go away fails the build
os.environ["GRIDMODL_QUIET"] = "1"  # whether a search was compiled is no part of what an example prints

project = "gridmodl"
author = "The gridmodl developers"
copyright = author
version = release = gridmodl.__version__

extensions = [
    "apitable",
    "glossaryindex",
    "mathsvg",
    "myst_parser",
    "numpydoc",
    "pictures",
    "samplereport",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "stackedtables",
    "wholewords",
]
# README.md is for who writes these pages, and that of the results is included; the gallery reads its scripts itself.
exclude_patterns = [
    "_build",
    "README.md",
    "results/README.md",
    "examples/*",
    "auto_examples/*.py",
    "auto_examples/*.ipynb",
]
templates_path = ["_templates"]
default_role = "autolink"  # a link where the name is documented, else as it stands
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*")]  # the default role: `name` may be a parameter, or of another library

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

# Signatures show defaults; what a parameter may be is said beside it in words.
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autosummary_generate = True
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_use_plots = False
toc_object_entries_show_parents = "hide"  # beside the text there is no room for `GridScorecard.cutoffs()`

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "subsection_order": ["examples/decide", "examples/hand_on", "examples/extend"],
    "thumbnail_size": (640, 448),  # as most pictures are: text stays sharp
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "auto_examples/backreferences",
    "doc_module": ("gridmodl",),
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),  # what a script prints, not what its last line is
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "min_reported_time": 1e9,
}

html_theme = "pydata_sphinx_theme"
html_title = f"gridmodl {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_js_files = [("filter.js", {"defer": "defer"})]
html_copy_source = False
html_sidebars = {"index": []}
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "auto_examples/index": [], "index": []},  # room for pictures
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_math_renderer = "svg"


def left_out(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that a class has from elsewhere, and fields of tuples that its docstring lists."""
    is_ours = (getattr(obj, "__module__", None) or "").startswith("gridmodl")
    is_field = (getattr(obj, "__doc__", None) or "").startswith("Alias for field number")
    if is_field and has_comment(app, name):
        return None
    return True if is_field or (inspect.isroutine(obj) and not is_ours) else None


def has_comment(app: Any, field: str) -> bool:
    """Whether a comment says what a field of the class being read is, and the docstring of the class does not."""
    module, name = (app.env.temp_data.get(f"autodoc:{what}") for what in ("module", "class"))
    cls = getattr(importlib.import_module(module), name, None) if module and name else None
    if cls is None or "Attributes\n" in (cls.__doc__ or ""):
        return False
    return (name, field) in ModuleAnalyzer.for_module(cls.__module__).find_attr_docs()


def at_the_top(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Names of `gridmodl` itself can be linked from docstrings of any module.

    A parameter that has the name of a module, such as `data`, looks like the other parameters.
    """
    if node.get("refdomain") != "py":
        return None
    target = f"gridmodl.{node['reftarget']}"
    found = env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, contnode)
    is_word = node["reftype"] == "obj" and "." not in node["reftarget"]
    return nodes.emphasis("", contnode.astext()) if found is None and is_word else found


def no_signature(app: Any, what: str, name: str, obj: Any, options: Any, signature: Any, returned: Any) -> Any:
    """Only functions of the library make a `Model` and the like: how they do is no part of the reference."""
    is_made = what == "class" and "Parameters\n" not in (obj.__doc__ or "")
    return ("", None) if is_made else (signature, returned)


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", no_signature)
    app.connect("autodoc-skip-member", left_out)
    app.connect("missing-reference", at_the_top)
