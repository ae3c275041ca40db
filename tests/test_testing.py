"""The plain prices that `check_criterion` holds compiled ones against."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from gridmodl import Criterion
from gridmodl.testing.pairs import plain_pair, random_pair


class Coupled(Criterion):
    """Every part costs something for each part of the target that it is told of."""

    name = "coupled"
    problems = {"joint", "grouped", "numerical"}

    @staticmethod
    def part(p, variable, part, n_target_parts):
        return part.rows + 100.0 * n_target_parts

    @staticmethod
    def cell(p, cell):
        return cell.rows**2


@pytest.mark.parametrize("kind", ["joint", "grouped", "numerical"])
def test_plain_prices_of_pairs_are_those_of_the_oracle(kind):
    rng = np.random.default_rng(5)
    for _ in range(10):
        sample = random_pair(rng, kind)
        price = plain_pair(Coupled(), kind, sample)
        cells = np.nonzero(sample.counts)
        values = [np.repeat(of_cells, sample.counts[cells]) for of_cells in cells]
        for parts in ((sample.all_parts(0)[i], sample.all_parts(1)[i]) for i in (0, -1)):
            columns = [
                naive.Column(
                    values[k].tolist(),
                    parts[k][values[k]].tolist(),
                    categorical=sample.categorical[k],
                    is_target=kind != "joint" and k == 1,
                )
                for k in (0, 1)
            ]
            assert price(*parts) == pytest.approx(naive.price(Coupled(), kind, columns))
