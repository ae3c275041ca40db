"""Models of several inputs whose target is partitioned too: predictions, tables, files, queries, edits, pages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from report.databases import DIALECTS, Stored, run

import gridmodl
from gridmodl import Model, optimize, price, verify


def numbers(n=500, seed=0):
    rng = np.random.default_rng(seed)
    a, town = rng.normal(size=n), rng.choice(np.array([*"uvwx", None], dtype=object), n)
    y = np.where(a > 0, 4.0, 0.0) + np.where((town == "u") | (town == "v"), 6.0, 0.0) + 0.5 * rng.normal(size=n)
    return pd.DataFrame({"a": a, "town": town, "noise": rng.normal(size=n), "y": y})


def classes(n=600, seed=0):
    rng = np.random.default_rng(seed)
    a, town = rng.normal(size=n), rng.choice(list("uvwx"), n)
    group = 2 * (a > 0) + np.isin(town, ["u", "v"])
    return pd.DataFrame({"a": a, "town": town, "noise": rng.normal(size=n), "code": 5 * group + rng.integers(0, 5, n)})


@pytest.fixture(scope="module")
def numerical():
    frame = numbers()
    return frame, optimize(frame, "y", search=gridmodl.Search(effort=2, keep_optima=5))


@pytest.fixture(scope="module")
def grouped():
    frame = classes()
    return frame, optimize(frame, "code", target_kind="grouped", search=gridmodl.Search(effort=2, keep_optima=5))


@pytest.fixture(params=["numerical", "grouped"])
def either(request):
    return request.getfixturevalue(request.param)


def test_found(numerical, grouped):
    assert numerical[1].informative == grouped[1].informative == ["a", "town"]
    assert set(numerical[1].left_out) == set(grouped[1].left_out) == {"noise"}
    assert "no partition of it alone pays" in numerical[1].left_out["noise"]
    assert sorted(map(sorted, grouped[1].target.groups)) == [[5 * g + i for i in range(5)] for g in range(4)]


def test_mean_and_quantiles_of_the_rows_in_the_same_cell(numerical):
    frame, model = numerical
    parts = pd.DataFrame(model.transform(frame.drop(columns="y")), columns=["a", "town", "noise"])
    predicted = model.predict(frame, coverage=0.8)
    by_cell = frame["y"].groupby([parts["a"], parts["town"]])
    assert predicted.mean == pytest.approx(by_cell.transform("mean").to_numpy())
    for name, share in (("median", 0.5), ("lower", 0.1), ("upper", 0.9)):
        wanted = by_cell.transform(lambda y, share=share: y.quantile(share)).to_numpy()
        assert getattr(predicted, name) == pytest.approx(wanted)
    assert 1 - np.var(frame["y"] - predicted.mean) / np.var(frame["y"]) > 0.9
    only = model.predict(frame[["town", "a"]])  # the informative columns, in any order
    assert np.array_equal(only.mean, predicted.mean)


def test_a_value_of_no_part_tells_nothing(numerical):
    """The mean is that of the rows with the same parts in the other column; quantiles nearly so."""
    frame, model = numerical
    parts = model.transform(frame.drop(columns="y"))[:, 0]
    high = frame["y"][parts == parts[frame["a"].argmax()]]
    row = pd.DataFrame({"a": [frame["a"].max(), np.nan], "town": ["nowhere", "nowhere"]}, dtype=object)
    row["a"] = row["a"].astype(float)
    predicted = model.predict(row)
    assert predicted.mean == pytest.approx([high.mean(), frame["y"].mean()])
    assert predicted.lower[0] == pytest.approx(high.quantile(0.05), abs=0.2)
    assert predicted.upper[0] == pytest.approx(high.quantile(0.95), abs=0.2)
    assert predicted.median[1] == pytest.approx(frame["y"].median())
    with pytest.raises(ValueError, match="nowhere"):
        model.predict(row, unknown="error")


def test_an_empty_cell_has_all_rows():
    frame = numbers()
    parts = {"a": [-10.0, 0.0], "town": [["u", "v"], ["w", "x", None]], "y": [2.0]}
    model = Model.from_partitions(frame, "y", parts)
    assert model.predict({"a": [-20.0], "town": ["u"]}).mean == pytest.approx([frame["y"].mean()])
    assert model.cost == pytest.approx(price(frame, "y", parts))


def test_probabilities_of_classes(grouped):
    frame, model = grouped
    shares = model.predict_proba(frame)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(frame)))
    parts = model.transform(frame.drop(columns="code"))
    group = model.part_of("code", frame["code"])
    cell = parts[:, 0] * 10 + parts[:, 1]
    for i in (0, 7, 99):
        mine = group[cell == cell[i]]
        for j, name in enumerate(model.classes):
            of = group[frame["code"] == name][0]
            wanted = np.mean(mine == of) * np.sum(frame["code"] == name) / np.sum(group == of)
            assert shares[i, j] == pytest.approx(wanted)
    assert np.array_equal(model.predict(frame), model.classes[shares.argmax(axis=1)])
    neutral = model.predict_proba({"a": [frame["a"].max()], "town": ["nowhere"]})
    high = group[parts[:, 0] == parts[frame["a"].argmax(), 0]]
    of = group[frame["code"] == model.classes[0]][0]
    wanted = np.mean(high == of) * np.sum(frame["code"] == model.classes[0]) / np.sum(group == of)
    assert neutral[0, 0] == pytest.approx(wanted)


def test_rules_and_tables(numerical, grouped):
    frame, model = numerical
    rules = model.rules()
    assert sum(rule.rows for rule in rules) == len(frame)
    assert set(rules[0].conditions) == {"a", "town"}
    assert sum(rules[0].shares.values()) == pytest.approx(1.0)
    table = model.cell_table()
    assert table["mean"].tolist() == [rule.statistics["mean"] for rule in rules]
    assert np.average(table["mean"], weights=table["rows"]) == pytest.approx(frame["y"].mean())
    assert f"  {rules[0].statistics['mean']:.2f}  " in model.summary()
    assert "90% from" in str(rules[0])
    parts = model.table("a")
    of_rows = model.transform(frame.drop(columns="y"))[:, 0]
    assert parts["mean"].tolist() == pytest.approx(frame["y"].groupby(of_rows).mean().tolist())
    assert parts["median"].tolist() == pytest.approx(frame["y"].groupby(of_rows).median().tolist(), abs=0.5)
    _, of_groups = grouped
    first = of_groups.rules()[0]
    assert set(first.shares) == set(of_groups.target.labels)
    assert not first.statistics
    assert of_groups.cell_table().filter(like="share_").sum(axis=1).tolist() == pytest.approx([1.0] * 4)


def test_summary_notebook_and_page(either):
    _, model = either
    text = model.summary()
    assert "two or more input columns" in text
    assert f"{len(model.rules())} cells of the inputs:" in text
    assert "columns left out: 1" in text
    assert "largest classes" not in text
    assert "and 1 more part" not in text
    assert "town" in model._repr_html_()
    assert "Columns left out" in model.to_html()


def test_file(either):
    frame, model = either
    again = Model.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    assert again.problem == model.problem
    assert [one.cost for one in again.optima] == [one.cost for one in model.optima]
    if model.classes.size:
        assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    else:
        assert np.array_equal(again.predict(frame).upper, model.predict(frame).upper)
    assert len(model.optima) > 1
    assert all(one.target is not None for one in again.optima)


def test_a_wrong_file(numerical):
    text = numerical[1].to_json()
    with pytest.raises(ValueError, match="spread"):
        Model.from_json(text.replace('"means": [', '"means": [0.0, ', 1).replace('"means":[', '"means":[0.0,', 1))


def test_verify(either):
    frame, model = either
    target = model.target.name
    assert verify(model, frame, target)
    assert not verify(model, frame.iloc[1:], target)


def test_edit(either):
    frame, model = either
    target = model.target.name
    finer = model.edit("a", split={0: -1.0})
    assert finer.delta > 0
    back = finer.edit("a", merge=[0, 1])
    assert back.cost == pytest.approx(model.cost)
    if model.target.kind == "numerical":
        assert back.predict(frame).mean == pytest.approx(model.predict(frame).mean)
    fewer = model.edit("a", merge=list(range(model.partitions["a"].n_parts)))
    assert fewer.informative == ["town"]
    assert fewer.left_out["a"] == "it has one part as given"
    assert fewer.cost == pytest.approx(price(frame, target, fewer.all_partitions, target_kind=_kind(model)))
    of_target = model.edit(target, merge=[0, 1])
    assert of_target.cost == pytest.approx(price(frame, target, of_target.all_partitions, target_kind=_kind(model)))
    assert of_target.target.n_parts == model.target.n_parts - 1


def _kind(model):
    return "grouped" if len(model.classes) else "numerical"


def test_hierarchy_and_coarsening(either):
    frame, model = either
    tree = model.hierarchy()
    assert len(tree) == sum(part.n_parts - 1 for part in model.all_partitions.values())
    assert tree.information[-1] == 0.0
    coarser = model.coarsen(max_parts=2)
    assert max(part.n_parts for part in coarser.all_partitions.values()) <= 2
    wanted = price(frame, model.target.name, coarser.all_partitions, target_kind=_kind(model))
    assert coarser.cost == pytest.approx(wanted)
    assert coarser.delta == pytest.approx(coarser.cost - model.cost)
    predicted = coarser.predict(frame)
    assert len(predicted) in (4, len(frame))
    whole = model.coarsen(max_cells=1)
    assert whole.cost == pytest.approx(model.null_cost)
    assert whole.informative == []
    assert set(whole.left_out) == {"a", "town", "noise"}


def test_explain(either):
    _, model = either
    target = model.target.name
    for name in ("a", "town", target):
        why = model.explain(name)
        assert why.fewer.delta > 0
        assert why.more is None or why.more.delta > -1e-6
        assert why.fewer.n_parts == model.partition(name).n_parts - 1
    alone = Model.from_json(model.to_json()).explain("a")
    assert alone.fewer.delta >= model.explain("a").fewer.delta - 1e-6
    noise = model.explain("noise")
    assert noise.more.delta > 0


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sql(either, dialect):
    frame, model = either
    rows = pd.concat([frame, frame.head(2).assign(town="nowhere"), frame.head(2).assign(a=np.nan)], ignore_index=True)
    columns = {
        name: Stored("text" if name == "town" else "double", [None if pd.isna(v) else v for v in rows[name].tolist()])
        for name in ("a", "town", "noise")
    }
    found = run(dialect, model.to_sql(dialect, keep=["row number"], output=["predict"]), columns)
    if model.target.kind == "numerical":
        assert np.array_equal(found, np.column_stack(model.predict(rows)))
    else:
        assert [row[0] for row in found] == model.predict(rows).tolist()
        found = run(dialect, model.to_sql(dialect, keep=["row number"], output="proba"), columns)
        assert np.array_equal(found, model.predict_proba(rows))


def test_plots(either):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")  # of other tests
    from gridmodl.plot import CellsDisplay, GridDisplay, TargetDisplay

    _, model = either
    display = TargetDisplay.from_model(model).plot()
    assert display.partition.name in model.informative
    assert TargetDisplay.from_model(model, "a").partition is model.partitions["a"]
    with pytest.raises(ValueError, match="one of the columns"):
        TargetDisplay.from_model(model, "b")
    GridDisplay.from_model(model).plot()
    GridDisplay.from_model(model, "town", model.target.name).plot()
    CellsDisplay.from_model(model).plot()
    plt.close("all")


def test_no_informative_column():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    y = rng.normal(size=60)
    model = optimize(frame, y)
    assert model.informative == []
    assert model.cost == model.null_cost
    assert model.predict(frame.head(3)).mean == pytest.approx([y.mean()] * 3)
    assert Model.from_json(model.to_json()).predict(frame.head(3)).mean == pytest.approx([y.mean()] * 3)
    assert model.rules()[0].rows == 60
    assert model.summary().startswith("none of 2 columns tells anything about the target\n")
    assert model.to_sql("duckdb", "rows", output="predict")
    codes = optimize(frame, rng.integers(0, 40, 60), target_kind="grouped")
    assert codes.predict_proba(frame.head(1)).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("y", [[1.0] * 6, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]])
def test_tiny_data(y):
    for n in (1, 2, 6):
        frame = {"a": [1.0] * n, "b": ["x", "y", "x", "y", "x", None][:n]}
        model = optimize(frame, y[:n], target_kind="numerical")
        assert model.informative == []
        assert model.predict(frame).mean == pytest.approx([np.mean(y[:n])] * n)


def test_weights_and_repeated_rows():
    frame = numbers(150)
    weights = np.random.default_rng(1).integers(1, 4, len(frame))
    weighted = optimize(frame, "y", weights=weights, search="merge")
    repeated = optimize(frame.loc[frame.index.repeat(weights)].reset_index(drop=True), "y", search="merge")
    assert weighted.cost == pytest.approx(repeated.cost)
    assert weighted.predict(frame).mean == pytest.approx(repeated.predict(frame).mean)


def test_optimize_each_still_takes_each_column_on_its_own(numerical):
    models = gridmodl.optimize_each(numerical[0], "y")
    assert {one.problem for one in models.values()} == {"numerical"}


def test_what_cannot_be_asked():
    frame = numbers(100)
    for options, error, message in (
        ({"monotone": {"a": "increasing"}}, NotImplementedError, "monotone= is for one column"),
        ({"search": "exact"}, ValueError, "search='exact' cannot find a grid of several columns and of the parts"),
        ({"search": "algorithm3"}, ValueError, "use 'auto', 'vns', 'diverse' or 'merge'"),
        ({"criterion": "bic"}, ValueError, "cannot price 'numerical_grid'"),
    ):
        with pytest.raises(error, match=message):
            optimize(frame, "y", **options)
