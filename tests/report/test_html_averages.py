"""Averages as pages and in notebooks: all text is escaped, nothing is loaded, and numbers are those of the average."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gridmodl import average, average_each

RNG = np.random.default_rng(0)
X = RNG.normal(size=80)
Y = (RNG.random(80) < 1 / (1 + np.exp(-3 * X))).astype(int)
HOSTILE = "<script>alert(1)</script>"


@pytest.mark.parametrize(
    "found",
    [
        average(X, Y),
        average({"x": np.where(X < -1, np.nan, X)}, Y, special={"x": [X[3]]}),
        average([1.0], ["a"]),
        average([np.nan, np.nan], [0, 1]),
        average(np.datetime64("2024-01-01") + np.arange(9), np.arange(9) // 3),
        average([-np.inf, 0.0, np.inf], [0, 1, 1]),
        average({"x": [HOSTILE, "b", None, "b"]}, [0, 1, 1, 1], order={"x": [HOSTILE, "a", "b"]}),
        average({"x": ["a"]}, [0], order={"x": ["a"]}),
    ],
)
def test_a_page_stands_alone(found, tmp_path):
    text = found.to_html(tmp_path / "page.html", title=HOSTILE)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
    assert "<script" not in text
    assert "http://" not in text.replace("http-equiv", "")
    assert "default-src" in text
    assert "nan" not in "".join(re.findall(r'points="([^"]*)"', text))
    assert found._repr_html_().startswith("<div")


def test_many_columns_in_one_page():
    found = average_each({HOSTILE: X, "b": X[::-1].copy(), "c": ["u", "v"] * 40}, Y, on_error="ignore")
    text = found.to_html()
    assert text.count("<svg") == 2
    assert "<script" not in text
    assert "no average" in text
    assert "leave-one-out loss" in found._repr_html_()
    assert "<script" not in found._repr_html_()


def test_a_page_names_levels():
    levels = ["low", "mid", "high", "top"]
    x = [levels[i] for i in np.repeat([0, 1, 3], 20)]
    page = average({"rating": x}, np.repeat([0, 0, 1], 20), order={"rating": levels}).to_html()
    assert "levels from low to top" in page
    assert "last level below" in page
    assert ">high<" in page  # the likely bound: of levels between mid and top, an odd one joins the lower part
    assert ">mid<" not in page


def test_a_page_fits_a_small_screen_and_names_its_axes():
    found = average({"x": X}, np.where(Y == 1, "yes", "no"), event="no")
    page = found.to_html()
    assert "svg{max-width:100%;height:auto}" in page
    assert "probability of no, from 0 to 1" in page
    assert f"values from {X.min()} to {X.max()}" in page
    averages = average_each({"x": X, "town": ["u", "v"] * 40}, Y, on_error="ignore")
    reason = "optimize finds the best partition of its values, and order= gives them an order"
    assert reason in averages.to_html()  # whole
    assert reason in averages._repr_html_()
