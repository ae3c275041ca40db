"""Vega, Vega-Lite and Vega-Embed as one script, from the package vl-convert-python, which has them inside."""

from __future__ import annotations

import functools


@functools.cache
def chart_script() -> str:
    """The libraries in one text, which gives the window its `vegaEmbed`."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError('an HTML report needs vl-convert-python: pip install "gridmodl[html]"') from error
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
