"""Prices of intervals, cuts and partitions, with one cell a part and with many."""

from __future__ import annotations

import numpy as np
import pytest

from gridmodl.jit.template import bind
from gridmodl.search.moves import best_cut


@pytest.mark.parametrize("name", ["modl", "gini", "g2"])
@pytest.mark.parametrize("n_cells", [1, 3])
def test_price_of_a_partition_from_nothing(make_tiny, n_cells, name):
    tiny = make_tiny(1, n_cells, name)
    for starts in tiny.all_starts():
        assert tiny.task.priced(starts).cost == pytest.approx(tiny.price(starts), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n_cells", [1, 3])
@pytest.mark.parametrize("min_rows", [1, 6])
def test_best_cut_is_the_best_of_all_cuts(make_tiny, n_cells, min_rows):
    tiny = make_tiny(2, n_cells)
    kernel = bind(best_cut, tiny.task.criterion)
    for lo in range(7):
        for hi in range(lo + 1, 8):
            whole, price, bound = kernel(tiny.task.atoms, tiny.setting, lo, hi, tiny.task.buffers, min_rows)
            assert whole == pytest.approx(tiny.price_interval(lo, hi), rel=1e-12)
            cuts = {
                cut: tiny.price_interval(lo, cut) + tiny.price_interval(cut, hi)
                for cut in range(lo + 1, hi)
                if min(tiny.counts[lo:cut].sum(), tiny.counts[cut:hi].sum()) >= min_rows
            }
            if cuts:
                assert price == pytest.approx(min(cuts.values()), rel=1e-12)
                assert cuts[bound] == pytest.approx(price, rel=1e-12)
            else:
                assert (price, bound) == (np.inf, lo)
            assert not any(buffer.any() for buffer in tiny.task.buffers)  # as clean as it was
