"""`Model.edit` by numbers of parts, against partitions that are given in full and priced from the rows."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import gridmodl
from gridmodl import Model

RNG = np.random.default_rng(5)
N = 240
X = RNG.uniform(0, 10, N).round(1)
HOLES = np.where(RNG.random(N) < 0.2, np.nan, X)
CODES = np.where(RNG.random(N) < 0.2, -9.0, np.where(RNG.random(N) < 0.1, -8.0, X))
TOWN = np.array(list("abcdef"))[(X // 2).astype(int) % 6]
DAYS = np.datetime64("2024-01-01") + (X * 10).astype("timedelta64[D]")
Y = np.where(RNG.random(N) < 0.1 + 0.08 * X, "yes", "no")
THREE = (X // 3.5).astype(int)
MANY = (X * 2).astype(int)
FEW = np.where(RNG.random(N) < 0.5, "?", Y)

# Arguments of `from_partitions`: data, target, partitions, other arguments; and the column to edit.
CASES = {
    "intervals": (X, Y, {"x0": [2.0, 4.0, 6.0, 8.0]}, {}, "x0"),
    "three classes": (X, THREE, {"x0": [2.0, 4.0, 6.0, 8.0]}, {}, "x0"),
    "empty parts": (X, Y, {"x0": [-5.0, 2.0, 4.0, 20.0]}, {}, "x0"),
    "missing apart": (HOLES, Y, {"x0": [np.nan, 2.0, 4.0, 6.0]}, {}, "x0"),
    "missing joined": (HOLES, Y, {"x0": [2.0, 4.0, 6.0]}, {}, "x0"),
    "codes": (CODES, Y, {"x0": [2.0, 4.0, 6.0]}, {"special": {"x0": [-9.0, -8.0]}}, "x0"),
    "dates": ({"day": DAYS}, Y, {"day": np.array(["2024-01-20", "2024-02-10", "2024-03-01"], "M8[D]")}, {}, "day"),
    "groups": ({"town": TOWN}, Y, {"town": [["a"], ["b", "c"], ["d"], ["e", "f"]]}, {}, "town"),
    "event": ({"town": TOWN}, Y, {"town": [["a"], ["b", "c"], ["d"], ["e", "f"]]}, {"event": "no"}, "town"),
    "weights": (X, Y, {"x0": [2.0, 4.0, 6.0]}, {"weights": RNG.integers(0, 4, N)}, "x0"),
    "bic": (X, Y, {"x0": [2.0, 4.0, 6.0]}, {"criterion": "bic"}, "x0"),
    "g2": (X, Y, {"x0": [2.0, 4.0, 6.0]}, {"criterion": "g2"}, "x0"),
    "unlabelled": (X, FEW, {"x0": [2.0, 4.0, 6.0]}, {"unlabelled": "?"}, "x0"),
    "grid": ({"x": X, "t": TOWN}, Y, {"x": [3.0, 5.0, 7.0], "t": [["a", "b"], ["c", "d"], ["e", "f"]]}, {}, "x"),
    "grid of groups": (
        {"x": X, "t": TOWN}, Y, {"x": [3.0, 5.0], "t": [["a"], ["b"], ["c", "d"], ["e", "f"]]}, {}, "t",
    ),
    "joint": ({"x": X, "t": TOWN}, None, {"x": [3.0, 5.0, 7.0], "t": [["a", "b"], ["c", "d"], ["e", "f"]]}, {}, "x"),
    "grouped": (
        {"x": X}, MANY, {"x": [3.0, 5.0, 7.0], "target": [list(range(7)), list(range(7, 14)), list(range(14, 21))]},
        {"target_kind": "grouped"}, "x",
    ),
    "groups of classes": (
        {"x": X}, MANY, {"x": [3.0, 5.0, 7.0], "target": [list(range(7)), list(range(7, 14)), list(range(14, 21))]},
        {"target_kind": "grouped"}, "target",
    ),
    "numerical": ({"x": X}, X + 0.5, {"x": [3.0, 5.0, 7.0], "target": [4.0, 6.0]}, {"target_kind": "numerical"}, "x"),
    "intervals of the target": (
        {"x": X}, X + 0.5, {"x": [3.0, 5.0, 7.0], "target": [4.0, 6.0, 8.0]}, {"target_kind": "numerical"}, "target",
    ),
}  # fmt: skip


def made(case):
    data, target, partitions, more, name = CASES[case]
    return Model.from_partitions(data, target, partitions, **more), name


def mergeable(partition):
    """All sets of two or more parts that may merge."""
    last = partition.n_parts - len(partition.special)
    if partition.kind == "numerical":
        return [list(range(lo, hi)) for lo in range(last) for hi in range(lo + 2, last + 1)]
    return [
        list(s) for n in range(2, partition.n_parts + 1) for s in itertools.combinations(range(partition.n_parts), n)
    ]


def by_hand(case, merge):
    """The model of the merged partition, given in full and priced from the rows."""
    data, target, partitions, more, name = CASES[case]
    partition = made(case)[0].partition(name)
    if partition.kind == "categorical":
        groups = [list(group) for group in partition.groups]
        joined = [value for i in merge for value in groups[i]]
        rest = [joined if i == merge[0] else group for i, group in enumerate(groups) if i == merge[0] or i not in merge]
        return Model.from_partitions(data, target, {**partitions, name: rest}, **more)
    first = int(partition.is_missing_apart)
    kept = [b for k, b in enumerate(partition.bounds) if not (k + first in merge and k + first + 1 in merge)]
    apart = [np.array(np.nan if partition.bounds.dtype.kind == "f" else "NaT").astype(partition.bounds.dtype)[()]]
    bounds = np.array([*(apart if first and not {0, 1} <= set(merge) else []), *kept], dtype=partition.bounds.dtype)
    return Model.from_partitions(data, target, {**partitions, name: bounds}, **more)


def assert_same_model(found, wanted, name):
    assert found.cost == pytest.approx(wanted.cost, rel=1e-12)
    assert found.null_cost == pytest.approx(wanted.null_cost, rel=1e-12)
    assert (found.search, found.proven, found.event_index) == ("given", False, wanted.event_index)
    one, other = found.partition(name), wanted.partition(name)
    assert one.counts.tolist() == other.counts.tolist()
    assert one.bounds.tolist() == other.bounds.tolist()
    assert list(map(set, one.groups)) == list(map(set, other.groups))
    assert (one.missing, one.special.tolist()) == (other.missing, other.special.tolist())
    for of_one, of_other in ((one.n_values, other.n_values), (one.unlabelled, other.unlabelled)):
        assert (of_one is None) == (of_other is None)
        assert of_one is None or of_one.tolist() == of_other.tolist()
    assert found.cells.names == wanted.cells.names
    assert found.cells.parts.tolist() == wanted.cells.parts.tolist()
    assert found.cells.counts.tolist() == wanted.cells.counts.tolist()
    assert found.left_out == wanted.left_out


@pytest.mark.parametrize("case", CASES)
def test_a_merge_is_the_merged_partition_priced_from_the_rows(case):
    model, name = made(case)
    for merge in mergeable(model.partition(name)):
        wanted = by_hand(case, merge)
        for source in (model, Model.from_json(model.to_json())):
            found = source.edit(name, merge=merge)
            assert_same_model(found, wanted, name)
            assert found.delta == pytest.approx(wanted.cost - model.cost, abs=1e-9)
            Model.from_json(found.to_json())  # all checks of a file pass


@pytest.mark.parametrize("case", CASES)
def test_a_split_undoes_a_merge(case):
    model, name = made(case)
    partition = model.partition(name)
    for merge in mergeable(partition):
        if partition.kind == "categorical":
            merged = model.edit(name, merge=merge)
            back = merged.edit(name, split={merge[0]: [list(partition.groups[i]) for i in merge]})
            assert back.cost == pytest.approx(model.cost, rel=1e-12)
        elif not (partition.is_missing_apart and 0 in merge):
            merged, first = model.edit(name, merge=merge), int(partition.is_missing_apart)
            bounds = partition.bounds[[i - first for i in merge[:-1]]]
            back = merged.edit(name, split={merge[0]: bounds if len(bounds) > 1 else bounds[0]})
            assert back.cost == pytest.approx(model.cost, rel=1e-12)
            assert back.partition(name).counts.tolist() == partition.counts.tolist()
            assert back.delta == pytest.approx(model.cost - merged.cost, abs=1e-9)


def test_several_merges_and_splits_at_once():
    model, _ = made("intervals")
    found = model.edit("x0", merge=[[0, 1], [3, 4]])
    assert found.partitions["x0"].bounds.tolist() == [4.0, 6.0]
    again = found.edit("x0", split={0: 2.0, 2: [8.0, 9.0]})
    assert again.partitions["x0"].bounds.tolist() == [2.0, 4.0, 6.0, 8.0, 9.0]
    assert again.cost == gridmodl.price(X, Y, {"x0": [2.0, 4.0, 6.0, 8.0, 9.0]})


def test_values_leave_a_group():
    model, _ = made("groups")
    found = model.edit("town", split={1: ["c"], 3: ["e"]})
    assert found.partitions["town"].groups == (("a",), ("c",), ("b",), ("d",), ("e",), ("f",))
    assert found.delta == pytest.approx(found.cost - model.cost)


def test_dates_split_at_any_spelling():
    model, _ = made("dates")
    for bound in ("2024-01-10", pd.Timestamp("2024-01-10"), np.datetime64("2024-01-10")):
        assert model.edit("day", split={0: bound}).partitions["day"].n_parts == 5


def test_a_proof_does_not_hold_after_an_edit():
    model = gridmodl.optimize(X, Y)
    assert model.proven
    found = model.edit("x0", merge=[0, 1])
    assert (found.proven, found.certificate, found.gap) == (False, None, None)
    assert found.delta > 0


def test_facts_that_a_file_does_not_have():
    """A criterion that prices the number of values needs the data of a numerical column."""

    class Values(gridmodl.Criterion):
        """Costs by values."""

        name = "by-values"
        problems = {"classes"}

        @staticmethod
        def part(p, variable, part):
            return 0.1 * part.values

        @staticmethod
        def cell(p, cell):
            return 1.0 * cell.rows

    model = Model.from_partitions(X, Y, {"x0": [2.0, 4.0]}, criterion=Values)
    assert model.edit("x0", merge=[0, 1]).cost == pytest.approx(model.cost)
    again = replace(model, _source=None)
    with pytest.raises(
        ValueError,
        match=r"'by-values', which found the model, is not installed here|needs facts .* Model.from_partitions",
    ):
        again.edit("x0", merge=[0, 1])


@pytest.mark.parametrize(
    ("case", "arguments", "error", "message"),
    [
        ("intervals", {"merge": [0, 2]}, ValueError, r"part 1 \(\(2.0, 4.0\]\) lies between them; .* \[0, 1, 2\]"),
        ("intervals", {"merge": [0, 5]}, ValueError, "column 'x0' has 5 parts, numbered from 0, got 5"),
        ("intervals", {"merge": [0, -1]}, ValueError, "column 'x0' has 5 parts, numbered from 0, got -1"),
        ("intervals", {"merge": [0, 0]}, ValueError, "merge takes two parts"),
        ("intervals", {"merge": []}, ValueError, "merge takes two parts"),
        ("intervals", {"merge": [[0, 1], [1, 2]]}, ValueError, "part 1 of column 'x0' in two lists"),
        ("intervals", {"merge": [0, "1"]}, TypeError, "named by their numbers, from 0, got '1'"),
        ("intervals", {"merge": [0, True]}, TypeError, "named by their numbers"),
        ("intervals", {"merge": "01"}, TypeError, "merge must be a list of numbers"),
        ("intervals", {"merge": 1}, TypeError, "merge must be a list of numbers"),
        ("intervals", {"merge": [0, 1], "bounds": [1]}, TypeError, "edit takes one of .* got bounds and merge"),
        ("missing apart", {"merge": [0, 2]}, ValueError, r"missing values, part 0, .* lowest interval, part 1 \("),
        ("codes", {"merge": [3, 4]}, ValueError, "part 4 is 'special -9', a code and not a quantity"),
        ("codes", {"merge": [4, 5]}, ValueError, "part 4 is 'special -9', a code"),
        ("intervals", {"split": {1: 5.0}}, ValueError, r"a bound inside part 1 of column 'x0', \(2.0, 4.0\].* got 5.0"),
        ("intervals", {"split": {1: 4.0}}, ValueError, "a bound inside part 1"),
        ("intervals", {"split": {1: 2.0}}, ValueError, "a bound inside part 1"),
        ("intervals", {"split": {1: []}}, ValueError, "a bound inside part 1"),
        ("intervals", {"split": {9: 1.0}}, ValueError, "has 5 parts"),
        ("intervals", {"split": 1.0}, TypeError, "split must be a dict of bounds by number of the part, got 1.0"),
        ("intervals", {"split": {}}, TypeError, "split must be a dict"),
        ("intervals", {"split": {1: "high"}}, TypeError, "bounds of 'x0' must be a list of numbers"),
        ("codes", {"split": {4: 1.0}}, ValueError, "part 4 of column 'x0' is 'special -9', which has no bounds"),
        ("missing apart", {"split": {0: 1.0}}, ValueError, "is 'missing', which has no bounds"),
        ("groups", {"split": {1: ["a"]}}, ValueError, r"'a' is none of \{b, c\}"),
        ("groups", {"split": {1: ["b", "c"]}}, ValueError, "all its values in one list split nothing"),
        ("groups", {"split": {1: [["b"], ["b", "c"]]}}, ValueError, "each value once"),
        ("groups", {"split": {1: [["b"], []]}}, ValueError, "each value once"),
        ("groups", {"split": {1: "b"}}, TypeError, "must be a list of values of part 1"),
        ("groups", {"split": {1: 3.0}}, TypeError, "must be a list of values of part 1"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(case, arguments, error, message):
    model, name = made(case)
    with pytest.raises(error, match=message):
        model.edit(name, **arguments)


def test_a_split_needs_data():
    model, name = made("intervals")
    with pytest.raises(ValueError, match=r"came without its data.* only merge= needs none"):
        Model.from_json(model.to_json()).edit(name, split={0: 1.0})
    with pytest.raises(ValueError, match="name must be one of the columns 'x0', got 'x1'"):
        model.edit("x1", merge=[0, 1])
