"""Models of all kinds for the tests of HTML pages, made once, and what the text of a page holds."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd

import gridmodl
from gridmodl import Model

EVIL = '<img src=x onerror=alert(1)></script><script>alert(2)</script><!--"&\u2028\u202e\n[0].a\\'
VALUES = ["</script><b>red", "<!--", "a'\"&amp;\u2029", "plain", "x" * 500, "", "日本語", "\ud800"]


def no_constant(text: str) -> Any:
    raise AssertionError(f"{text} is no JSON")


class Page(HTMLParser):
    """The elements of a page: tags with their attributes, and the text of its scripts, style and comments."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.comments: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag in ("script", "style", "title", "h1", "pre"):
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.texts:
            self.texts[self._inside][-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def policy(self) -> str:
        (found,) = [
            attrs["content"] for tag, attrs in self.tags if attrs.get("http-equiv") == "Content-Security-Policy"
        ]
        return str(found)

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.texts["script"][0], parse_constant=no_constant)

    @property
    def section(self) -> dict[str, Any]:
        """The only section of the page."""
        (found,) = self.document["sections"]
        return found


def table_of(section: dict[str, Any], record: dict[str, Any]) -> dict[str, list[Any]]:
    """A table of a section as a dict of columns."""
    keys = [head["key"] for head in section["heads"][record["head"]]]
    return dict(zip(keys, record["data"], strict=True))


def same_columns(found: dict[str, list[Any]], expected: dict[str, Any]) -> None:
    """The columns of a page are those of a model's table, numbers to six digits."""
    assert list(found) == list(expected)
    for key, column in expected.items():
        if np.asarray(column).dtype.kind in "iuf":
            plain = [np.nan if value is None else float(value) for value in found[key]]
            np.testing.assert_allclose(plain, np.asarray(column, dtype=float), rtol=1e-5)
        else:
            assert found[key] == [str(value) for value in column]


def without_number(name: str) -> str:
    """Values in the name of a group: its number changes when others merge."""
    return name.split(": ", 1)[-1]


@functools.cache
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 900
    age, colour = rng.integers(18, 90, n).astype(float), rng.choice(["red", "blue", "green", "black", None], n)
    buys = rng.random(n) < np.where(age < 40, 0.1, 0.5) + np.where(np.isin(colour, ["red", "black"]), 0.4, 0.0)
    age[rng.random(n) < 0.1] = np.nan
    age[rng.random(n) < 0.05] = -999.0
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        np.where(buys, rng.integers(0, 90, n), rng.integers(60, 150, n)), "D"
    )
    noise = rng.normal(size=n)
    return pd.DataFrame({"age": age, "colour": colour, "day": day, "noise": noise, "buys": np.where(buys, "yes", "no")})


@functools.cache
def models() -> gridmodl.Models:
    return gridmodl.optimize_each(frame(), "buys", special={"age": [-999]})


@functools.cache
def hostile_models() -> gridmodl.Models:
    rng = np.random.default_rng(1)
    value = rng.choice(np.array(VALUES, dtype=object), 800)
    is_second = rng.random(800) < np.where(np.isin(value, VALUES[:4]), 0.9, 0.1)
    data = {EVIL: value, "long " * 100: rng.normal(size=800) + is_second, "": rng.random(800), 7: rng.random(800)}
    return gridmodl.optimize_each(data, np.where(is_second, f"<b>yes{EVIL}", "no & 'never'"))


@functools.cache
def grid() -> Model:
    """Three columns that tell the class together, a fourth that tells nothing."""
    rng = np.random.default_rng(2)
    a, b, c = rng.random(900), rng.random(900), rng.choice(["p", "q", "r", "s"], 900)
    label = (a > 0.5).astype(int) + (b > 0.3) * np.isin(c, ["p", "q"])
    return gridmodl.optimize(
        {"a": a, "b": b, "c": c, "noise": rng.random(900)}, np.array(["no", "maybe", "yes"])[label]
    )


