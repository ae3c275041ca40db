"""Criteria that are hard to search."""

from __future__ import annotations

import math

from gridmodl import Criterion


class Rough(Criterion):
    """A price of the number of parts that no slope follows: 3 and 6 parts are cheap."""

    name = "rough"
    problems = {"classes"}

    @staticmethod
    def variable(p, variable, n_parts):
        return 0.0 if n_parts % 3 == 0 else 4.0

    @staticmethod
    def cell(p, cell):
        return cell.rows * cell.rows / 50.0


class Saturating(Rough):
    """Infinity, the price of parts that cannot keep a limit, is finite once finished; and more parts are cheaper."""

    name = "saturating"

    @staticmethod
    def finish(p, total, shape):
        return math.atan(total) - 2.0 * shape.n_cells


class Cancelling(Criterion):
    """Terms of parts and cells that are huge and cancel: their rounding is larger than what a move saves."""

    name = "cancelling"
    problems = {"classes"}

    @staticmethod
    def part(p, variable, part):
        return 1e7 * math.sqrt(part.rows)

    @staticmethod
    def cell(p, cell):
        cost = 1.0 - 1e7 * math.sqrt(cell.rows)
        for n in cell.counts:
            if n > 0:
                cost -= n * math.log(n / cell.rows)
        return cost
