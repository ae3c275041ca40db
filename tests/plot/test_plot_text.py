"""Names as they can be drawn."""

from __future__ import annotations

import io
import string
from textwrap import wrap

import matplotlib
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import gridmodl
from gridmodl.plot.axes.layout import wrapped
from gridmodl.plot.style import bound_words, drawn, part_labels
from gridmodl.report.text import shortened

FIGURE = Figure(figsize=(1.0, 1.0), dpi=20)
TEXT = FIGURE.text(0.0, 0.0, "")


@given(st.text(max_size=30))
@example("$x^2$")
@example(r"\$a$\$")
@example("$" * 7)
@example("\u202eright to left\u0000")
@example("\ud800 alone")
@example("")
@settings(max_examples=40, deadline=None)
def test_any_name_is_drawn_on_one_line_and_as_no_formula(name):
    TEXT.set_text(drawn(name, 20))
    FIGURE.savefig(io.BytesIO(), format="png")  # a warning would be an error
    shown, is_math = TEXT._preprocess_math(TEXT.get_text())
    assert not is_math
    assert 0 < len(shown) <= 20
    assert "\n" not in shown


def test_plain_names_are_what_they_are():
    assert drawn(string.ascii_letters + "ßé", 80) == string.ascii_letters + "ßé"
    assert drawn(12) == "12"
    assert drawn("  two\n\tlines ") == "two lines"
    assert drawn(" ") == "' '"
    assert drawn("中a") == "�a"
    assert shortened("abcdefghij", 7) == "abcd…ij"


def test_the_fonts_of_the_user_count():
    with matplotlib.rc_context({"font.family": ["STIXGeneral"]}):
        assert drawn("𝔸") == "𝔸"
    assert drawn("𝔸") in ("𝔸", "�")


@pytest.mark.parametrize(
    ("bounds", "labels"),
    [
        ([0.123456789], ["(-inf, 0.123457]", "(0.123457, inf)"]),
        ([1.0000001, 1.0000002], ["(-inf, 1.0000001]", "(1.0000001, 1.0000002]", "(1.0000002, inf)"]),
        ([-np.inf, 2.5], ["(-inf, -inf]", "(-inf, 2.5]", "(2.5, inf)"]),
    ],
)
def test_bounds_are_as_short_as_they_stay_apart(bounds, labels):
    partition = gridmodl.Partition("x", "numerical", np.ones((len(labels), 1), dtype=int), bounds=np.array(bounds))
    assert part_labels(partition) == labels


def test_bounds_of_other_types():
    assert bound_words(np.array([2**60, 2**60 + 1])) == [str(2**60), str(2**60 + 1)]
    assert bound_words(np.array(["2020-01-01"], dtype="datetime64[s]")) == ["2020-01-01"]
    assert bound_words(np.array([90], dtype="timedelta64[m]")) == ["01:30:00"]


def test_no_word_is_left_over_on_a_last_line():
    assert wrapped("mutual information of the cell, nats", 34, 3) == ["mutual information", "of the cell, nats"]
    assert wrapped("one line", 34, 3) == ["one line"]
    assert wrapped("two lines of which the second is long enough", 30, 3) == [
        "two lines of which the second",
        "is long enough",
    ]


@given(
    st.lists(st.text(string.ascii_letters, min_size=1, max_size=20), max_size=12), st.integers(5, 40), st.integers(1, 4)
)
@settings(max_examples=60, deadline=None)
def test_lines_are_never_longer_nor_more_and_lose_no_word_that_had_room(words, letters, most):
    text = " ".join(words)
    lines = wrapped(text, letters, most)
    assert len(lines) <= most
    assert all(len(line) <= letters for line in lines)
    if wrap(text, letters, max_lines=most) == wrap(text, letters):
        assert "".join(lines).replace(" ", "") == "".join(words)
