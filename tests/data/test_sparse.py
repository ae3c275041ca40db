"""Sparse matrices: their entries are rows of two columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from gridmodl import Model, Search, optimize, optimize_each, price
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def planted(seed=3, shape=(60, 40)):
    """Zeros and ones in two by two blocks of rows and columns that are shuffled."""
    rng = np.random.default_rng(seed)
    same = (rng.permutation(shape[0]) % 2)[:, None] == rng.permutation(shape[1]) % 2
    return (rng.random(shape) < np.where(same, 0.5, 0.05)).astype(int)


@pytest.fixture(scope="module")
def found():
    dense = planted()
    return dense, optimize(sparse.csr_matrix(dense))


def as_frame(dense):
    row, column = np.nonzero(dense)
    return {"row": row, "column": column}, dense[row, column]


KINDS = {"row": "categorical", "column": "categorical"}


def test_a_matrix_of_zeros_and_ones_is_coclustered(found):
    dense, model = found
    assert (model.problem, model.n_rows, list(model.partitions)) == ("joint", dense.sum(), ["row", "column"])
    assert [p.n_parts for p in model.partitions.values()] == [2, 2]
    table = model.cell_table()
    for i in range(4):
        rows, columns = (
            list(model.partitions[name].groups[model.partitions[name].labels.index(table[name][i])]) for name in KINDS
        )
        assert table["density"][i] == pytest.approx(dense[np.ix_(rows, columns)].mean())
    data, _ = as_frame(dense)
    assert model.cost == pytest.approx(price(data, None, model.partitions, kinds=KINDS), rel=1e-12)
    assert all(type(value) is int for group in model.partitions["row"].groups for value in group)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_every_format_is_read_alike(found, name, kind):
    dense, model = found
    matrix = getattr(sparse, f"{name}_{kind}")(dense)
    assert price(matrix, None, model.partitions) == pytest.approx(model.cost, rel=1e-12)
    assert price(matrix.astype(bool), None, model.partitions) == price(matrix, None, model.partitions)
    assert np.array_equal(model.transform(matrix), model.transform(sparse.csr_matrix(dense)))


def test_parts_of_entries_come_row_by_row(found):
    dense, model = found
    row, column = np.nonzero(dense)
    parts = model.transform(sparse.coo_matrix(dense))
    assert parts[:, 0].tolist() == model.part_of("row", row).tolist()
    assert parts[:, 1].tolist() == model.part_of("column", column).tolist()
    cells = model.cell_of(sparse.csc_matrix(dense))
    assert np.bincount(cells).tolist() == model.cells.rows.tolist()
    assert np.array_equal(model.transform(np.column_stack([row, column])), parts)


def test_entries_are_weights():
    rng = np.random.default_rng(0)
    dense = planted() * rng.integers(1, 5, (60, 40))
    data, weights = as_frame(dense)
    groups = {"row": [range(30), range(30, 60)], "column": [range(25), range(25, 40)]}
    expected = Model.from_partitions(data, None, groups, weights=weights, kinds=KINDS)
    for dtype in (np.int8, np.uint16, np.int64, np.uint64, np.float32, np.float64):
        model = Model.from_partitions(sparse.csr_matrix(dense.astype(dtype)), None, groups)
        assert model.cost == expected.cost
        assert np.array_equal(model.cells.counts, expected.cells.counts)
    presence = Model.from_partitions(sparse.csr_matrix(dense) != 0, None, groups)
    assert presence.n_rows == np.count_nonzero(dense)


def test_entries_that_are_stored_twice_are_summed_and_zeros_are_dropped():
    row, column, values = [1, 0, 1, 2, 2, 0], [0, 1, 0, 2, 2, 0], np.array([100, 2, 100, 5, -5, 1], dtype=np.int8)
    matrix = sparse.coo_matrix((values, (row, column)), shape=(4, 4))
    model = Model.from_partitions(matrix, None, {})
    assert model.n_rows == 203  # 100 + 100 is beyond int8
    assert model.transform(matrix).shape == (3, 2)
    assert [p.n_values.tolist() for p in model.partitions.values()] == [[2], [2]]  # row 2 and column 2 have no entry
    assert sorted(model.partitions["row"].groups[0]) == [0, 1]
    assert model.part_of("row", [3], unknown="neutral").tolist() == [-1]
    either = sparse.coo_matrix((np.array([True, True, True]), ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert Model.from_partitions(either, None, {}).n_rows == 2
    assert np.array_equal(matrix.data, values)  # inputs stay as they are
    halves = sparse.coo_matrix(([0.5, 0.5, 1.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert Model.from_partitions(halves, None, {}).n_rows == 2


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (sparse.csr_matrix([[0.5, 1.0], [0.0, 1.0]]), ValueError, "pass matrix != 0 for presence"),
        (sparse.csr_matrix([[-1, 1], [0, 1]]), ValueError, "pass matrix != 0 for presence"),
        (sparse.csr_matrix([[np.nan, 1.0], [0.0, 1.0]]), ValueError, "pass matrix != 0 for presence"),
        (sparse.csr_matrix([[np.inf, 1.0], [0.0, 1.0]]), ValueError, "pass matrix != 0 for presence"),
        (sparse.csr_matrix(np.array([[1j, 1], [0, 1]])), TypeError, "sparse matrix of complex128"),
        (sparse.csr_matrix(np.array([[2**60, 1], [0, 1]])), ValueError, "sum to more than"),
        (sparse.csr_matrix(np.array([[2**60, 1]], dtype=np.uint64)), ValueError, "entries of more than"),
        (sparse.csr_matrix((3, 4)), ValueError, "sparse matrix without entries"),
        (sparse.csr_matrix((0, 4)), ValueError, "sparse matrix without entries"),
        (sparse.coo_array([1, 0, 2]), ValueError, "sparse array of 1 dimension"),
    ],
)  # fmt: skip
def test_what_is_no_matrix_of_rows(matrix, error, message):
    for call in (optimize, lambda matrix: price(matrix, None, {})):
        with pytest.raises(error, match=message):
            call(matrix)


def test_targets_and_weights_beside_a_matrix_are_refused():
    matrix = sparse.csr_matrix(planted())
    with pytest.raises(TypeError, match=r"sparse csr_matrix.*without a target.*toarray\(\)"):
        optimize(matrix, np.zeros(60))
    with pytest.raises(TypeError, match=r"without a target.*toarray\(\)"):
        optimize_each(matrix, np.zeros(60))
    with pytest.raises(ValueError, match="optimize_each needs a target"):
        optimize_each(matrix)
    with pytest.raises(TypeError, match="whose entries are the weights"):
        optimize(matrix, weights=np.ones(60))


def test_the_order_of_rows_may_matter():
    dense = np.zeros((40, 30), dtype=int)
    dense[:20, :15] = dense[20:, 15:] = 1
    model = optimize(sparse.csr_matrix(dense), kinds={"row": "numerical"}, search=Search(effort=1))
    assert model.partitions["row"].bounds.tolist() == [19.5]
    assert model.partitions["column"].kind == "categorical"
    assert model.edit("row", bounds=[10.5]).delta > 0


def test_a_model_of_a_matrix_comes_back_and_takes_others(found):
    _, model = found
    again = Model.from_json(model.to_json())
    other = sparse.csr_matrix(np.ones((70, 40)) * 0.5)  # what counts for parts is where entries are
    assert again.transform(other, unknown="neutral").shape == (2800, 2)
    assert np.array_equal(again.transform(other, unknown="neutral")[-1, 0], -1)
    edited = model.edit("row", groups=[range(60)])
    assert edited.informative == ["column"]
    assert edited.cost > edited.null_cost  # groups of one variable alone tell nothing


def test_many_entries_are_read_without_objects():
    rng = np.random.default_rng(1)
    n, v = 1_000_000, 20_000
    matrix = sparse.coo_matrix((np.ones(n, dtype=bool), (rng.integers(0, v, n), rng.integers(0, v, n))), shape=(v, v))
    table = read_table(matrix, None, None, None, NOT_GIVEN)
    columns = [table.column(name, None) for name in table.names]
    assert table.inputs.n_rows == matrix.tocsr().nnz
    assert all(column.codes.dtype == np.int32 for column in columns)
