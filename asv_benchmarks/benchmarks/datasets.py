"""Columns, with a class or without, always the same for the same arguments."""

from __future__ import annotations

import numpy as np

N_STEPS = 10
SIGNALS = ("noise", "steps", "clear", "sigmoid", "sine")


def make(signal: str, n_rows: int, n_classes: int = 2, seed: int = 0):
    """A column of distinct numbers in random order, and the class of each row."""
    rng = np.random.default_rng([seed, n_rows, n_classes])
    column = rng.random(n_rows)
    return column, _classes(rng, signal, column, n_classes)


def _classes(rng, signal, column, n_classes):
    """Classes 0, 1, ... of rows with values between 0 and 1."""
    if signal == "noise":
        return rng.integers(0, n_classes, len(column))
    if signal == "clear":  # each class has an interval of its own
        return (column * n_classes).astype(np.int64)
    if signal == "steps":  # each step has a class of its own, in three rows of five
        favoured = (column * N_STEPS).astype(np.int64) % n_classes
        return np.where(rng.random(len(column)) < 0.6, favoured, rng.integers(0, n_classes, len(column)))
    if signal == "sigmoid":
        mean = 1.0 / (1.0 + np.exp(-10.0 * (column - 0.5)))
    elif signal == "sine":
        mean = 0.5 + 0.45 * np.sin(6.0 * np.pi * column)
    else:
        raise ValueError(f"unknown signal {signal!r}; known: {', '.join(SIGNALS)}")
    return rng.binomial(n_classes - 1, mean)


def make_small(seed: int):
    """A random data set of 10 to 500 rows and 2 to 5 classes: any signal, blurred by noise, half of them with ties."""
    rng = np.random.default_rng([500, seed])
    n_rows, n_classes = int(rng.integers(10, 501)), int(rng.integers(2, 6))
    column = rng.random(n_rows)
    signal = SIGNALS[int(rng.integers(len(SIGNALS)))]
    target = _classes(rng, signal, column, n_classes)
    is_noise = rng.random(n_rows) < rng.choice([0.0, 0.1, 0.3, 0.6])
    target = np.where(is_noise, rng.integers(0, n_classes, n_rows), target)
    if rng.random() < 0.5:
        n_values = int(rng.integers(3, n_rows))
        column = np.floor(column * n_values) / n_values
    return column, target


def make_table(n_rows: int, n_columns: int, n_noise: int, seed: int = 0):
    """A dict of numerical columns and two classes; the first columns are noise, the others shift with the class."""
    rng = np.random.default_rng([seed, n_rows, n_columns])
    target = rng.integers(0, 2, n_rows)
    shifts = np.concatenate([np.zeros(n_noise), np.linspace(0.05, 2.0, n_columns - n_noise)])
    return {f"x{i}": rng.normal(size=n_rows) + shift * target for i, shift in enumerate(shifts)}, target


def make_codes(signal: str, n_values: int, n_rows: int, n_classes: int, seed: int = 0):
    """Codes of values in random order, some much rarer than others, and the class of each row.

    With the signal ``groups`` the values of each of 30 planted groups have the same shares of the classes.
    """
    rng = np.random.default_rng([seed, n_values, n_rows, n_classes])
    codes = (n_values * rng.random(n_rows) ** 1.5).astype(np.int64)
    if signal == "noise":
        return codes, rng.integers(0, n_classes, n_rows)
    if signal == "groups":
        return codes, _classes_of_groups(rng, rng.integers(0, 30, n_values)[codes], np.full(n_classes, 0.5))
    raise ValueError(f"unknown signal {signal!r}; known: noise, groups")


def make_values(signal: str, n_values: int, n_rows: int, n_classes: int, seed: int = 0):
    """`make_codes`, as texts."""
    codes, target = make_codes(signal, n_values, n_rows, n_classes, seed)
    return np.array([f"value {i}" for i in range(n_values)], dtype=object)[codes], target


def make_small_values(seed: int):
    """A random data set of 50 to 1,000 rows, 6 to 9 values and 2 to 5 classes; values share 2 to 5 planted groups."""
    rng = np.random.default_rng([600, seed])
    n_rows, n_values, n_classes = int(rng.integers(50, 1_001)), int(rng.integers(6, 10)), int(rng.integers(2, 6))
    codes = rng.choice(n_values, n_rows, p=rng.dirichlet(np.full(n_values, 2.0)))
    group_of = rng.integers(0, rng.integers(2, 6), n_values)
    target = _classes_of_groups(rng, group_of[codes], np.full(n_classes, rng.choice([1.0, 3.0, 6.0])))
    return np.array(list("abcdefghi"))[codes], target


def _classes_of_groups(rng, groups, concentration):
    """Classes 0, 1, ... of rows with groups 0, 1, ...: each group has random shares of the classes."""
    shares = rng.dirichlet(concentration, groups.max() + 1)
    below = shares.cumsum(axis=1)[groups, :-1]
    return (rng.random((len(groups), 1)) > below).sum(axis=1)


