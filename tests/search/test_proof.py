"""What models say of the optimum: gap, certificate, verify, and the cost for each number of parts."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import gridmodl
from gridmodl import Search, cost_by_parts, optimize, price, verify
from gridmodl.model.file import ModelFileError
from gridmodl.search.column import exact, limited

CRITERIA = gridmodl.list_criteria("classes")


def waves(n=2_000, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random(n).round(3)
    shares = 0.5 + 0.45 * np.sin(12 * x[:, None] + np.arange(n_classes))
    shares /= shares.sum(axis=1, keepdims=True)
    return x, (rng.random(n)[:, None] > np.cumsum(shares, axis=1)).sum(axis=1)


@pytest.fixture
def no_budget(monkeypatch):
    """A proof that nobody asked for stops after its first run."""
    monkeypatch.setattr(exact, "budget_of", lambda task: 60.0 * task.n_atoms)
    monkeypatch.setattr(limited, "budget_of", lambda task: 60.0 * task.n_atoms)
    monkeypatch.setattr(exact, "QUICK_SECONDS", 0.0)


LIMITS = ({}, {"min_rows": 0.02, "max_parts": 8}, {"max_parts": 4})


@pytest.mark.parametrize("limits", LIMITS)
def test_a_proof_goes_on_while_it_has_time(no_budget, monkeypatch, limits):
    """Prices of one signal, or within limits, are many more than those of another that takes as long."""
    x, y = waves(n_classes=4)
    given_up = optimize(x, y, **limits)
    assert not given_up.proven
    monkeypatch.setattr(exact, "QUICK_SECONDS", 1000.0)
    model, best = optimize(x, y, **limits), optimize(x, y, search="exact", **limits)
    assert (model.proven, model.cost) == (True, best.cost)
    assert model.partitions["x0"].bounds.tolist() == best.partitions["x0"].bounds.tolist()


def test_who_gives_up_within_limits_has_the_best_of_some_bounds(no_budget, monkeypatch):
    monkeypatch.setattr(limited, "budget_of", lambda task: 1.0)
    x, y = waves(n_classes=4)
    model, best = optimize(x, y, min_events=20), optimize(x, y, min_events=20, search="exact")
    assert not model.proven
    assert best.level - model.level < 0.01 * best.level


# Gap and certificate.


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_proven_model_has_no_gap_and_a_certificate_that_holds(criterion):
    x, y = waves(400)
    model = optimize(x, y, criterion=criterion)
    assert (model.proven, model.gap, model.search) == (True, 0.0, "exact")
    assert model.certificate.lowest == pytest.approx(model.cost, rel=1e-10)
    found = verify(model, x, y)
    assert found, found.reason
    again = gridmodl.Model.from_json(model.to_json())
    assert again.certificate == model.certificate
    assert verify(again, x, y)


@pytest.mark.parametrize("load", [load_iris, load_wine, pytest.param(load_breast_cancer, marks=pytest.mark.slow)])
def test_every_column_of_real_data_is_proven_and_verified(load):
    data = load(as_frame=True)
    models = gridmodl.optimize_each(data.data, data.target)
    assert all(model.proven and model.gap == 0.0 for model in models.values())
    assert models.table()["gap"].eq(0.0).all()
    for name, model in models.items():
        assert verify(model, data.data, data.target), name


def test_without_a_floor_there_is_no_gap():
    x, y = waves()
    model = optimize(x, y, search="merge")
    assert (model.proven, model.gap, model.certificate) == (False, None, None)
    assert verify(model, x, y).reason == "the cost is right; the model says nothing of the optimum"
    assert "not proven" in model.summary()
    assert math.isnan(gridmodl.optimize_each(x[:, None], y, search="merge").table("pandas")["gap"].iloc[0])


def test_a_proof_that_would_take_too_long_leaves_a_gap_that_holds(no_budget):
    x, y = waves(n_classes=4)
    best = optimize(x, y, search="exact")
    model = optimize(x, y)
    assert (model.proven, model.search, model.stopped) == (False, "merge", None)
    assert model.gap > 0.0
    assert model.cost - best.cost <= model.gap
    assert model.certificate.lowest <= best.cost
    assert verify(model, x, y)
    assert f"at most {model.gap:.6g} above the optimum" in model.summary()
    assert gridmodl.Model.from_json(model.to_json()).gap == model.gap


@pytest.mark.parametrize("given", [{"max_parts": 3}, {"max_parts": 5}, {"min_rows": 300}, {"min_rows": 0.3}])
def test_limits_are_in_the_certificate(given):
    x, y = waves()
    model = optimize(x, y, **given)
    assert model.proven
    expected = {"max_parts": None, "min_rows": 1} | {k: 600 if v == 0.3 else v for k, v in given.items()}
    assert {name: getattr(model.certificate, name) for name in expected} == expected
    assert verify(model, x, y)
    assert model.cost > optimize(x, y).cost


@pytest.mark.parametrize("direction", ["increasing", "decreasing", "auto"])
def test_monotone_models_are_verified(direction):
    x, y = waves(500)
    x[::50] = np.nan
    model = optimize(x, y, monotone=direction)
    assert model.proven
    assert model.certificate.monotone == direction
    assert verify(model, x, y)
    free = optimize(x, y)
    forged = replace(free, certificate=replace(free.certificate, monotone=direction))
    assert "do not keep the limits" in verify(forged, x, y).reason


@pytest.mark.parametrize(("x", "y"), [([1.0, 2.0, 3.0], [0, 0, 0]), (["a", "b"], [0, 1])])
def test_what_cannot_be_monotone_is_not_verified_as_such(x, y):
    model = optimize(x, y)
    forged = replace(model, certificate=replace(model.certificate, monotone="auto"))
    assert "only intervals with an event can be monotone" in verify(forged, x, y).reason


def test_kinds_of_columns_that_can_be_verified():
    x, y = waves()
    rng = np.random.default_rng(1)
    text = np.array(list("abcdefgh"))[rng.integers(0, 8, len(x))]
    coded = np.where(rng.random(len(x)) < 0.1, -9.0, x)
    labelled = np.where(rng.random(len(x)) < 0.2, y, -1)
    weights = rng.integers(0, 4, len(x))
    frame = pd.DataFrame({"text": text, "x": x, "y": y})
    assert verify(optimize(text, y), text, y)
    assert verify(optimize(text, np.arange(len(x)) % 3), text, np.arange(len(x)) % 3)
    assert verify(optimize(coded, y, special={"x0": [-9.0]}), coded, y)
    assert verify(optimize(x, y, weights=weights), x, y, weights=weights)
    assert not verify(optimize(x, y, weights=weights), x, y)
    semi = optimize(x[:300], labelled[:300], unlabelled=-1)
    assert semi.proven
    assert verify(semi, x[:300], labelled[:300], unlabelled=-1)
    placed = optimize(x, labelled, unlabelled=-1, placement="median")
    assert verify(placed, x, labelled, unlabelled=-1, placement="median")
    for name, model in gridmodl.optimize_each(frame, "y").items():
        assert verify(model, frame, "y"), name
    grid = optimize(frame, "y", search=Search("vns", effort=0))
    assert grid.gap is None
    assert verify(grid, frame, "y")
    forged = replace(grid, certificate=gridmodl.Certificate("all", grid.cost))
    assert "as there are several variables" in verify(forged, frame, "y").reason
    joint = optimize(frame[["text", "x"]], search=Search("vns", effort=0))
    assert verify(joint, frame[["text", "x"]])


def stop(program):
    program.task.clock.stopped = "interrupted"


def test_a_monotone_search_that_is_stopped_in_its_layers_proves_nothing(monkeypatch):
    x, y = waves(300)
    monkeypatch.setattr(limited.Ordered, "run", lambda program, slope: None)  # no slopes: layers do it all
    monkeypatch.setattr(
        exact.DynamicProgram, "is_over", property(lambda program: program.task.clock.stopped is not None)
    )
    solve = exact.DynamicProgram._go_through_layers
    link = limited.Ordered._link

    def go(program, n_layers):
        calls = itertools.count()
        monkeypatch.setattr(
            limited.Ordered, "_link", lambda p, *a: (stop(p) if next(calls) == 1 else None, link(p, *a))[1]
        )
        return solve(program, n_layers)

    monkeypatch.setattr(exact.DynamicProgram, "_go_through_layers", go)
    model = optimize(x, y, monotone="increasing", max_parts=11)
    assert model.stopped == "interrupted"
    assert not model.proven


def test_what_cannot_be_proven_is_not_verified(monkeypatch):
    monkeypatch.setattr(limited, "MAX_ATOMS", 100)
    monkeypatch.setattr(limited, "winning_bounds", lambda *_: None)
    rng = np.random.default_rng(0)
    x = rng.random(1_000)
    y = rng.random(1_000) < x
    model = optimize(x, y, monotone="decreasing", max_parts=3)
    assert not model.proven
    assert model.gap > 0.0
    assert verify(model, x, y)
    low = replace(model.certificate, lowest=model.cost)
    forged = replace(model, proven=True, certificate=replace(low, method="all", slopes=(), totals=()))
    assert "proves nothing" in verify(forged, x, y).reason
    assert "the totals prove no cost" in verify(replace(model, proven=True, certificate=low), x, y).reason


LIMITED = [
    {"monotone": "peak"},
    {"monotone": "valley", "min_rows": 30},
    {"min_events": 40},
    {"min_events": ("event", 0.1), "max_parts": 4},
    {"min_difference": 0.3},
    {"fixed": [0.25, 0.5]},
    {"fixed": [0.5], "monotone": "peak", "min_events": 10},
    {"allowed": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]},
    {"allowed": [0.2, 0.4, 0.6], "fixed": [0.3], "min_difference": 0.05, "min_rows": 20},
    {"allowed": []},
]


@pytest.mark.parametrize("given", LIMITED, ids=str)
@pytest.mark.parametrize("has_missing", [False, True])
def test_models_within_all_limits_are_verified(given, has_missing):
    x, y = waves(500)
    x = (x - x.min()) / (x.max() - x.min())
    x[:: 50 if has_missing else 501] = np.nan
    model = optimize(x, y, **given)
    assert model.proven
    assert verify(model, x, y)
    again = gridmodl.Model.from_json(model.to_json())
    assert again.certificate == model.certificate
    assert verify(again, x, y)
    assert not verify(replace(model, certificate=replace(model.certificate, lowest=model.cost + 1.0)), x, y)


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        ({"min_events": (400, 400)}, "fewer rows of a class than the certificate is for"),
        ({"min_events": (1, 2, 3)}, "a number for each of the 2 classes"),
        ({"min_difference": 0.9}, "do not keep the limits of the certificate"),
        ({"min_difference": 2.0}, "must be from 0 to 1"),
        ({"fixed": (0.123,)}, "has no bound 0.123"),
        ({"allowed": (0.123,)}, "which the certificate does not allow"),
        ({"allowed": (np.datetime64("2020-01-01"),)}, "must have bounds of float64"),
    ],
)
def test_limits_that_a_partition_does_not_keep_are_not_verified(forged, reason):
    x, y = waves(500)
    model = optimize(x, y)
    found = verify(replace(model, certificate=replace(model.certificate, **forged)), x, y)
    assert not found
    assert reason in found.reason


def test_a_proof_that_no_search_can_give_is_not_verified():
    x, y = [str(i % 27) for i in range(81)], [i % 3 for i in range(27) for _ in range(3)]
    model = optimize(x, y, max_parts=1)
    assert model.proven
    assert verify(model, x, y)
    forged = replace(model, certificate=replace(model.certificate, max_parts=None))
    found = verify(forged, x, y)
    assert not found
    assert "the search cannot be done again: search='exact' was asked for" in found.reason


@pytest.mark.parametrize("method", ["slopes", "layers"])
def test_a_check_that_is_interrupted_says_nothing(method, monkeypatch):
    x, y = waves()
    model = optimize(x, y)
    model = replace(model, certificate=replace(model.certificate, method=method))
    for program in (exact.AllBounds, exact.Branches):
        monkeypatch.setattr(program, "fill", lambda program, *arguments: bool(stop(program)))
    with pytest.raises(KeyboardInterrupt):
        verify(model, x, y)


# Tampering.


def tampered():
    x, y = waves()
    model = optimize(x, y)
    c = model.certificate
    partition = model.partitions["x0"]
    moved = replace(partition, bounds=partition.bounds + 0.01)
    return {
        "a lower cost": (replace(model, cost=model.cost - 1.0), "the cost is"),
        "a higher null cost": (replace(model, null_cost=model.null_cost + 1.0), "the null cost is"),
        "moved bounds": (replace(model, partitions={"x0": moved}), "the rows in the parts of 'x0'"),
        "other rows": (
            replace(model, partitions={"x0": replace(partition, counts=partition.counts[:, ::-1])}),
            "the rows in the parts of 'x0'",
        ),
        "a floor without end": (replace(model, certificate=replace(c, lowest=math.inf)), "lowest: must be finite"),
        "a floor that is no number": (
            replace(model, certificate=replace(c, lowest=math.nan)),
            "lowest: must be finite",
        ),
        "no certificate": (replace(model, certificate=None), "has no certificate"),
        "a higher floor": (replace(model, certificate=replace(c, lowest=c.lowest + 1.0)), "the totals prove no cost"),
        "higher totals": (
            replace(model, certificate=replace(c, totals=tuple(t + 1.0 for t in c.totals))),
            "parts can cost",
        ),
        "higher totals beside layers": (
            replace(model, certificate=replace(c, method="layers", totals=tuple(t + 1.0 for t in c.totals))),
            "parts can cost",
        ),
        "too few runs": (
            replace(model, certificate=replace(c, slopes=c.slopes[:1], totals=c.totals[:1])),
            "the totals prove no cost",
        ),
        "a steep slope": (
            replace(model, certificate=replace(c, slopes=(*c.slopes, 1e15), totals=(*c.totals, 1e15 + 1e4))),
            "larger than all that parts can cost",
        ),
        "totals that are not of the slopes": (replace(model, certificate=replace(c, totals=())), "totals: must be"),
        "a guess": (replace(model, certificate=replace(c, method="guess")), "method: must be one of"),
        "an unknown order": (replace(model, certificate=replace(c, monotone="up")), "monotone: must be null or one of"),
        "no runs": (replace(model, certificate=replace(c, slopes=(), totals=())), "the totals prove no cost"),
        "fewer parts": (replace(model, certificate=replace(c, max_parts=2)), "at most 2"),
        "more rows": (replace(model, certificate=replace(c, min_rows=1_000)), "at least 1000"),
        "another method": (replace(model, certificate=replace(c, method="layers", lowest=c.lowest + 1.0)), "possible"),
        "another criterion": (replace(model, criterion="aic"), "cost is"),
        "other classes": (replace(model, classes=np.array([0, 5])), "classes"),
        "more rows than there are": (replace(model, n_rows=7), "the data has 2000 rows"),
        "not the optimum": (
            replace(optimize(x, y, search="merge", max_parts=2), proven=True, certificate=c),
            "proven: must be false",
        ),
    }


@pytest.mark.parametrize("name", list(tampered()))
def test_a_tampered_model_is_found_out(name):
    x, y = waves()
    model, reason = tampered()[name]
    found = verify(model, x, y)
    assert not found
    assert reason in found.reason


def test_a_model_whose_criterion_is_not_installed_is_not_called_wrong():
    x, y = waves()
    with pytest.raises(
        ValueError, match=r"^the model cannot be checked here: criterion 'nope', which found the model, is"
    ):
        verify(replace(optimize(x, y), criterion="nope"), x, y)


def test_a_worse_partition_is_not_proven_by_a_certificate_of_the_best():
    x, y = waves()
    best = optimize(x, y)
    worse = replace(best.edit("x0", bounds=best.partitions["x0"].bounds[1:]), certificate=best.certificate)
    assert verify(worse, x, y)  # it says that it is above the optimum by so much at most
    assert worse.gap == pytest.approx(worse.cost - best.cost)
    assert not verify(replace(worse, proven=True), x, y)


def test_other_data_is_found_out():
    x, y = waves()
    model = optimize(x, y)
    assert "rows in the parts" in verify(model, x, 1 - y).reason
    assert "rows" in verify(model, x[:-1], y[:-1]).reason
    with pytest.raises(ValueError, match="the model has a column 'x0'; the data has 'age'"):
        verify(model, {"age": x}, y)
    with pytest.raises(TypeError, match=r"verify takes a gridmodl\.Model, such as models\[name\], got dict"):
        verify({}, x, y)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("method", "guess", "certificate.method: must be one of slopes, layers, all"),
        ("lowest", {"float": "nan"}, "certificate.lowest: must be finite"),
        ("lowest", -1e9, "proven: must be false"),
        ("slopes", [1.0], "certificate.totals: must be 1 numbers"),
        ("totals", "x", "certificate.totals: must be a list"),
        ("max_parts", 0, "certificate.max_parts: must be an integer"),
        ("min_rows", None, "certificate.min_rows: must be an integer"),
        ("monotone", "up", "certificate.monotone: must be null or one of"),
        ("min_events", [-1, 0], "must be an integer from 0 to"),
        ("min_difference", "x", "certificate.min_difference: must be a float"),
        ("fixed", None, "certificate.fixed: must be a list of bounds"),
        ("allowed", [1.0], "certificate.allowed: must be"),
    ],
)
def test_a_file_with_a_bad_certificate_is_refused(field, value, message):
    x, y = waves(200)
    record = json.loads(optimize(x, y).to_json())
    record["certificate"][field] = value
    with pytest.raises(ModelFileError, match=message.replace(".", r"\.")):
        gridmodl.Model.from_json(json.dumps(record))


# The curve.


def lowest_by_parts(x, y, criterion, n_parts):
    values = np.unique(x)
    bounds = (values[:-1] + values[1:]) / 2
    cuts = itertools.combinations(bounds, n_parts - 1)
    return min(price(x, y, {"x0": list(cut)}, criterion=criterion) for cut in cuts)


@pytest.mark.parametrize("criterion", ["modl", "aic", "g2"])
def test_the_curve_is_that_of_enumeration(criterion):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 8, 40), rng.integers(0, 3, 40)
    curve = cost_by_parts(x, y, criterion=criterion, max_parts=5)
    assert curve.n_parts.tolist() == [1, 2, 3, 4, 5]
    expected = [lowest_by_parts(x, y, criterion, n) for n in curve.n_parts]
    assert curve.cost == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert curve.gap.tolist() == [0.0] * 5


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_curve_touches_the_optimum_and_its_partitions_cost_what_it_says(n_classes):
    x, y = waves(n_classes=n_classes)
    curve = cost_by_parts(x, y, max_parts=25)
    best = optimize(x, y)
    assert curve.cost.min() == pytest.approx(best.cost, rel=1e-12)
    assert curve.n_parts[np.argmin(curve.cost)] == best.partitions["x0"].n_parts
    for cost, partition in zip(curve.cost, curve.partitions, strict=True):
        assert price(x, y, {"x0": partition}) == pytest.approx(cost, rel=1e-10)
    table = curve.table("pandas")
    assert list(table.columns) == ["parts", "cost", "gap"]
    assert len(table) == 25


def test_the_curve_of_values():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 600)
    few, many = (np.array([f"v{i}" for i in rng.integers(0, n, 600)]) for n in (6, 40))
    shared = cost_by_parts(many, y, max_parts=6)
    assert shared.gap.tolist() == [0.0] * 6
    assert shared.cost.min() == pytest.approx(optimize(many, y, search="exact", max_parts=6).cost, rel=1e-10)
    three = np.arange(600) % 3
    assert cost_by_parts(few, three).gap.tolist() == [0.0] * 6
    merged = cost_by_parts(many, three, max_parts=4)
    assert merged.gap[0] == 0.0
    assert np.isnan(merged.gap[1:]).all()
    assert [partition.n_parts for partition in merged.partitions] == [1, 2, 3, 4]
    for cost, partition in zip(merged.cost, merged.partitions, strict=True):
        assert price(many, three, {"x0": partition}) == pytest.approx(cost, rel=1e-10)


def test_the_curve_keeps_special_codes_missing_values_and_limits():
    x, y = waves()
    x[:200], x[200:300] = -9.0, np.nan
    curve = cost_by_parts(x, y, special={"x0": [-9.0]}, min_rows=100, max_parts=7)
    assert curve.n_parts[0] == 2
    assert curve.n_parts[-1] <= 7
    assert all(partition.rows.min() >= 100 for partition in curve.partitions)
    assert cost_by_parts([1.0, 2.0], ["a", "b"]).n_parts.tolist() == [1, 2]
    assert cost_by_parts([1.0, 1.0], ["a", "b"]).n_parts.tolist() == [1]


@pytest.mark.parametrize("n_layers", [None, 0, 3])
def test_a_curve_that_is_stopped_has_gaps_that_hold(n_layers, monkeypatch):
    x, y = waves(4_000)
    whole = cost_by_parts(x, y)
    if n_layers is None:
        curve = cost_by_parts(x, y, time_limit=0.0)
        assert curve.stopped == "time limit"
        assert curve.n_parts.tolist() == [1]
    else:
        layer = exact.AllBounds.layer
        monkeypatch.setattr(exact.AllBounds, "layer", lambda p, k, n: stop(p) if k == n_layers else layer(p, k, n))
        curve = cost_by_parts(x, y)
        assert curve.stopped == "interrupted"
        assert np.array_equal(curve.n_parts, whole.n_parts)
        assert np.all(curve.gap[:n_layers] == 0.0)
        assert np.any(curve.gap[n_layers:] > 0.0)
    for n, cost, gap in zip(curve.n_parts, curve.cost, curve.gap, strict=True):
        lowest = whole.cost[whole.n_parts == n][0]
        assert cost >= lowest - 1e-9
        assert not cost - lowest > gap + 1e-9  # NaN where no floor is known


def test_the_curve_cuts_runs_of_one_class_where_it_has_to():
    assert cost_by_parts([1, 2, 3, 4, 5, 6], ["a"] * 3 + ["b"] * 3).n_parts.tolist() == [1, 2, 3, 4, 5, 6]
    assert cost_by_parts([1, 2, 3], ["a"] * 3).n_parts.tolist() == [1, 2, 3]
    x = [2, 4, 4, 4, 0, 2, 1, 5, 3, 1, 0, 3, 2, 3, 1, 4, 1, 0, 3, 0]
    y = [0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0]
    curve = cost_by_parts(x, y)
    assert curve.cost == pytest.approx([lowest_by_parts(x, y, "modl", n) for n in curve.n_parts], rel=1e-9)


def test_what_the_curve_cannot_be_of():
    x, y = waves(50)
    with pytest.raises(ValueError, match="one column and a class target; the target is numerical"):
        cost_by_parts(x, x)
    with pytest.raises(ValueError, match="one column and a class target; data has 2 columns"):
        cost_by_parts(np.column_stack([x, x]), y)
    with pytest.raises(ValueError, match="max_parts must be at least 1"):
        cost_by_parts(x, y, max_parts=0)
    with pytest.raises(TypeError, match="max_parts must be a whole number"):
        cost_by_parts(x, y, max_parts=None)
    with pytest.raises(TypeError, match="only numbers, dates and durations have a density"):
        cost_by_parts(["a", "b"])


def test_the_curve_of_special_codes_alone():
    curve = cost_by_parts([9.0] * 4, [0, 1, 0, 1], special={"x0": [9.0]})
    assert curve.n_parts.tolist() == [2]
    assert curve.cost[0] == pytest.approx(optimize([9.0] * 4, [0, 1, 0, 1], special={"x0": [9.0]}).cost)


NUMBERS = {
    "data": [81.875, 44.0, 35.5, 44.0, 71.875, 44.0], "target": [1, 0, 1, 1, 0, 1], "weights": [1, 2, 2, 0, 1, 2]
}  # fmt: skip
GROUPS = {
    "data": list("snnndnfffmdsf"), "target": list("bkbkbkkbbbbkk"), "weights": [3, 2, 2, 2, 0, 1, 2, 1, 2, 3, 1, 2, 2]
}  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "criterion", "limits"),
    [
        (NUMBERS, "x2-normal", {"min_events": 2, "min_difference": 0.05, "max_parts": 2, "search": "merge"}),
        (GROUPS, "mdlp", {"min_events": 1, "search": "exact"}),
    ],
    ids=["numbers", "groups"],
)
def test_forged_runs_beside_limits_on_shares_and_events_are_found(rows, criterion, limits):
    """They are of limits on parts alone, and were not looked at where the search was done again."""
    model = optimize(**rows, criterion=criterion, **limits)
    assert verify(model, **rows)
    assert model.certificate.slopes
    higher = replace(model.certificate, totals=tuple(total + 0.01 for total in model.certificate.totals))
    found = verify(replace(model, certificate=higher), **rows)
    assert not found
    assert "more for each part, parts can cost" in found.reason
