"""Random problems of every kind, each made from a seed and a number alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from fuzz.columns import CONTAINERS, MISSING, TIMES, Column, categorical, classes, numerical, ordinal
from scipy import sparse

import gridmodl
from gridmodl import Criterion, Search
from gridmodl.plugins import criterion_for

NO_CLASS = -1  # the level of a row without a class


@dataclass(frozen=True)
class Case:
    """One problem: its rows as levels, what they are in the user's types, and what is asked."""

    kind: str  # a key of KINDS
    problem: str  # a key of gridmodl.terms.PROBLEMS
    criterion: Criterion
    columns: dict[str, Column]
    target: Column | None = None
    weights: Any = None
    search: str | Search = "auto"
    limits: dict[str, Any] = field(default_factory=dict)  # max_parts, min_rows
    monotone: str | None = None
    codes: tuple[int, ...] = ()  # levels of the column that is known that are special
    rules: dict[str, Any] = field(default_factory=dict)  # min_events, min_difference; fixed and allowed, as levels
    is_shared: bool = False  # whether the special levels share a part
    missing: str = "auto"  # where missing values may go
    is_placed: bool = False  # unlabelled rows place the bounds and are not priced
    method: tuple[str, dict[str, Any]] = ("", {})  # of a baseline, or the score of a density
    seed: int = 0  # of the search
    known: str = ""  # name of the column that codes and rules are of; the only one, if empty

    @property
    def known_name(self) -> str:
        return self.known or next(iter(self.columns))

    @property
    def target_kind(self) -> str | None:
        """What the target is, where it is partitioned too."""
        kinds = {"grouped": "grouped", "numerical": "numerical"}
        return kinds.get(self.problem.removesuffix("_grid"))

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())).levels)

    @property
    def has_mark(self) -> bool:
        return self.target is not None and bool(np.any(self.target.levels == NO_CLASS))

    def repeats(self) -> Any:
        """The number of each row, as often as its weight says."""
        return np.arange(self.n_rows) if self.weights is None else np.repeat(np.arange(self.n_rows), self.weights)

    def taken(self, rows: Any, with_weights: bool = True) -> Case:
        """The case with these rows in this order; without weights each counts once."""
        return replace(
            self,
            columns={name: column.taken(rows) for name, column in self.columns.items()},
            target=None if self.target is None else self.target.taken(rows),
            weights=self.weights[rows] if with_weights and self.weights is not None else None,
        )

    def data(self) -> Any:
        if self.kind == "sparse":
            row, column = (self.columns[name].levels for name in ("row", "column"))
            counts = np.ones(self.n_rows, dtype=np.int64) if self.weights is None else self.weights
            shape = [len(self.columns[name].values) for name in ("row", "column")]
            return sparse.coo_matrix((counts, (row, column)), shape=shape).tocsr()
        return {name: column.raw() for name, column in self.columns.items()}

    def raw_target(self) -> Any:
        assert self.target is not None
        if self.target_kind == "numerical":
            return self.target.raw()
        values = [*self.target.values, self.mark]  # the last for NO_CLASS
        return np.array(values, dtype=object if self.target.type == "bool" and self.has_mark else None)[
            self.target.levels
        ]

    @property
    def mark(self) -> Any:
        return {"whole": -9, "float": -9.0, "text": "?", "bool": None}[self.target.type] if self.has_mark else None

    def rows(self) -> dict[str, Any]:
        """The data as every public function takes them."""
        given: dict[str, Any] = {"data": self.data()}
        if self.weights is not None and self.kind != "sparse":
            given["weights"] = self.weights
        if self.target is not None:
            given["target"] = self.raw_target()
        if self.has_mark:
            given["unlabelled"] = self.mark
        return given

    def what(self) -> dict[str, Any]:
        """Kinds of columns and target and special codes, as `optimize` and `price` take them."""
        given: dict[str, Any] = {}
        rows = self.repeats()  # those of weight 0 tell nothing of a column's type
        values = {name: column.taken(rows) for name, column in self.columns.items() if column.kind == "categorical"}
        untold = [name for name, column in values.items() if not column.is_text]
        if untold and self.kind != "sparse":
            given["kinds"] = dict.fromkeys(untold, "categorical")
        order = {name: column.values for name, column in self.columns.items() if column.needs_order}
        if order:
            given["order"] = order
        if self.target_kind is not None:
            given["target_kind"] = self.target_kind
        elif self.target is not None and len(self.target.values) > 20:
            given["target_kind"] = "classes"  # as many whole numbers could be meant as numbers
        if self.codes:
            name, column = self.known_name, self.columns[self.known_name]
            codes = [column.values[level] for level in self.codes]
            given["special"] = {name: [codes] if self.is_shared else codes}
        return given

    def optimized(self, rows: dict[str, Any] | None = None, **more: Any) -> Any:
        """The model of `optimize`, or of the method that the case is about; `rows` are its own, made before."""
        rows, what = self.rows() if rows is None else rows, self.what()
        if self.kind == "baseline":
            name, options = self.method
            return getattr(gridmodl.baselines, name)(**rows, **what, criterion=self.criterion, **options)
        if self.is_placed:
            what["placement"] = "median"
        if self.monotone is not None:
            what["monotone"] = self.monotone
        if self.missing != "auto":
            what["missing"] = self.missing
        given = {**what, **self.asked_rules(), "search": self.search, "random_state": self.seed, **self.limits}
        return gridmodl.optimize(**rows, **given, criterion=self.criterion, **more)

    def asked_rules(self) -> dict[str, Any]:
        """The rules as `optimize` takes them: each for all columns, or by name."""
        name, column = self.known_name, self.columns[self.known_name]
        asked = {}
        for what, given in self.rules.items():
            one = [column.values[level] for level in given] if what in ("fixed", "allowed") else given
            asked[what] = {name: one} if self.known or self.seed % 2 else one
        return asked

    def price(self, partitions: Any) -> float:
        """What partitions cost by the compiled terms."""
        case, what = (self.labelled(), self.what()) if self.is_placed else (self, self.what())
        if self.known and getattr(partitions.get(self.known), "n_special", 1) == 0:  # it is left out of the grid
            what.pop("special", None)
        return gridmodl.price(partitions=partitions, criterion=self.criterion, **case.rows(), **what)

    def labelled(self) -> Case:
        """The rows with a class alone."""
        assert self.target is not None
        return self.taken(np.flatnonzero(self.target.levels != NO_CLASS))

    def __str__(self) -> str:
        lines = [f"{self.kind}, {self.criterion!r}, search={self.search!r}, seed {self.seed}"]
        for name, column in self.columns.items():
            lines.append(f"  {name}: {column.kind}, {column.type}, {column.container}: {column.objects()}")
        if self.target is not None:
            is_number = self.problem == "numerical"
            lines.append(f"  target: {self.target.objects() if is_number else self.raw_target().tolist()}")
        asked = {
            "weights": None if self.weights is None else self.weights.tolist(),
            "codes": self.codes,
            "is_shared": self.is_shared,
            "missing": self.missing,
            "monotone": self.monotone,
            "rules": self.rules and self.asked_rules(),
            "placed": self.is_placed,
            "method": self.method[0] and self.method,
            **self.limits,
        }
        lines += [f"  {name}: {value}" for name, value in asked.items() if value]
        return "\n".join(lines)