def make_census(n_rows: int = 48_842, seed: int = 0):
    """A dict of columns like those of a census, and two classes: 6 numerical ones, 5 with many ties, 8 of texts."""
    rng = np.random.default_rng([700, seed, n_rows])
    wealth = rng.normal(size=n_rows)
    target = np.where(wealth + rng.normal(size=n_rows) > 1.0, ">50K", "<=50K")
    columns = {
        "age": np.clip(38 + 13 * (0.4 * wealth + rng.normal(size=n_rows)), 17, 90).astype(np.int64),
        "weight": rng.lognormal(12.0, 0.5, n_rows).astype(np.int64),
        "schooling": np.clip(10 + 2.5 * (0.5 * wealth + rng.normal(size=n_rows)), 1, 16).astype(np.int64),
        "gain": np.where(rng.random(n_rows) < 0.08, (rng.lognormal(8.0 + wealth, 1.0, n_rows) // 50) * 50, 0.0),
        "loss": np.where(rng.random(n_rows) < 0.05, (rng.normal(1_900, 350, n_rows) // 20) * 20, 0.0),
        "hours": np.clip(40 + 12 * (0.3 * wealth + rng.normal(size=n_rows)), 1, 99).astype(np.int64),
    }
    for i, n_values in enumerate((9, 16, 7, 15, 6, 5, 2, 42)):
        ranks = np.argsort(np.argsort(rng.random(n_values)))  # values in no order of wealth
        place = 1.0 / (1.0 + np.exp(-(0.15 * i * wealth + rng.normal(size=n_rows))))
        names = np.array([f"kind {rank}" for rank in ranks], dtype=object)
        columns[f"text{i}"] = names[(place * n_values).astype(np.int64)]
    return columns, target


def make_noise(n_rows: int, n_columns: int, seed: int = 0):
    """A dict of numerical columns that tell nothing of the two classes."""
    rng = np.random.default_rng([800, seed, n_rows, n_columns])
    return {f"x{i}": rng.random(n_rows) for i in range(n_columns)}, rng.integers(0, 2, n_rows)


def make_xor(n_rows: int, n_variables: int, n_columns: int | None = None, seed: int = 0):
    """Numbers between 0 and 1; the class is the parity of how many of the first variables are above 0.5."""
    n_columns = n_variables if n_columns is None else n_columns
    rng = np.random.default_rng([900, seed, n_rows, n_variables, n_columns])
    rows = rng.random((n_columns, n_rows))
    target = (rows[:n_variables] > 0.5).sum(axis=0) % 2
    return {f"x{i}": column for i, column in enumerate(rows)}, target


def make_blocks(n_rows: int, n_values: int, n_blocks: int, seed: int = 0):
    """Codes of two categorical columns with planted blocks, and the block of each value of both.

    Search with another seed than that of the data: with the same one a random start can be a refinement of the blocks.
    """
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, n_blocks, n_values), rng.integers(0, n_blocks, n_values)
    weights = (rng.random((n_blocks, n_blocks)) ** 4)[first][:, second].ravel()
    rows = rng.choice(len(weights), n_rows, p=weights / weights.sum())
    return rows // n_values, rows % n_values, first, second


def as_texts(codes, letter: str):
    """A column of texts such as a0, a1, ..., as a file would give it."""
    return np.array([f"{letter}{i}" for i in range(codes.max() + 1)], dtype=object)[codes]


def make_wide_blocks(n_rows: int, n_values: int, n_blocks: int, seed: int = 0):
    """Codes of two categorical columns like those of `make_blocks`, for `n_values` too large for a table of cells."""
    rng = np.random.default_rng([1_000, seed, n_rows, n_values, n_blocks])
    blocks = [np.array_split(rng.permutation(n_values), n_blocks) for _ in range(2)]
    weights = rng.random(n_blocks**2) ** 4
    cells = np.sort(rng.choice(n_blocks**2, n_rows, p=weights / weights.sum()))
    columns = []
    for values, block in zip(blocks, (cells // n_blocks, cells % n_blocks), strict=True):
        sizes = np.array([len(inside) for inside in values])
        place = (np.cumsum(sizes) - sizes)[block] + (rng.random(n_rows) * sizes[block]).astype(np.int64)
        columns.append(np.concatenate(values)[place])
    return tuple(columns)


def make_mixed_joint(n_rows: int, seed: int = 0):
    """Three numerical and two categorical columns without a target, which a hidden cause ties together."""
    rng = np.random.default_rng([1_100, seed, n_rows])
    cause = rng.integers(0, 4, n_rows)
    numbers = {f"x{i}": cause * (i + 1.0) / 2.0 + rng.normal(size=n_rows) for i in range(3)}
    texts = {}
    for name, n_values in (("a", 12), ("b", 30)):
        codes = (cause * n_values // 4 + rng.integers(0, n_values // 2, n_rows)) % n_values
        texts[name] = as_texts(codes, name)
    return {**numbers, **texts}


def make_many_classes(n_rows: int, n_classes: int, seed: int = 0):
    """A column of distinct numbers, and classes of which twenty groups follow it."""
    rng = np.random.default_rng([1_200, seed, n_rows, n_classes])
    column = rng.random(n_rows)
    group = ((column * 20).astype(np.int64) + rng.integers(0, 6, n_rows)) % 20
    target = rng.integers(0, n_classes // 20, n_rows) * 20 + group
    return column, np.array([f"class {i}" for i in range(n_classes)], dtype=object)[target]


def make_curve(n_rows: int, seed: int = 0):
    """A column of distinct numbers and a numerical target that follows a wave of it."""
    rng = np.random.default_rng([1_300, seed, n_rows])
    column = rng.random(n_rows)
    return column, np.sin(8.0 * column) + rng.normal(scale=0.3, size=n_rows)
