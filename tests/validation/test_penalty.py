"""`choose_penalty`: the path is that of single searches, losses are those of slow sums, the choice is the lowest."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

import gridmodl
from gridmodl import Criterion, choose_penalty, get_criterion, optimize, price
from gridmodl.data.columns import encode_column
from gridmodl.data.folds import deal_rows
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.testing import check_criterion
from gridmodl.validation.paths import LossSteps, code_length, lower_hull, sum_of
from gridmodl.validation.penalty import _best_value

BETAS = (0.0, 0.3, 1.0)


def waves(n=400, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(2)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-3.0 * np.sin(2.0 * x)))).astype(int)
    return x, y if n_classes == 2 else y + 2 * (x > 0.5)


def with_gaps(n=400):
    x, y = waves(n)
    x[:40], x[40:55] = np.nan, -9.0
    return x, y


def towns(n=400, n_towns=8):
    rng = np.random.default_rng(4)
    town = rng.integers(0, n_towns, n)
    y = (rng.random(n) < (0.1 + 0.8 * (town % 3) / 2.0)).astype(int)
    return np.array([f"t{i}" for i in town]), y


CASES = {
    "two classes": (*waves(), {}),
    "four classes": (*waves(n_classes=4), {}),
    "missing and special": (*with_gaps(), {"special": {"x0": [-9.0]}}),
    "missing apart": (*with_gaps(), {"missing": "apart"}),
    "few missing, many rows a part": (*with_gaps(), {"min_rows": 50}),
    "weights": (*waves(), {"weights": np.arange(400) % 4}),
    "towns": (*towns(), {}),
    "many towns": (*towns(n_towns=40), {"max_parts": 6}),
    "towns of four classes": (towns(n_towns=6)[0], waves(n_classes=4)[1], {}),
    "ordinal": (*towns(n_towns=9), {"order": {"x0": [f"t{i}" for i in range(9)]}}),
    "special town": (*towns(), {"special": {"x0": ["t3"]}}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_path_is_that_of_single_searches(case):
    x, y, more = CASES[case]
    choice = choose_penalty(x, y, options={"beta": BETAS}, n_folds=2, **more)
    assert [path.options for path in choice.paths] == [{"beta": beta} for beta in BETAS]
    most = more.get("max_parts", 20)
    for beta, path in zip(BETAS, choice.paths, strict=True):
        assert path.upto[0] == np.inf
        assert path.above[-1] == 0.0
        assert np.all(np.diff(path.upto) < 0.0)
        assert np.array_equal(path.upto[1:], path.above[:-1])
        inner = np.sqrt(path.above[1:-1] * path.upto[1:-1])
        ends = [2.0 * path.above[0], 0.5 * path.upto[-1]] if len(path.upto) > 1 else [0.5]
        for alpha in [*inner, *ends, *np.geomspace(0.01, 100.0, 12)]:
            criterion = get_criterion("entropy", alpha=alpha, beta=beta)
            best = optimize(x, y, criterion=criterion, search="exact", **{"max_parts": most, **more})
            at = int(np.flatnonzero((path.above <= alpha) & (alpha <= path.upto))[0])
            special = {"special": more["special"]} if "special" in more else {}
            rows = {what: more[what] for what in ("weights", "order") if what in more}
            cost = price(x, y, {"x0": path.partitions[at]}, criterion=criterion, **rows, **special)
            assert cost == pytest.approx(best.cost, rel=1e-9, abs=1e-9)
        assert np.array_equal(path.gap, np.zeros(len(path.upto)))


def test_the_path_is_that_of_enumeration():
    rng = np.random.default_rng(9)
    x, y = rng.integers(0, 7, 30), rng.integers(0, 3, 30)
    for beta, path in zip(BETAS, choose_penalty(x, y, options={"beta": BETAS}).paths, strict=True):
        every = [cut for k in range(7) for cut in itertools.combinations(np.arange(0.5, 6.0), k)]
        for alpha in np.geomspace(0.05, 5.0, 15):
            criterion = get_criterion("entropy", alpha=alpha, beta=beta)
            lowest = min(price(x, y, {"x0": list(cut)}, criterion=criterion) for cut in every)
            at = int(np.flatnonzero((path.above <= alpha) & (alpha <= path.upto))[0])
            assert price(x, y, {"x0": path.partitions[at]}, criterion=criterion) == pytest.approx(lowest, rel=1e-9)


def folds_of(x, y, sizes, seed, weights=None):
    """How often each row is in each group, and the rows that have a weight."""
    table = read_table(x, y, weights, None, NOT_GIVEN)
    column = encode_column(np.asarray(x) if table.kept is None else np.asarray(x)[table.kept], "x0")
    return deal_rows([column], table.target, sizes, seed)


def slow_loss(x, y, alpha, beta, seed=0, weights=None, in_turn=False):
    """Nats of rows left out, row by row."""
    sizes = (1, 1, 2, 4, 8) if in_turn else (1,) * 5
    dealt, classes = folds_of(x, y, sizes, seed, weights), sorted(set(y))
    if weights is not None:
        x, y = np.asarray(x)[weights > 0], np.asarray(y)[weights > 0]
    total = 0.0
    for f in range(len(sizes)):
        new, fit = dealt[:, f], dealt[:, :f].sum(axis=1) if in_turn else dealt.sum(axis=1) - dealt[:, f]
        if not fit.any():
            counts, part = np.zeros((1, len(classes))), np.zeros(len(x), dtype=int)
        else:
            # Rows of all classes, so that J is that of all rows
            criterion = get_criterion("entropy", alpha=alpha, beta=beta)
            model = optimize(x, y, weights=fit, criterion=criterion, search="exact", max_parts=20)
            partition = model.partitions["x0"]
            counts = np.vstack([partition.counts, partition.counts.sum(axis=0)]).astype(float)
            part = model.transform(x, unknown="neutral", missing="neutral")
        for r in np.flatnonzero(new):
            for _ in range(new[r]):
                n, j = counts[part[r]], classes.index(y[r])
                total -= math.log((n[j] + 1.0) / (n.sum() + len(classes)))
                if in_turn:
                    n[j] += 1.0
    return total / (len(x) if weights is None else weights.sum())


@pytest.mark.parametrize("method", ["held-out", "prequential"])
@pytest.mark.parametrize("case", ["numbers", "weights", "towns"])
def test_losses_are_those_of_slow_sums(case, method):
    x, y = towns(120, 30) if case == "towns" else waves(120)
    weights = np.arange(120) % 3 if case == "weights" else None
    choice = choose_penalty(x, y, options={"beta": 0.3}, method=method, weights=weights, random_state=5)
    (path,) = choice.paths
    above = np.append(path.loss_upto[1:], 0.0)
    for k in range(0, len(above) - 1, 5):  # not in the last range: many partitions into 20 parts cost the same
        alpha = math.sqrt(above[k] * path.loss_upto[k]) if k else 2.0 * above[k]
        slow = slow_loss(x, y, alpha, 0.3, 5, weights, method == "prequential")
        assert path.loss[k] == pytest.approx(slow, rel=1e-9)
    assert choice.loss == path.loss.min()
    assert choice.null_loss == path.loss[0]
    at = int(np.flatnonzero((above < choice.options["alpha"]) & (choice.options["alpha"] < path.loss_upto))[0])
    assert path.loss[at] == choice.loss


def test_the_model_is_the_best_of_all_rows_with_the_options_chosen():
    x, y = waves(600)
    choice = choose_penalty(pd.DataFrame({"x": x, "y": y}), "y")
    model = optimize(x, y, criterion=choice.criterion, max_parts=20)
    assert choice.model.cost == model.cost
    assert choice.model.options == choice.options == choice.criterion.chosen
    assert choice.options["beta"] in (0.0, 0.5, 1.0)
    assert choice.loss == min(path.loss.min() for path in choice.paths)
    assert gridmodl.Model.from_json(choice.model.to_json()).options == choice.options
    assert json.loads(choice.model.to_json())["options"]["alpha"] == choice.options["alpha"]
    table = choice.table()
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["beta", "above", "upto", "parts", "gap", "loss"]
    assert table["loss"].min() == choice.loss
    own = table[(table["beta"] == choice.options["beta"]) & (table["above"] < choice.options["alpha"])].iloc[0]
    assert own["parts"] == choice.model.partitions["x"].n_parts


def test_faces():
    x, y = waves()
    choice = choose_penalty(x, y, options={"beta": [0.0]})
    assert choice.summary().startswith("entropy: alpha ")
    assert "held-out loss" in choice.summary()
    assert choice.model.summary() in choice.summary()
    assert repr(choice).startswith("PenaltyChoice(entropy, alpha=")
    html = choice._repr_html_()
    assert "losses of all optima" in html
    assert "held-out loss" in html


@pytest.mark.parametrize("method", ["held-out", "prequential"])
def test_same_seed_same_choice_and_rows_in_any_order(method):
    x, y = waves()
    choices = [choose_penalty(x, y, method=method, random_state=seed) for seed in (1, 1, 2)]
    rows = np.random.default_rng(0).permutation(len(x))
    choices.append(choose_penalty(x[rows], y[rows], method=method, random_state=1))
    weights = np.random.default_rng(1).integers(0, 4, len(x))
    some = np.repeat(np.arange(len(x)), weights)
    weighted = choose_penalty(x, y, weights=weights, method=method)
    repeated = choose_penalty(x[some], y[some], method=method)
    for one, other in [choices[:2], (choices[0], choices[3]), (weighted, repeated)]:
        assert one.options == other.options
        assert one.loss == pytest.approx(other.loss, rel=1e-12)
        for mine, theirs in zip(one.paths, other.paths, strict=True):
            assert np.allclose(mine.loss_upto, theirs.loss_upto, rtol=1e-9)
    assert choices[0].loss != choices[2].loss
    assert choose_penalty(x, y, method=method, random_state=None).model.cost > 0.0


def test_noise_has_one_part_and_a_step_has_two():
    rng = np.random.default_rng(3)
    x = rng.normal(size=2000)
    noise = choose_penalty(x, rng.integers(0, 2, 2000))
    assert noise.model.partitions["x0"].n_parts == 1
    assert noise.loss == noise.null_loss
    step = choose_penalty(x, (x > 0.3).astype(int) ^ (rng.random(2000) < 0.05), method="prequential")
    assert step.model.partitions["x0"].n_parts == 2
    assert step.loss < 0.5 * step.null_loss


@pytest.mark.parametrize("method", ["held-out", "prequential"])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0], [0]),
        ([1.0, 2.0], [0, 1]),
        ([1.0, 2.0, 3.0], ["a", "a", "a"]),
        ([1.0] * 20, [0, 1] * 10),
        ([np.nan] * 20, [0, 1] * 10),
        (["a", "b"] * 10, [0, 1] * 10),
        ([-np.inf, 0.0, np.inf] * 7, [0, 1, 1] * 7),
        (np.arange(21), [0] * 20 + [1]),
        (np.array(["2020-01-01", "2021-06-01"] * 10, dtype="datetime64[D]"), [0, 1] * 10),
    ],
)
def test_few_rows_and_plain_columns(x, y, method):
    choice = choose_penalty(x, y, method=method)
    assert choice.loss <= choice.null_loss
    assert math.isfinite(choice.loss)
    assert choice.model.cost == optimize(x, y, criterion=choice.criterion, max_parts=20).cost


def test_time_limit(monkeypatch):
    x, y = waves(3000)
    choice = choose_penalty(x, y, time_limit=0.0)
    assert choice.stopped == "time limit"
    assert choice.paths == ()
    assert math.isnan(choice.loss)
    assert choice.options == {"alpha": 0.5, "beta": 0.0}
    assert "no trial was finished (time limit)" in choice.summary()
    assert "no trial was finished" in choice._repr_html_()
    with pytest.raises(ValueError, match="no trial was finished"):
        gridmodl.plot.PenaltyDisplay.from_choice(choice)
    seen = []
    choose_penalty(x, y, progress=seen.append)
    assert {"trials"} <= {record.step for record in seen}


def test_trials_that_are_stopped_leave_those_that_are_finished(monkeypatch):
    from gridmodl.validation import penalty

    tried = penalty.Trials._tried

    def stopping(self, criterion, table, splits, options, clock):
        if criterion.chosen["beta"] == 1.0:
            clock.stopped = "interrupted"
        return tried(self, criterion, table, splits, options, clock)

    x, y = waves()
    whole = choose_penalty(x, y, options={"beta": [0.0, 0.5]})
    monkeypatch.setattr(penalty.Trials, "_tried", stopping)
    choice = choose_penalty(x, y)
    assert choice.stopped == "interrupted"
    assert [path.options["beta"] for path in choice.paths] == [0.0, 0.5]
    assert choice.options == whole.options
    assert choice.model.cost == whole.model.cost


def test_an_interruption_between_trials_keeps_the_finished_ones():
    def interrupt(progress):
        if progress.step == "trials":
            raise KeyboardInterrupt

    x, y = list(range(24)), [0] * 12 + [1] * 12
    choice = choose_penalty(x, y, options={"beta": [0.0, 1.0]}, progress=interrupt)
    assert choice.stopped == "interrupted"
    assert [path.options for path in choice.paths] == [{"beta": 0.0}]
    assert choice.model.partitions["x0"].n_parts == 2


def test_options_that_are_kept_and_tried():
    x, y = waves()
    kept = choose_penalty(x, y, criterion=get_criterion("entropy", beta=0.7))
    assert [path.options for path in kept.paths] == [{"beta": 0.7}]
    assert kept.options["beta"] == 0.7
    one = choose_penalty(x, y, options={"beta": 0.7})
    assert one.options == kept.options


def test_arguments_that_are_refused():
    x, y = waves(50)
    for more, error, says in [
        ({"criterion": "modl"}, ValueError, "'modl' has no penalty option to choose; criteria that have one: entropy"),
        ({"options": {"alpha": 0.5}}, ValueError, "options has 'alpha', which choose_penalty chooses"),
        ({"options": {"bta": 0.5}}, ValueError, "has no option 'bta'.*did you mean 'beta'"),
        ({"options": {"beta": []}}, ValueError, "no value to try for 'beta'"),
        ({"options": {"beta": -1.0}}, ValueError, "beta of criterion 'entropy' must be finite"),
        ({"options": [0.5]}, TypeError, "options must be a dict"),
        ({"method": "heldout"}, ValueError, "method"),
        ({"n_folds": 1}, ValueError, "n_folds must be at least 2, got 1"),
        ({"n_folds": 2.5}, TypeError, "n_folds must be a whole number"),
        ({"max_parts": None}, TypeError, "max_parts must be a whole number"),
        ({"random_state": -1}, ValueError, "random_state must not be negative"),
    ]:
        with pytest.raises(error, match=says):
            choose_penalty(x, y, **more)
    with pytest.raises(ValueError, match="one column and a class target; the target is numerical"):
        choose_penalty(x, x)
    with pytest.raises(ValueError, match="one column and a class target; data has 2 columns"):
        choose_penalty(np.column_stack([x, x]), y)
    with pytest.raises(ValueError, match="no target was given"):
        choose_penalty(x, None)


def test_many_values_of_many_classes_have_gaps_that_are_not_known():
    x, _ = towns(n_towns=30)
    y = waves(n_classes=4)[1]
    choice = choose_penalty(x, y, n_folds=2, options={"beta": 0.0})
    assert np.isnan(choice.paths[0].gap[1:]).all()
    assert math.isfinite(choice.loss)


def test_hulls_and_sums_of_steps():
    corners = lower_hull(np.arange(1.0, 7.0), np.array([10.0, 9.0, 5.0, 4.5, 3.0, 3.5]))
    assert corners.at.tolist() == [0, 2, 4, 5]
    assert corners.falls.tolist() == [2.5, 1.0, -0.5]
    on_a_line = lower_hull(np.arange(3.0), np.array([2.0, 1.0, 0.0]))
    assert on_a_line.at.tolist() == [0, 2]
    first = LossSteps(np.array([np.inf, 2.0]), np.array([1.0, 5.0]))
    second = LossSteps(np.array([np.inf, 3.0, 2.0 + 1e-12]), np.array([10.0, 20.0, 30.0]))
    total = sum_of([first, second])
    assert total.upto.tolist() == [np.inf, 3.0, 2.0]  # those that differ by rounding are one
    assert total.values.tolist() == [11.0, 21.0, 35.0]


def test_the_value_chosen_is_short_and_in_the_lowest_range():
    upto = np.array([np.inf, 3.0, 1.234, 1.2])
    assert _best_value(LossSteps(upto, np.array([4.0, 3.0, 1.0, 2.0])), 0.5) == (1.22, 1.0)
    assert 3.0 < _best_value(LossSteps(upto, np.array([1.0, 3.0, 1.0, 2.0])), 0.5)[0] < 12.0  # ties: the largest
    value, _ = _best_value(LossSteps(upto, np.array([4.0, 1.0, 1.0, 2.0])), 0.5)
    assert 1.2 < value < 3.0
    assert 0.3 < _best_value(LossSteps(upto, np.array([4.0, 3.0, 2.0, 1.0])), 0.5)[0] < 1.2
    assert _best_value(LossSteps(upto[:1], np.array([4.0])), 0.5) == (0.5, 4.0)


def test_code_lengths_in_turn_do_not_depend_on_the_order():
    counts, new = np.array([[3, 0], [1, 5]]), np.array([[2, 1], [0, 4]])
    for order in ([0, 1, 0], [1, 0, 0]):
        n, total = counts[0].astype(float), 0.0
        for j in order:
            total -= math.log((n[j] + 1.0) / (n.sum() + 2.0))
            n[j] += 1.0
        assert code_length(counts[:1], new[:1], True) == pytest.approx(total, rel=1e-12)
    assert code_length(counts, new, False) == pytest.approx(
        -(2 * math.log(4 / 5) + math.log(1 / 5) + 4 * math.log(6 / 8)), rel=1e-12
    )


def test_a_wrong_declaration_is_found():
    entropy = type(get_criterion("entropy"))

    class Bent(entropy):
        name = "bent"

        def params(self, problem):
            return {"penalty": self.chosen["alpha"] ** 2 * math.log(problem.n_rows)}

    class NotThere(entropy):
        name = "not-there"
        penalty_option = "gamma"

    class Other(entropy):
        name = "other"
        tried_options = {"gamma": (1.0,)}

    for cls, says in [(Bent, "must be a constant"), (NotThere, "no option of type float"), (Other, r"of \['gamma'\]")]:
        with pytest.raises(AssertionError, match=says):
            check_criterion(cls, n_samples=3, compiled=False)
    assert Criterion.penalty_option is None
