"""What notebooks show: well-formed, safe with any names, nothing from elsewhere, no scripts, and not too long."""

from __future__ import annotations

import html
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import gridmodl
from gridmodl.estimators import CoclusteringClassifier, GridClassifier, GridCoclustering, GridDiscretizer
from gridmodl.evidence.contributions import Contributions
from gridmodl.report.pictures import FAINT, OKABE_ITO, OTHER, REST, plain, ranges, shown_classes, tag

HOSTILE = [
    "<script>alert(1)</script>",
    "</svg><img src=x onerror=alert(1)>",
    "]]>--><!--",
    "\" onload=\"alert(1)' x='",
    "&lt;b&gt;",
    "\u202egnp.exe",
    "שלום",
    "\ud800",
    "line\nbreak\x00",
    "long " * 200,
]
TAGS = {
    "b", "bdi", "circle", "details", "div", "g", "polyline", "rect", "span", "summary", "svg", "table", "tbody", "td",
    "th", "thead", "title", "tr",
}  # fmt: skip
ATTRIBUTES = {
    "aria-label", "class", "cx", "cy", "fill", "fill-opacity", "height", "open", "points", "preserveaspectratio", "r",
    "role", "stroke", "stroke-opacity", "style", "viewbox", "width", "x", "xmlns", "y",
}  # fmt: skip

RNG = np.random.default_rng(5)
N = 400
CODES = RNG.integers(0, len(HOSTILE), N)
VALUES = np.array(HOSTILE, dtype=object)[CODES]
NUMBERS = RNG.random(N)
CLASSES = np.where(RNG.random(N) < 0.9, CODES % 3, 2)
NAMED = np.array(HOSTILE[:3], dtype=object)[CLASSES]


