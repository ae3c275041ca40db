"""Values that a joint grid of two variables has never seen, put into its groups: each where it costs least.

A new value brings rows of its own. What is priced is the data with this value and its rows added, and no other new one:
N, V, the cells, the groups and all constants of the criterion are those of that data. It joins a group that is there
and makes none of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridmodl.frames import Name
from gridmodl.modelgroups import ModelGroups
from gridmodl.search.joining import Joining, join_prices
from gridmodl.terms import Criterion

if TYPE_CHECKING:
    from gridmodl.model import Model

# Prices by value and group that are at hand at a time, 64 MB.
MAX_PRICES = 2**23


def groups_of_new(
    model: Model,
    criterion: Criterion,
    name: Name,
    first: NDArray[np.int64],
    part: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The group of a categorical variable that each new value of it joins at the least cost; of equals the first.

    Parameters
    ----------
    model : Model
        A joint grid of two variables.
    criterion : Criterion
        What priced it.
    name : str
        The variable; its partition has no groups without rows.
    first : ndarray of shape (n + 1,)
        Where the entries of each new value begin.
    part : ndarray
        Of each entry, the part of the other variable.
    rows : ndarray
        Of each entry, its rows, 1 or more.

    Returns
    -------
    ndarray of shape (n,)
        The number of the group; -1 for a value without entries, of which nothing is known.
    """
    known = ModelGroups(model, criterion, name)
    ends = np.append(0, np.cumsum(rows))
    total = ends[first[1:]] - ends[first[:-1]]
    joining = Joining(first, part, rows, np.ones(len(total), dtype=np.int64))
    found = np.full(len(total), -1, dtype=np.int64)
    facts, step = known.facts(n_more=1), max(1, MAX_PRICES // len(known.groups.rows))
    order = np.argsort(total, kind="stable")
    sizes, begin = np.unique(total[order], return_index=True)
    for n, alike in zip(sizes.tolist(), np.split(order, begin[1:]), strict=True):  # of equal rows, so of the same `p`
        if n == 0:
            continue
        p, facts_with = known.prepared(facts, n)
        for at in range(0, len(alike), step):
            which = alike[at : at + step]
            prices = join_prices(type(criterion), p, facts_with, known.groups, joining, which)
            found[which] = prices.argmin(axis=1)
    return found