@functools.cache
def joint() -> Model:
    """Without a target: a numerical column and one of hostile categories."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 30, 6000)
    names = np.array([f"<b>{i}</b>" for i in range(40)])
    return gridmodl.optimize({"numbers": x.astype(float), EVIL: names[x // 3 * 3 + rng.integers(0, 4, 6000)]})


@functools.cache
def numerical() -> Model:
    rng = np.random.default_rng(4)
    x = rng.random(600)
    return gridmodl.optimize(x, np.round(x * 4) * 10 + rng.normal(size=600), target_kind="numerical")


@functools.cache
def grouped() -> Model:
    rng = np.random.default_rng(5)
    shop = rng.integers(0, 30, 3000)
    return gridmodl.optimize(rng.normal(shop % 3, 0.4), shop, target_kind="grouped")


@functools.cache
def semi() -> Model:
    rng = np.random.default_rng(6)
    x = rng.random(600)
    label = np.where(rng.random(600) < 0.5, None, np.where(x > 0.4, "up", "down"))
    return gridmodl.optimize(x, label, unlabelled=None)


@functools.cache
def density() -> gridmodl.DensityModel:
    rng = np.random.default_rng(7)
    return gridmodl.optimize_density(np.concatenate([rng.uniform(0, 2, 200), rng.normal(7, 0.5, 200)]))


@functools.cache
def dates() -> gridmodl.DensityModel:
    return gridmodl.optimize_density(frame()["day"])


@functools.cache
def drift() -> gridmodl.Comparison:
    """New rows by month, with hostile names, new categories and an event."""
    rows = frame().sample(400, random_state=0)
    age = rows["age"] + 15
    colour = rows["colour"].where(rows["age"] > 40, EVIL)
    month = rows["day"].dt.month.map({i: f"{EVIL[:9]} {i}" for i in range(1, 13)})
    return models().compare(rows.assign(age=age, colour=colour), "buys", month)


@functools.cache
def hostile_drift() -> gridmodl.Comparison:
    return hostile_models().compare({EVIL: VALUES * 9, "long " * 100: [0.5] * 72, "": [1.0] * 72, 7: [9.0] * 72})


@functools.cache
def grid_drift() -> gridmodl.Comparison:
    """Cells of a grid and three classes, none of which is the event."""
    rng = np.random.default_rng(8)
    data = {"a": rng.random(300), "b": rng.random(300) + 0.2, "c": rng.choice(["p", "x"], 300)}
    return grid().compare(data, rng.choice(["no", "maybe", "yes"], 300), refit=False)


@functools.cache
def average() -> gridmodl.Average:
    """Three classes, missing values and a special code."""
    rows = frame()
    return gridmodl.average(rows[["age"]], rows["colour"].fillna("none"), special={"age": [-999]})


@functools.cache
def averages() -> gridmodl.Averages:
    """A hostile name, a special code, dates, levels, and a column without an average."""
    rows = frame()[["age", "day", "noise", "colour"]].rename(columns={"noise": EVIL})
    level = pd.Series(np.array(["low", "mid", "high"])[np.arange(len(rows)) % 3], index=rows.index)
    order = {"level": ["low", "mid", "high", "top"]}
    return gridmodl.average_each(
        rows.assign(level=level), frame()["buys"], special={"age": [-999]}, order=order, on_error="ignore"
    )


@functools.cache
def scorecard() -> gridmodl.Scorecard:
    rows = frame().rename(columns={"noise": EVIL}).drop(columns="buys")
    return gridmodl.GridScorecard(event="yes", rounded=True, validate=False).fit(rows, frame()["buys"]).scorecard_


@functools.cache
def cutoffs() -> Any:
    return scorecard().cutoffs(frame().rename(columns={"noise": EVIL}), frame()["buys"])


def report() -> str:
    """Every kind of section on one page."""
    sections = [averages(), scorecard(), cutoffs(), drift(), grid(), joint(), density(), average()]
    return models().to_html(title="All of it", about="900 rows; target: buys", sections=sections)


@functools.cache
def thousand() -> gridmodl.Models:
    """One fit under many names: 12 classes and 50 parts, as wide as a table gets."""
    rng = np.random.default_rng(0)
    x = rng.random(4000)
    model = gridmodl.optimize(x, (x * 50).astype(int) % 12)
    assert model.partitions["x0"].n_parts > 40
    named = {}
    for i in range(1000):
        partition = replace(model.partitions["x0"], name=f"column {i} with a long name of its own")
        named[partition.name] = replace(model, partitions={partition.name: partition}, cost=model.cost + i / 10)
    return gridmodl.Models(named, {})


ALL = {
    "models": models, "hostile": hostile_models, "grid": grid, "joint": joint, "numerical": numerical,
    "grouped": grouped, "semi": semi, "density": density, "dates": dates, "drift": drift,
    "hostile drift": hostile_drift, "grid drift": grid_drift, "average": average, "averages": averages,
    "scorecard": scorecard,
}  # fmt: skip
PAGES = [*ALL, "report"]


@functools.cache
def text_of(name: str) -> str:
    return report() if name == "report" else str((ALL | {"thousand": thousand})[name]().to_html())
