"""Tables: many columns, categorical ones, encoding, and transforming new rows.

All data is made here. The same work of real data and of other packages: ``reproduce/peers/comparison.py``.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import narwhals as nw
import numpy as np
import pandas as pd

import gridmodl
from gridmodl.codelength import log_groupings
from gridmodl.data.columns import encode_column

from . import MILLION, best_seconds, datasets, power, ratio, shortened

N_FITTED = 20_000  # rows that a model to transform with was made of


class ManyColumns:
    """100,000 rows x 100 columns, half of them noise, in one round in which every call has its turn."""

    def setup_cache(self):
        columns, target = datasets.make_table(shortened(100_000), 100, n_noise=50)
        few = {name: columns[name] for name in list(columns)[::10]}
        gridmodl.optimize_each(few, target, n_jobs=2)  # compiles

        def alone():
            for column in columns.values():
                gridmodl.optimize(column, target)

        times = best_seconds(lambda: gridmodl.optimize_each(columns, target, n_jobs=1), alone, rounds=1)
        each = [lambda n=n: gridmodl.optimize_each(few, target, n_jobs=n) for n in (2, 1)]
        sort = [lambda n=n: sort_in_threads(few.values(), n) for n in (2, 1)]
        return times, best_seconds(*each, *sort, rounds=3)

    def track_one_thread(self, times):
        return times[0][0]

    track_one_thread.unit = "seconds"

    def track_each_over_alone(self, times):
        """One thread on both sides."""
        each, alone = times[0]
        return round(each / alone, 3)

    def track_two_threads_over_one(self, times):
        """Of 10 columns; means something only if the control below is near 0.5."""
        two, one = times[1][:2]
        return round(two / one, 3)

    def track_control_two_threads_over_one(self, times):
        """Sorting in the same rounds: near 1 where the machine had no second core to give."""
        two, one = times[1][2:]
        return round(two / one, 3)

    track_each_over_alone.unit = "ratio"
    track_two_threads_over_one.unit = track_control_two_threads_over_one.unit = "ratio"


def sort_in_threads(columns, n_threads):
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(lambda column: np.sort(np.tile(column, 5), kind="stable"), columns))


class Census:
    """48,842 rows, 6 numerical columns with many ties and 8 categorical ones."""

    def setup(self):
        columns, self.target = datasets.make_census()
        self.frame = pd.DataFrame(columns)
        gridmodl.optimize_each(self.frame, self.target)  # compiles

    # Target: below 1 s.
    def time_optimize_each(self):
        gridmodl.optimize_each(self.frame, self.target)


class Grouping:
    """20,000 values of 1,000,000 rows with 10 classes, encoding included."""

    params = ["noise", "groups"]
    param_names = ["signal"]

    def setup(self, signal):
        few, classes = datasets.make_values(signal, 200, 10_000, 10)
        gridmodl.optimize(few, classes)  # compiles
        column, self.target = datasets.make_values(signal, 20_000, MILLION, 10)
        self.column = pd.Series(column, dtype="str")

    def time_optimize(self, signal):
        gridmodl.optimize(self.column, self.target)

    def track_cost(self, signal):
        return gridmodl.optimize(self.column, self.target).cost

    track_cost.unit = "nats"


class GroupingGrowth:
    def track_power(self):
        sizes = 2_000, 100_000
        calls = []
        for n_values in sizes:
            codes, target = datasets.make_codes("groups", n_values, MILLION, 10)
            names = [f"value {i}" for i in range(n_values)]
            frame = pd.DataFrame({"x": pd.Categorical.from_codes(codes, names)})  # hardly anything to encode
            calls.append(lambda frame=frame, target=target: gridmodl.optimize(frame, target))
        calls[0]()
        return power(*best_seconds(*calls, rounds=1), sizes[1] / sizes[0])

    # From 2,000 to 100,000 values of 1,000,000 rows.
    track_power.unit = "power of the values"


class SmallGrouping:
    """Merge against exact on 300 random data sets of up to 9 values."""

    def setup_cache(self):
        sets = [datasets.make_small_values(seed) for seed in range(300)]
        return np.array(
            [[gridmodl.optimize(*data, search=search).cost for search in ("merge", "exact")] for data in sets]
        )

    def track_optimum_rate(self, costs):
        merge, exact = costs.T
        return float(np.mean(merge <= exact + 1e-9 * np.abs(exact)))

    track_optimum_rate.unit = "share of the data sets"

    def track_worst_gap(self, costs):
        merge, exact = costs.T
        return float(np.max(merge / exact - 1.0))

    track_worst_gap.unit = "share of the cost"


class Encoding:
    """A pandas column of 1,000,000 texts, 20,000 values."""

    params = ["str", "object"]
    param_names = ["dtype"]

    def track_over_factorize(self, dtype):
        column = pd.Series(datasets.make_values("noise", 20_000, MILLION, 2)[0], dtype=dtype)
        raw = nw.from_native(column, series_only=True)
        return ratio(lambda: encode_column(raw, "x"), lambda: pd.factorize(column), rounds=10)

    # Target: at most 2.
    track_over_factorize.unit = "ratio"


class Transform:
    """1,000,000 rows: 10 numerical columns, or one of texts with 1,000 values."""

    def track_over_searchsorted(self):
        rows, fitted = fitted_numbers()
        models = list(fitted.models_.values())
        columns = [np.ascontiguousarray(column) for column in rows.T]
        bounds = [model.partitions[name].bounds for name, model in fitted.models_.items()]
        return ratio(
            lambda: [model.transform(column) for model, column in zip(models, columns, strict=True)],
            lambda: [np.searchsorted(*pair) for pair in zip(bounds, columns, strict=True)],
        )

    def track_discretizer_over_searchsorted(self):
        """The transformer of scikit-learn, which takes and returns all columns at once."""
        rows, fitted = fitted_numbers()
        bounds = [model.partitions[name].bounds for name, model in fitted.models_.items()]
        return ratio(
            lambda: fitted.transform(rows),
            lambda: np.column_stack([np.searchsorted(*pair) for pair in zip(bounds, rows.T, strict=True)]),
        )

    # Target: at most 3.
    track_over_searchsorted.unit = track_discretizer_over_searchsorted.unit = "ratio"

    def track_texts_over_map(self):
        model, column = fitted_texts()
        group_of = {value: i for i, group in enumerate(model.partitions["x0"].groups) for value in group}
        return ratio(lambda: model.transform(column), lambda: column.map(group_of), rounds=3)

    def track_texts_over_factorize(self):
        model, column = fitted_texts()
        return ratio(lambda: model.transform(column), lambda: pd.factorize(column))

    track_texts_over_map.unit = track_texts_over_factorize.unit = "ratio"


def fitted_numbers():
    columns, target = datasets.make_table(MILLION, 10, n_noise=0)
    rows = np.column_stack(list(columns.values()))
    return rows, gridmodl.GridDiscretizer().fit(rows[:N_FITTED], target[:N_FITTED])


def fitted_texts():
    column, target = datasets.make_values("groups", 1_000, MILLION, 2)
    return gridmodl.optimize(column[:N_FITTED], target[:N_FITTED]), pd.Series(column, dtype="str")


class Groupings:
    def setup(self):
        log_groupings(10)

    def time_log_groupings(self):
        log_groupings(100_000)