class Checker(HTMLParser):
    """Every tag is one of ours and is closed in order; the text is kept."""

    def __init__(self, shown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.tags: list[str] = []
        self.feed(shown)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        assert name in TAGS, name
        assert {key for key, _ in attributes} <= ATTRIBUTES, attributes
        for key, value in attributes:
            assert "url(" not in value, value
            assert key == "xmlns" or "://" not in value, value
        self.open.append(name)
        self.tags.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    handle_decl = handle_pi = unknown_decl = handle_comment


def checked(thing) -> Checker:
    shown = thing._repr_html_()
    shown.encode()  # no half of a character
    assert shown == thing._repr_html_()
    assert " id=" not in shown
    return Checker(shown)


@pytest.fixture(scope="module")
def models():
    """One model of each problem, with names that want to be tags."""
    frame = {HOSTILE[0]: VALUES, HOSTILE[1]: NUMBERS}
    return {
        "groups": gridmodl.optimize({HOSTILE[0]: VALUES}, NAMED),
        "classes": gridmodl.optimize({HOSTILE[3]: CODES + NUMBERS}, NAMED),
        "grid": gridmodl.optimize({**frame, 7: CLASSES.astype(float)}, NAMED),
        "joint": gridmodl.optimize({HOSTILE[0]: VALUES, HOSTILE[2]: NAMED}),
        "grouped": gridmodl.optimize({HOSTILE[0]: CODES + NUMBERS}, VALUES, target_kind="grouped"),
        "numerical": gridmodl.optimize({HOSTILE[0]: VALUES}, CODES % 3 + NUMBERS, target_kind="numerical"),
        "semi": gridmodl.optimize({HOSTILE[0]: NUMBERS}, np.where(NUMBERS < 0.2, -1, CLASSES), unlabelled=-1),
    }


@pytest.mark.parametrize("kind", ["groups", "classes", "grid", "joint", "grouped", "numerical", "semi"])
def test_a_model_of_every_problem(models, kind):
    model = models[kind]
    shown = checked(model)
    assert {"svg", "table"} <= set(shown.tags)
    assert f"cost {model.cost:,.2f}, with one part {model.null_cost:,.2f}: level {model.level:.4f}" in shown.text
    for name in model.informative or model.partitions:
        assert plain(name) in shown.text
    for partition in model.all_partitions.values():
        checked(partition)
    read = gridmodl.Model.from_json(model.to_json())
    assert checked(read).text == shown.text


def test_names_are_text_and_nothing_else(models):
    shown = models["groups"]._repr_html_()
    assert "<script" not in shown
    assert html.escape(HOSTILE[0], quote=True) in shown
    assert "\u202e" not in shown  # it would turn the line around
    assert len(shown) < 20_000  # long names are cut
    assert plain("שלום") == "שלום"


def test_tables_are_cut_as_summaries_are():
    rows = np.repeat(np.arange(150.0), 2)
    model = gridmodl.Model.from_partitions(rows, rows % 2, {"x0": np.arange(149) + 0.5})
    shown = checked(model)
    assert shown.tags.count("tr") == 41
    assert "... and 110 more parts" in shown.text
    assert "51 more parts: 102 rows" in shown.text  # in the picture
    assert checked(model.partitions["x0"]).tags.count("tr") == 41


def test_the_main_cells_of_a_grid_come_first_and_others_are_folded():
    codes = np.arange(400) % 100
    cuts = np.arange(9) + 0.5
    model = gridmodl.Model.from_partitions({"a": codes // 10, "b": codes % 10}, codes % 2, {"a": cuts, "b": cuts})
    shown = model._repr_html_()
    above, _, below = shown.partition("<details")
    assert above.count("<tr") == 1 + 10
    assert "the 10 cells with the most rows, of 100" in above
    assert "90 more cells" in below[: below.index("</summary>")]
    assert below[: below.index("</details>")].count("<tr") == 1 + 30
    assert "... and 60 more cells" in below


def test_one_column_of_a_grid_is_shown_by_its_parts(models):
    x = np.arange(60.0)
    model = gridmodl.optimize({"x": x, "again": x * 2 + 1}, (x > 29).astype(int))
    shown = model._repr_html_()
    assert "1 of 2 columns tells about the target: " in shown
    assert "cells" not in shown
    assert shown.count('<details open="open">') == 1


def test_a_density_and_the_models_of_a_table():
    density = gridmodl.optimize_density({HOSTILE[0]: NUMBERS**3})
    assert {"svg", "table"} <= set(checked(density).tags)
    low, high = density.domain
    assert f"density, from {low:.6g} to {high:.6g}" in checked(density).text
    days = gridmodl.optimize_density(np.array(["2024-01-01", "2024-01-03", "NaT"], dtype="datetime64[D]"))
    assert {"density per day", "2 rows, 1 more are missing"} <= set(checked(days).text)
    days = gridmodl.optimize_density(np.array(["2024-01-01", "2024-01-03"], dtype="datetime64[ns]"))
    assert "density, from 2024-01-01 to 2024-01-03" in checked(days).text
    waits = np.arange(0, 3 * 3600, 60).astype("timedelta64[s]").astype("timedelta64[us]")
    for model in (gridmodl.optimize(waits, max_parts=1), gridmodl.density.equal_width(waits, n_parts=1)):
        assert {"density per hour", "0.3333"} <= set(checked(model).text)
        assert ": density 0.3333 per hour" in model._repr_html_()  # 180 minutes, with half a step at either end
    frame = {name: RNG.random(60) for name in HOSTILE[:4]} | {5: np.array([{}] * 60)}
    with pytest.warns(gridmodl.ColumnWarning):
        models = gridmodl.optimize_each(frame, RNG.integers(0, 2, 60))
    shown = checked(models)
    assert "4 columns, event 1" in shown.text
    assert any("no model" in text for text in shown.text)


def test_models_of_a_table_show_a_target_that_is_no_class():
    numbers = gridmodl.optimize_each({"a": CODES % 2}, CODES % 2 * 4 + NUMBERS, target_kind="numerical")
    shown = checked(numbers)
    assert "quantiles of the target in 2 parts" in numbers._repr_html_()
    means = "{:.3f} to {:.3f}".format(*sorted(numbers["a"].table(frame="arrays")["mean"]))
    assert {"mean by part", means} <= set(shown.text)
    assert "iv" not in shown.text  # no column without a number
    assert numbers.plot().facts == [f"2 parts, mean {means}"]
    groups = gridmodl.optimize_each({"a": CODES}, VALUES, target_kind="grouped")
    assert "shares of classes in" in groups._repr_html_()
    assert "mean by part" not in checked(groups).text


def test_parts_without_rows_and_one_class():
    model = gridmodl.Model.from_partitions([1.0, 2.0, 2.0], ["a", "a", "a"], {"x0": [-5.0, 1.5, 9.0]})
    assert "svg" in checked(model).tags
    numerical = gridmodl.Model.from_partitions(
        [1.0, 2.0, 2.0], [0.5, 1.5, 2.5], {"x0": [-5.0, 1.5, 9.0]}, target_kind="numerical"
    )
    checked(numerical)
    checked(gridmodl.Model.from_partitions({"a": [1.0, 2.0], "b": [1.0, 2.0]}, None, {}))


def test_an_explanation(models):
    explanation = models["groups"].explain()
    shown = checked(explanation)
    assert explanation.sentences[1] in shown.text
    for name in HOSTILE:
        checked(gridmodl.optimize({name: NUMBERS}, CLASSES).explain())
    assert shown.tags.count("tr") == 2 + len(explanation.alternatives)


def test_contributions():
    names, values = tuple(HOSTILE), (tuple(reversed(HOSTILE)),) * 7
    many = Contributions(names, values, RNG.random((7, len(names), 2)), np.zeros(2), np.array(HOSTILE[:2]), 1)
    shown = checked(many)
    assert "(all rows)" in shown.text
    assert "adds to the log of the odds" in shown.text
    assert "... and 2 more rows" in shown.text
    scores = np.log([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]])
    three = Contributions(("a", "b"), (("1", "2"),), scores, np.zeros(3), np.array(["x", "y", "z"]))
    shown = checked(three)
    assert shown.text[:3] == ["row 0: ", "z", " has probability 0.6667"]  # without an event, of the likeliest class
    assert shown.text.index("-1.609") < shown.text.index("-0.2231")  # the largest first
    assert "adds to the score" in shown.text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_curve_of_costs(name):
    curve = gridmodl.cost_by_parts({name: CODES + NUMBERS}, CLASSES, max_parts=6)
    shown = checked(curve)
    best = int(np.argmin(curve.cost))
    assert shown.tags.count("circle") == len(curve.cost)
    assert f"{curve.cost[best]:,.2f}" in shown.text
    assert "<script" not in curve._repr_html_()


def test_a_curve_of_one_value():
    assert checked(gridmodl.cost_by_parts([1.0, 1.0], [0, 1])).tags.count("circle") == 1


def test_the_posterior_of_a_bound():
    posterior = gridmodl.bound_posterior(NUMBERS, (NUMBERS > 0.4).astype(int))
    shown = checked(posterior)
    assert 100 <= shown.tags.count("rect") <= 240
    likely = posterior.bounds[posterior.posterior.argmax()]
    assert f"{likely:.6g}" in shown.text
    low, high = posterior.bounds[np.cumsum(posterior.posterior).searchsorted([0.05, 0.95])]
    assert f"with a probability of 90% between {low:.6g} and {high:.6g}" in shown.text
    days = np.datetime64("2024-01-01") + np.arange(9)
    assert any("2024-01-0" in text for text in checked(gridmodl.bound_posterior(days, np.arange(9) // 5)).text)


@pytest.mark.parametrize("name", HOSTILE[:6])
def test_a_hierarchy(name):
    x = RNG.integers(0, 6, 600)
    hierarchy = gridmodl.optimize({name: x, "y": np.array(list("abcdef"))[x]}).hierarchy()
    shown = checked(hierarchy)
    assert shown.tags.count("polyline") == 1
    step = int(np.flatnonzero(hierarchy.information >= 0.5)[-1])
    shape = hierarchy.shape_at(step)
    row = [str(step), f"{hierarchy.information[step]:.1%}", str(shape[name]), str(shape["y"])]
    assert any(shown.text[i : i + 4] == row for i in range(len(shown.text)))
    assert "nothing to merge" in "".join(checked(gridmodl.optimize({"a": [1, 2], "b": [1, 1]}).hierarchy()).text)


def test_short_names_are_never_broken(models):
    day = np.array(["2024-01-01", "2024-05-03"], dtype="datetime64[D]")[CLASSES % 2]
    shown = gridmodl.optimize({"day": day}, CLASSES % 2)._repr_html_()
    assert 'nowrap"><bdi>(-inf, 2024-' in shown
    assert "anywhere" not in shown + models["groups"]._repr_html_()


def test_limits_are_said():
    assert "limits: at least 3 rows in each part" in checked(gridmodl.optimize(NUMBERS, CLASSES, min_rows=3)).text


def test_many_classes_share_a_colour():
    shares = shown_classes(np.arange(24).reshape(2, 12), [f"c{i}" for i in range(12)])
    assert shares.names[-1] == "5 other classes"
    assert shares.colours == [*OKABE_ITO, OTHER]
    assert shares.counts.sum() == np.arange(24).sum()


def test_the_rest_of_many_classes_is_faint_on_a_dark_page_too():
    rng = np.random.default_rng(0)
    shown = gridmodl.optimize({"x": rng.random(900)}, rng.integers(0, 60, 900))._repr_html_()
    assert "52 other classes" in shown
    assert FAINT in shown
    assert REST not in shown


def test_a_tag_escapes_what_is_no_markup():
    assert tag("td", "<a>", tag("b", "&"), style='"') == '<td style="&quot;">&lt;a&gt;<b>&amp;</b></td>'


ESTIMATORS = {
    "discretizer": lambda: GridDiscretizer().fit(np.column_stack([CODES, NUMBERS]), CLASSES),
    "density": lambda: GridDiscretizer().fit(np.column_stack([CODES, NUMBERS])),
    "classifier": lambda: GridClassifier().fit(np.column_stack([CODES, NUMBERS]), CLASSES),
    "coclustering": lambda: GridCoclustering().fit(np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int))),
    "coclassifier": lambda: CoclusteringClassifier().fit(
        np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int)), ["a", None, None, None, "b", None, None, None]
    ),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_shows_its_diagram_and_what_it_fitted(name):
    estimator = ESTIMATORS[name]()
    before = type(estimator)()
    assert "<table style" not in before._repr_html_().split("</style>")[-1]
    shown = estimator._repr_html_()
    assert type(estimator).__name__ in shown
    fitted = shown[shown.rindex('<div class="mathjax_ignore') :]
    assert {"svg", "table"} <= set(Checker(fitted).tags)
    assert estimator._repr_mimebundle_()["text/html"].endswith(fitted)
    with config_context(display="text"):
        assert not hasattr(estimator, "_repr_html_")
        assert list(estimator._repr_mimebundle_()) == ["text/plain"]


def test_a_pipeline_shows_the_diagram_of_scikit_learn():
    pipeline = make_pipeline(GridDiscretizer(), DecisionTreeClassifier())
    assert "GridDiscretizer" in pipeline._repr_html_()


@pytest.mark.filterwarnings("error")
def test_quantiles_that_span_more_than_the_largest_float_are_drawn():
    quantiles = np.array([[-1.7e308, -1e308, 0.0, 1e308, 1.7e308], [1e307] * 5])
    picture = ranges(quantiles, np.array([3, 2]), ["low", "high"])
    assert "nan" not in picture
    assert "inf" not in picture
    assert "low: median 0, 3 rows" in picture


def test_a_scorecard_has_the_short_names_of_parts() -> None:
    colour = np.array(["black", "red", "green", "blue"])[np.arange(400) % 4]
    y = np.where(np.arange(400) % 4 < 2, "yes", "no")
    y[:40] = np.where(y[:40] == "yes", "no", "yes")
    card = gridmodl.GridScorecard(event="yes", validate=False).fit(colour[:, None].astype(object), y).scorecard_
    shown = html.unescape(card._repr_html_())
    partition = card.partition(next(iter(card.models)))
    assert partition.names != partition.labels
    assert all(f">{name}<" in shown for name in partition.names)
    assert "(any other value)" not in shown
    assert "unknown categories: 0 points" in shown


def test_cutoffs_of_a_score() -> None:
    y = (RNG.random(N) < NUMBERS).astype(int)
    card = gridmodl.GridScorecard().fit(pd.DataFrame({"x": NUMBERS}), y).scorecard_
    cutoffs = card.cutoffs({"x": NUMBERS}, y)
    shown = checked(cutoffs)
    assert shown.tags.count("tr") == 1 + len(cutoffs.cutoff)
    assert {"approval rate", f"{cutoffs.columns['events_rejected'][1]:.1%}"} <= set(shown.text)
    assert f" of a score: event rate {y.mean():.1%}, gini {cutoffs.gini:.4f}, " in "".join(shown.text)
    many = checked(card.cutoffs({"x": NUMBERS}, y, at=np.arange(50.0)))
    assert "... and 10 more cut-offs" in many.text
    assert "nan" not in checked(card.cutoffs({"x": NUMBERS}, y * 0, at=[-1e9, 1e9])).text


def test_counts() -> None:
    rows = pl.LazyFrame({HOSTILE[0]: CODES, "x": NUMBERS, "y": CLASSES})
    counts = gridmodl.count(rows, "y", max_groups=20)
    shown, spans = checked(counts), counts.columns["x"].n_spans
    assert "400 rows counted, target " in shown.text
    assert {plain(HOSTILE[0]), "10 values", f"{spans} spans of up to {counts.resolution['x']} rows"} <= set(shown.text)


def test_weighted_evidence() -> None:
    evidence = gridmodl.GridNaiveBayes().fit(pd.DataFrame({HOSTILE[0]: CODES, "x": NUMBERS}), NAMED).evidence_
    shown = checked(evidence)
    assert shown.tags.count("tr") == 1 + len(evidence.sources) + 1 + len(evidence.left_out)
    assert {"weight", "low", "high", plain(HOSTILE[0])} <= set(shown.text)


def test_groups_of_classes_have_their_names_in_pictures_and_tables() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 2000)
    classes = np.array(["oak", "elm", "fir", "ash", "yew", "box"])[
        np.where(rng.random(2000) < 0.9, x, rng.integers(0, 6, 2000))
    ]
    model = gridmodl.optimize({"x": x}, classes, target_kind="grouped")
    shown = html.unescape(model._repr_html_())
    assert all(shown.count(f">{name}<") >= 2 for name in model.target.names)
    assert "group 0" not in shown


def test_a_column_of_one_part_tells_nothing() -> None:
    shown = gridmodl.optimize({"noise": np.arange(20) % 3}, np.arange(20) // 2 % 2)._repr_html_()
    assert "1 part, iv 0.0000, tells nothing about the target" in shown


def test_curves_and_posteriors_are_one_line_of_text() -> None:
    x, y = np.arange(40.0), np.repeat(["a", "b"], 20)
    curve, posterior = gridmodl.cost_by_parts({"x": x}, y, max_parts=3), gridmodl.bound_posterior(x, y)
    assert repr(curve) == f"CostByParts('x', 1 to 3 parts, lowest {curve.cost[1]:,.2f} with 2)"
    assert repr(posterior).startswith("BoundPosterior(39 bounds, likeliest 19.5: ")
    days = np.datetime64("2024-01-01") + np.arange(40)
    assert "likeliest 2024-01-2" in repr(gridmodl.bound_posterior(days, y))