Rng = np.random.Generator


def random_levels(rng: Rng, n_rows: int, most: int, missing: float = 0.15) -> tuple[Any, int]:
    """Levels of rows, some missing in some columns, and how many levels there are, one or two unseen among them."""
    n = int(rng.integers(1, most + 1))
    levels = rng.integers(0, n, n_rows)
    if rng.random() < 0.3:
        levels = np.sort(levels)
    if rng.random() < 0.3:
        levels = np.where(rng.random(n_rows) < missing, MISSING, levels)
    return levels, n + int(rng.integers(0, 3))


def random_classes(rng: Rng, levels: Any, n_classes: int) -> Any:
    """Classes that depend on levels by chance: noise, steps, or pure."""
    n = len(levels)
    noise = rng.integers(0, n_classes, n)
    favoured = rng.integers(0, n_classes, int(levels.max()) + 2)
    return np.where(rng.random(n) < rng.choice([0.0, 0.6, 0.95, 1.0]), favoured[levels], noise)


def n_classes_of(rng: Rng) -> int:
    return int(rng.choice([1, 2, 2, 2, 3, 3, 4, 6]))


def limits_of(rng: Rng, n_rows: int) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    if rng.random() < 0.25:
        limits["max_parts"] = int(rng.integers(1, 5))
    if rng.random() < 0.25:
        is_share = rng.random() < 0.3
        limits["min_rows"] = float(rng.choice([0.1, 0.3])) if is_share else int(rng.integers(1, 3 + n_rows // 3))
    return limits


def weights_of(rng: Rng, n_rows: int, share: float = 0.25) -> Any:
    if rng.random() >= share:
        return None
    weights = rng.integers(0, 4, n_rows).astype(np.int64)
    weights[int(rng.integers(0, n_rows))] += 1  # not all may be 0
    return weights


def criterion_of(rng: Rng, problem: str) -> Criterion:
    """Any criterion that prices the problem, with any options that it has."""
    name = str(rng.choice(gridmodl.list_criteria(problem)))
    criterion = criterion_for(name, problem)
    if "alpha" in criterion.options and rng.random() < 0.7:
        return type(criterion)(alpha=float(rng.choice([0.05, 0.3, 0.7, 1.0])), beta=float(rng.choice([0.0, 0.25, 1.0])))
    if "selection" in criterion.options and rng.random() < 0.3:
        return type(criterion)(selection=False)
    return criterion


def one_search(rng: Rng) -> str | Search:
    return [*("auto", "exact", "merge"), Search("merge", post_optimize=False)][int(rng.integers(0, 4))]


def _n_rows(rng: Rng, most: int = 14) -> int:
    return int(rng.integers(1, most + 1))


def one_column(rng: Rng, kind: str, make: Callable[..., Column], **more: Any) -> Case:
    n_rows = _n_rows(rng)
    levels, n_levels = random_levels(rng, n_rows, 7 if make is numerical else 5)
    n_classes = n_classes_of(rng)
    target = classes(rng, random_classes(rng, levels, n_classes), n_classes)
    return Case(
        kind,
        "classes",
        criterion_of(rng, "classes"),
        {"x": make(rng, levels, n_levels)},
        target,
        weights_of(rng, n_rows),
        one_search(rng),
        limits_of(rng, n_rows),
        **more,
    )


def numerical_case(rng: Rng) -> Case:
    return one_column(rng, "numerical", numerical)


def categorical_case(rng: Rng) -> Case:
    return one_column(rng, "categorical", categorical)


def longer_case(rng: Rng) -> Case:
    """Up to 160 rows and 60 classes: too many to enumerate, not for a table over parts and bounds."""
    n_rows, n_classes = int(rng.integers(20, 161)), int(rng.choice([2, 3, 8, 60]))
    levels, n_levels = random_levels(rng, n_rows, int(rng.choice([30, 160])))
    target = classes(rng, random_classes(rng, levels // int(rng.integers(1, 30)), n_classes), n_classes)
    return Case(
        "longer",
        "classes",
        criterion_of(rng, "classes"),
        {"x": numerical(rng, levels, n_levels)},
        target,
        weights_of(rng, n_rows),
        one_search(rng),
        limits_of(rng, n_rows),
    )


def many_values_case(rng: Rng) -> Case:
    """A categorical column of up to 40 values: too many to try all groupings."""
    n_rows, n_classes = int(rng.integers(20, 121)), int(rng.choice([2, 3, 5]))
    levels, n_levels = random_levels(rng, n_rows, int(rng.choice([12, 40])))
    target = classes(rng, random_classes(rng, levels, n_classes), n_classes)
    return Case(
        "many values",
        "classes",
        criterion_of(rng, "classes"),
        {"x": categorical(rng, levels, n_levels)},
        target,
        weights_of(rng, n_rows),
        str(rng.choice(["auto", "merge"])),
        limits_of(rng, n_rows),
    )


def special_case(rng: Rng) -> Case:
    """Few or many special codes under any criterion, beside missing values, fixed bounds, and one row a value."""
    case = one_column(rng, "special", numerical if rng.random() < 0.6 else categorical)
    if rng.random() < 0.4:  # nearly as many parts as rows
        case = replace(case.taken(np.unique(case.columns["x"].levels, return_index=True)[1]), weights=None)
    column = case.columns["x"]
    n_levels, most = len(column.values), int(rng.choice([2, 2, 5]))
    codes = rng.permutation(n_levels)[: int(rng.integers(1, most + 1))].tolist()
    rules: dict[str, Any] = {}
    seen = column.levels if case.weights is None else column.levels[case.weights > 0]
    plain = np.setdiff1d(seen, [MISSING, *codes])
    if column.kind == "numerical" and len(plain) > 1 and rng.random() < 0.3:
        rules["fixed"] = [int(rng.choice(plain[:-1]))]
    return replace(
        case,
        codes=tuple(codes),
        rules=rules,
        is_shared=bool(rng.random() < 0.5),
        missing="apart" if rng.random() < 0.3 else "auto",
        limits=limits_of(rng, case.n_rows),
    )


def monotone_case(rng: Rng) -> Case:
    n_rows = int(rng.integers(2, 15))
    levels, n_levels = random_levels(rng, n_rows, 7)
    of_rows = random_classes(rng, levels, 2)
    of_rows[:2] = 0, 1
    weights = weights_of(rng, n_rows)
    if weights is not None:
        weights[:2] += 1  # two classes there must be
    codes = (int(rng.integers(0, n_levels)),) if rng.random() < 0.2 else ()
    return Case(
        "monotone",
        "classes",
        criterion_of(rng, "classes"),
        {"x": numerical(rng, levels, n_levels)},
        classes(rng, of_rows, 2),
        weights,
        "auto",
        limits_of(rng, n_rows),
        str(rng.choice(["increasing", "decreasing", "auto"])),
        codes,
    )


def rules_case(rng: Rng) -> Case:
    """Limits on classes, neighbours and bounds, alone and together, beside missing values and special codes."""
    make = numerical if rng.random() < 0.8 else categorical
    n_rows, n_classes = int(rng.integers(3, 20)), int(rng.choice([2, 2, 2, 3]))
    levels, n_levels = random_levels(rng, n_rows, 7 if make is numerical else 5)
    of_rows = random_classes(rng, levels, n_classes)
    of_rows[:n_classes] = np.arange(n_classes)
    weights = weights_of(rng, n_rows)
    if weights is not None:
        weights[:n_classes] += 1  # as many classes there must be
    codes = tuple(rng.permutation(n_levels)[:1].tolist()) if rng.random() < 0.2 else ()
    missing = "apart" if rng.random() < 0.2 else "auto"
    seen = levels if weights is None else levels[weights > 0]
    plain = np.setdiff1d(seen, [MISSING, *codes])
    rules: dict[str, Any] = {}
    if rng.random() < 0.4:
        least = float(rng.choice([0.2, 0.5])) if rng.random() < 0.3 else int(rng.integers(1, 5))
        rules["min_events"] = ("event", least) if n_classes == 2 and rng.random() < 0.4 else least
    if n_classes == 2 and rng.random() < 0.3:
        rules["min_difference"] = float(rng.choice([0.0, 0.05, 0.2, 0.25, 0.5]))
    if make is numerical and rng.random() < 0.3 and len(plain) > 1:
        rules["fixed"] = sorted(rng.choice(plain[:-1], min(len(plain) - 1, int(rng.integers(1, 3))), replace=False))
    if make is numerical and rng.random() < 0.3:
        rules["allowed"] = sorted(rng.choice(n_levels, int(rng.integers(0, n_levels + 1)), replace=False))
    has_order = make is numerical and n_classes == 2 and (rng.random() < 0.4 or not rules)
    return Case(
        "rules",
        "classes",
        criterion_of(rng, "classes"),
        {"x": make(rng, levels, n_levels)},
        classes(rng, of_rows, n_classes),
        weights,
        one_search(rng),
        limits_of(rng, n_rows),
        str(rng.choice(["increasing", "decreasing", "auto", "peak", "peak", "valley", "valley"]))
        if has_order
        else None,
        codes,
        rules,
        missing=missing,
        seed=int(rng.integers(0, 100)),
    )


def unlabelled_case(rng: Rng) -> Case:
    """Rows of which some have no class, priced or only there to place the bounds."""
    make = numerical if rng.random() < 0.7 else categorical
    case = one_column(rng, "unlabelled", make)
    assert case.target is not None
    marked = np.where(rng.random(case.n_rows) < 0.5, NO_CLASS, case.target.levels)
    weights = case.weights
    marked[0] = max(int(case.target.levels[0]), 0)
    if weights is not None:
        weights[0] += 1  # one class there must be
    marked = marked if weights is None else np.where((weights == 0) & (marked == NO_CLASS), 0, marked)
    case = replace(case, target=replace(case.target, levels=marked))
    if not case.has_mark:
        return case
    if rng.random() < 0.4:
        return replace(case, kind="placement", is_placed=True)
    return replace(case, problem="semi", criterion=criterion_of(rng, "semi"))


def baseline_case(rng: Rng) -> Case:
    case = one_column(rng, "baseline", numerical)
    n_parts = int(rng.integers(1, 6))
    choice = [
        ("equal_width", {"n_parts": n_parts}),
        ("equal_frequency", {"n_parts": n_parts}),
        ("fayyad_irani", {}),
        ("chi_merge", {"significance": float(rng.choice([0.5, 0.95])), "max_parts": n_parts + 1}),
    ]
    codes = (int(rng.integers(0, len(case.columns["x"].values))),) if rng.random() < 0.2 else ()
    return replace(case, limits={}, method=choice[int(rng.integers(0, 4))], codes=codes)


def several_columns(rng: Rng, n_columns: int, n_rows: int, most: int) -> dict[str, Column]:
    first, _ = random_levels(rng, n_rows, most)
    columns = {}
    for k in range(n_columns):
        levels, n_levels = random_levels(rng, n_rows, most)
        if k and rng.random() < 0.5:  # goes with the first
            levels = np.where(rng.random(n_rows) < 0.8, first, levels)
            n_levels = max(n_levels, int(levels.max()) + 1, 1)
        columns["abcd"[k]] = (numerical if rng.random() < 0.5 else categorical)(rng, levels, n_levels)
    return columns


def grid_search(rng: Rng) -> Search:
    kind = str(rng.choice(["merge", "vns", "vns", "diverse", "algorithm3"]))
    return Search(kind, effort=int(rng.integers(0, 3)), keep_optima=int(rng.choice([0, 0, 3])))


def grid_case(rng: Rng) -> Case:
    n_rows, n_columns = _n_rows(rng, 16), int(rng.integers(2, 5))
    columns = several_columns(rng, n_columns, n_rows, {2: 4, 3: 3, 4: 2}[n_columns])
    n_classes = n_classes_of(rng)
    levels = [column.levels for column in columns.values()]
    target = classes(rng, random_classes(rng, np.abs(levels[0] * levels[-1]), n_classes), n_classes)
    return Case(
        "grid",
        "grid",
        criterion_of(rng, "grid"),
        columns,
        target,
        weights_of(rng, n_rows),
        grid_search(rng),
        limits_of(rng, n_rows),
        seed=int(rng.integers(0, 100)),
    )


def joint_case(rng: Rng) -> Case:
    n_rows, n_columns = _n_rows(rng, 24), int(rng.integers(2, 5))
    columns = several_columns(rng, n_columns, n_rows, {2: 4, 3: 3, 4: 2}[n_columns])
    kind = str(rng.choice(["merge", "vns", "algorithm3"]))
    return Case(
        "joint",
        "joint",
        criterion_of(rng, "joint"),
        columns,
        None,
        weights_of(rng, n_rows),
        Search(kind, effort=int(rng.integers(0, 3))),
        limits_of(rng, n_rows),
        seed=int(rng.integers(0, 100)),
    )


def known_grid_case(rng: Rng) -> Case:
    """A grid, or a joint one, that keeps missing values apart, special codes of a column, and its bounds."""
    case = grid_case(rng) if rng.random() < 0.6 else joint_case(rng)
    known = str(rng.choice(list(case.columns)))
    column = case.columns[known]
    n_levels, missing = len(column.values), "apart" if rng.random() < 0.5 else "auto"
    codes = tuple(rng.permutation(n_levels)[: int(rng.integers(1, 3))].tolist()) if rng.random() < 0.4 else ()
    rules: dict[str, Any] = {}
    seen = np.unique(column.levels if case.weights is None else column.levels[case.weights > 0])
    plain = np.setdiff1d(seen, [MISSING, *codes])
    if column.kind == "numerical":
        if len(plain) > 1 and rng.random() < 0.4:
            rules["fixed"] = [int(rng.choice(plain[:-1]))]
        if rng.random() < 0.3:
            rules["allowed"] = sorted(rng.choice(n_levels, int(rng.integers(0, n_levels + 1)), replace=False).tolist())
    limits = limits_of(rng, case.n_rows)
    is_shared = len(codes) > 1 and rng.random() < 0.5
    return replace(case, codes=codes, rules=rules, missing=missing, limits=limits, is_shared=is_shared, known=known)


def sparse_case(rng: Rng) -> Case:
    counts = rng.integers(0, 4, rng.integers(1, 5, 2)) * (rng.random() < 0.8)
    counts[0, 0] += 1
    row, column = np.nonzero(counts)
    columns = {
        name: Column("categorical", "whole", levels, list(range(counts.shape[k])))
        for k, (name, levels) in enumerate((("row", row), ("column", column)))
    }
    return Case(
        "sparse",
        "joint",
        criterion_of(rng, "joint"),
        columns,
        None,
        counts[row, column].astype(np.int64),
        Search("vns", effort=int(rng.integers(0, 3))),
        seed=int(rng.integers(0, 100)),
    )


def pair_search(rng: Rng) -> Search:
    return Search(str(rng.choice(["merge", "vns"])), effort=int(rng.integers(0, 3)))


def grouped_case(rng: Rng) -> Case:
    n_rows, n_classes = _n_rows(rng, 24), int(rng.integers(1, 6))
    levels, n_levels = random_levels(rng, n_rows, 4)
    column = (numerical if rng.random() < 0.5 else categorical)(rng, levels, n_levels)
    target = classes(rng, random_classes(rng, levels, n_classes), n_classes)
    return Case(
        "grouped",
        "grouped",
        criterion_of(rng, "grouped"),
        {"x": column},
        target,
        weights_of(rng, n_rows),
        pair_search(rng),
        limits_of(rng, n_rows),
        seed=int(rng.integers(0, 100)),
    )


def numerical_target_case(rng: Rng) -> Case:
    n_rows = _n_rows(rng, 24)
    levels, n_levels = random_levels(rng, n_rows, 4)
    column = (numerical if rng.random() < 0.5 else categorical)(rng, levels, n_levels)
    n = int(rng.integers(1, 6))
    values = np.sort(rng.choice(400, n, replace=False) / 8.0 - 20.0)
    target = Column("numerical", "float64", random_classes(rng, levels, n), values.tolist())
    return Case(
        "numerical target",
        "numerical",
        criterion_of(rng, "numerical"),
        {"x": column},
        target,
        weights_of(rng, n_rows),
        pair_search(rng),
        limits_of(rng, n_rows),
        seed=int(rng.integers(0, 100)),
    )


def target_grid_case(rng: Rng) -> Case:
    """Several inputs and a target that is partitioned too: numbers, or classes in groups."""
    n_rows, n_columns = _n_rows(rng, 20), int(rng.integers(2, 4))
    columns = several_columns(rng, n_columns, n_rows, {2: 3, 3: 2}[n_columns])
    n, levels = int(rng.integers(1, 5)), [column.levels for column in columns.values()]
    of_rows = random_classes(rng, np.abs(levels[0] * levels[-1]), n)
    kind = str(rng.choice(["numerical", "grouped"]))
    if kind == "numerical":
        values = np.sort(rng.choice(400, n, replace=False) / 8.0 - 20.0)
        target = Column("numerical", "float64", of_rows, values.tolist())
    else:
        target = classes(rng, of_rows, n)
    return Case(
        "target grid",
        f"{kind}_grid",
        criterion_of(rng, f"{kind}_grid"),
        columns,
        target,
        weights_of(rng, n_rows),
        Search(str(rng.choice(["merge", "vns"])), effort=int(rng.integers(0, 2))),
        limits_of(rng, n_rows),
        seed=int(rng.integers(0, 100)),
    )


def density_case(rng: Rng) -> Case:
    n_rows = int(rng.integers(2, 17))
    draws = (rng.normal(size=n_rows), rng.exponential(size=n_rows) ** 2, rng.integers(0, 9, n_rows) * 1.0)
    values = draws[int(rng.integers(0, 3))]
    values[:2] = values[0], values[0] + 1.5
    found, levels = np.unique(values, return_inverse=True)
    if rng.random() < 0.2:
        levels = np.append(levels, MISSING)
    kernel = str(rng.choice(["epanechnikov", "triangle", "box"]))
    score = {"score": "kernel", "kernel": kernel} if rng.random() < 0.5 else {"score": "likelihood"}
    weights = weights_of(rng, len(levels), 0.3)
    if weights is not None:
        weights[:2] += 1  # two values there must be
    return Case(
        "density",
        "joint",
        criterion_of(rng, "joint"),
        {"x": Column("numerical", "float64", levels, found.tolist())},
        None,
        weights,
        method=("density", score),
        limits={"max_parts": int(rng.integers(1, 8))},
        seed=int(rng.integers(0, 100)),
    )


DENSITY_CRITERIA = (("modl", {}), ("bayesian-blocks", {"p0": 0.2}), ("penalized-likelihood", {"penalty": 2.5}))


def histogram_case(rng: Rng) -> Case:
    """Few values, or some with a wide gap between them."""
    if rng.random() < 0.5:
        steps = rng.exponential(size=int(rng.integers(19, 24))) + 0.2
        steps[int(rng.integers(9, len(steps) - 8))] += rng.exponential() * 30.0
        values = np.cumsum(steps) * 10.0 ** rng.integers(-3, 4) * (1 if rng.random() < 0.5 else -1)
    else:
        values = np.exp(rng.normal(0.0, 1.5, int(rng.integers(2, 12))))
    found = np.unique(np.round(values, 4))
    levels = np.repeat(np.arange(len(found)), rng.integers(1, 4, len(found)))
    if rng.random() < 0.2:
        levels = np.append(levels, MISSING)
    weights = weights_of(rng, len(levels), 0.3)
    if weights is not None:
        weights[: len(levels)] += 1  # each value keeps rows
    limits = {"max_parts": int(rng.integers(1, 9))}
    if rng.random() < 0.2:
        limits["min_rows"] = 1
    return Case(
        "histogram",
        "density",
        "modl",
        {"x": Column("numerical", "float64", levels, found.tolist())},
        None,
        weights,
        method=DENSITY_CRITERIA[int(rng.integers(0, len(DENSITY_CRITERIA)))],
        limits=limits,
        seed=int(rng.integers(0, 100)),
    )


def each_case(rng: Rng) -> Case:
    """Every column on its own."""
    n_rows, n_classes = _n_rows(rng), n_classes_of(rng)
    columns = several_columns(rng, int(rng.integers(2, 5)), n_rows, 5)
    target = classes(rng, random_classes(rng, columns["a"].levels, n_classes), n_classes)
    return Case(
        "each",
        "classes",
        criterion_of(rng, "classes"),
        columns,
        target,
        weights_of(rng, n_rows),
        one_search(rng),
        limits_of(rng, n_rows),
    )


LATTICE_STEPS = {
    "float64": (1.0, 0.5, 0.1, 0.01, 1.0 / 3.0, 2.54, 60.0), "float32": (1.0, 0.5, 0.1), "int64": (1, 7), "int8": (1,),
    "int32": (1, 5), "M8[D]": (1, 7), "M8[s]": (1, 86_400), "m8[s]": (1, 60),
}  # fmt: skip
LATTICE_OFFSETS = {"float64": (0.0, 0.99, -20.0), "int64": (0, -30, 2**60), "int32": (0, 1000)}
FAR_CODES = (-60, -59, 70, 71, 100)  # points, far from all others


def lattice_case(rng: Rng) -> Case:
    """Density of points of a lattice, some without rows.

    At times all have many rows and codes are far from them, or there is a wide gap in their midst.
    """
    name = str(rng.choice(list(LATTICE_STEPS)))
    step = rng.choice(LATTICE_STEPS[name]).item()
    offset = rng.choice(LATTICE_OFFSETS.get(name, (0,))).item()
    if rng.random() < 0.4:
        points, most_rows = np.arange(int(rng.integers(5, 9))), (20, 41)
        codes = rng.choice(FAR_CODES, int(rng.integers(1, 3)), replace=False)
    else:
        has_gap = name == "float64" and rng.random() < 0.5
        n = int(rng.integers(18, 22) if has_gap else rng.integers(5, 10))
        steps = rng.integers(1, int(rng.choice([2, 3, 5])), n)
        steps[n // 2] += int(rng.integers(20, 80)) * has_gap
        points, most_rows = np.append(np.cumsum(steps), steps.sum() + 1), (1, 6)  # two neighbours there must be
        codes = points[:0]
    every = np.sort(np.append(points, codes))
    levels = np.repeat(np.arange(len(every)), rng.integers(*most_rows, len(every)))
    weights = None if len(codes) else weights_of(rng, len(levels), 0.3)
    limits = {"max_parts": int(rng.integers(1, 9))} if len(codes) == 0 else {}
    if name != "float64" or len(codes) or rng.random() < 0.3:  # else there may be empty parts
        limits["min_rows"] = 1
    values = (every * step + offset).astype(np.int64).view(name) if name in TIMES else every * step + offset
    kept = list(values) if name in TIMES else values.astype(name).tolist()
    return Case(
        "lattice",
        "density",
        "modl",
        {"x": Column("numerical", name, levels, kept, str(rng.choice(CONTAINERS)))},
        None,
        None if weights is None else weights + 1,  # each value keeps rows
        method=DENSITY_CRITERIA[int(rng.integers(0, len(DENSITY_CRITERIA)))],
        limits=limits,
        codes=tuple(np.flatnonzero(np.isin(every, codes)).tolist()),
        rules={"points": every.tolist(), "step": step},
        seed=int(rng.integers(0, 100)),
    )


# Of so many cases of all kinds, each kind has about so many.
KINDS: dict[str, tuple[int, Callable[[Rng], Case]]] = {
    "numerical": (24, numerical_case),
    "categorical": (16, categorical_case),
    "longer": (6, longer_case),
    "many values": (5, many_values_case),
    "special": (8, special_case),
    "monotone": (8, monotone_case),
    "rules": (12, rules_case),
    "unlabelled": (10, unlabelled_case),
    "baseline": (6, baseline_case),
    "each": (3, each_case),
    "grid": (4, grid_case),
    "joint": (4, joint_case),
    "known grid": (6, known_grid_case),
    "sparse": (2, sparse_case),
    "grouped": (4, grouped_case),
    "numerical target": (4, numerical_target_case),
    "target grid": (4, target_grid_case),
    "density": (3, density_case),
    "histogram": (4, histogram_case),
    "lattice": (4, lattice_case),
}


def make_case(seed: int, number: int) -> tuple[Case, Rng]:
    """The case of a seed and a number, and what its checks are drawn by."""
    rng = np.random.default_rng([seed, number])
    shares = np.array([share for share, _ in KINDS.values()], dtype=float)
    _, make = list(KINDS.values())[int(rng.choice(len(shares), p=shares / shares.sum()))]
    case = make(rng)
    return (with_levels(case, rng) if rng.random() < SHARE_OF_ORDINAL else case), rng


SHARE_OF_ORDINAL = 0.15
ON_NUMBERS_ALONE = ("baseline", "density", "histogram", "lattice", "sparse", "longer")


def with_levels(case: Case, rng: Rng) -> Case:
    """The case with its numerical columns as ordinal ones, where levels are taken."""
    if case.kind in ON_NUMBERS_ALONE:
        return case
    columns = {
        name: ordinal(rng, column) if column.kind == "numerical" else column for name, column in case.columns.items()
    }
    return replace(case, columns=columns)
