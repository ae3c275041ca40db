"""Copies of columns: the same values, or others in the same or reverse order, whatever their types."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gridmodl.data.columns import kind_of
from gridmodl.data.copies import copies_of
from gridmodl.data.frames import read_frame

rng = np.random.default_rng(0)
N = 3000
AGE = rng.integers(18, 80, N)
TOWN = np.array(list("abcdef"))[rng.integers(0, 6, N)]
HOLES = rng.random(N) < 0.1
COPY, REVERSED = "it is a copy of column 'age'", "it is a copy of column 'age', in reverse order"
NAMES = dict(zip("abcdef", "zyxwvu", strict=True))


def found(columns, frame=pd.DataFrame):
    raw = read_frame(frame(columns)).columns
    return copies_of(raw, {name: kind_of(one) for name, one in raw.items()})


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_numbers_in_the_same_or_reverse_order(frame):
    columns = {
        "age": AGE, "double": 2 * AGE, "root": np.sqrt(AGE), "young": -AGE, "date": np.datetime64("2000-01-01") - AGE,
        "square": (AGE - 40) ** 2, "other": rng.permutation(AGE), "decade": AGE // 10, "older": -3.5 * AGE + 2.0,
        "nearly": np.where(np.arange(N) == N // 2, 30, AGE + 0.0) + np.where(np.arange(N) == N // 2, 0.5, 0),
    }  # fmt: skip
    assert found(columns, frame) == {
        "double": COPY, "root": COPY, "young": REVERSED, "date": REVERSED, "older": REVERSED
    }  # fmt: skip


def test_the_reverse_of_a_reverse_is_a_copy_in_order():
    assert found({"young": -AGE, "age": AGE, "less": -2.0 * AGE}) == {
        "age": "it is a copy of column 'young', in reverse order",
        "less": "it is a copy of column 'young'",
    }


def test_missing_values_are_of_the_same_rows():
    age = np.where(HOLES, np.nan, AGE)
    columns = {"age": age, "full": AGE, "double": 2 * age, "young": -age, "lower": np.where(HOLES, 0, AGE)}
    assert found(columns) == {"double": COPY, "young": REVERSED}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_categories_of_other_names(frame):
    holes = [None if hole else town for hole, town in zip(HOLES.tolist(), TOWN.tolist(), strict=True)]
    columns = {
        "age": TOWN.tolist(), "renamed": [NAMES[town] for town in TOWN.tolist()], "holes": holes,
        "joined": ["a" if town == "b" else town for town in TOWN.tolist()],
        "renamed holes": [None if town is None else NAMES[town] for town in holes],
    }  # fmt: skip
    assert found(columns, frame) == {"renamed": COPY, "renamed holes": COPY.replace("age", "holes")}


def test_numbers_of_levels_are_copies_and_categories_are_not():
    levels = pd.Categorical(TOWN, categories=list("abcdef"), ordered=True)
    codes = pd.Series(TOWN).map({c: i for i, c in enumerate("abcdef")})
    columns = {"codes": codes, "town": TOWN, "levels": levels, "reverse": levels.rename_categories(list("fedcba"))}
    of_codes = "it is a copy of column 'codes'"
    assert found(columns) == {"levels": of_codes, "reverse": of_codes}
    columns["levels"] = levels.set_categories(list("fedcba"), ordered=True)
    assert found(columns) == {"levels": f"{of_codes}, in reverse order", "reverse": of_codes}


def test_few_rows_and_columns():
    assert found({"a": [1.0]}) == {}
    assert found({"a": [1.0, 2.0], "b": [7, 7]}) == {}
