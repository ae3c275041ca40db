"""Some rows of a file that is too large, each with the same chance, in one pass and in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from gridmodl.cli.data.arrowfiles import ROWS


def sampled(batches: Iterable[pa.RecordBatch], n_rows: int | None, seed: int | None) -> Iterator[pa.RecordBatch]:
    """At most `n_rows` rows, drawn at random; all if it is None. The same seed draws the same rows of the same file."""
    if n_rows is None:
        yield from batches
        return
    rng = np.random.default_rng(seed)
    kept: list[pa.RecordBatch] = []
    keys, places, n_seen = np.empty(0), np.empty(0, dtype=np.int64), 0
    for batch in batches:
        drawn = rng.random(batch.num_rows)
        kept.append(batch)
        keys, places = np.append(keys, drawn), np.append(places, n_seen + np.arange(batch.num_rows))
        n_seen += batch.num_rows
        if len(keys) > 2 * n_rows + ROWS:
            kept, keys, places = _lowest(kept, keys, places, n_rows)
    kept, keys, places = _lowest(kept, keys, places, n_rows)
    if kept:
        rows = pa.Table.from_batches(kept).take(np.argsort(places))
        yield from rows.to_batches(max_chunksize=ROWS)


def _lowest(
    kept: list[pa.RecordBatch], keys: np.ndarray, places: np.ndarray, n_rows: int
) -> tuple[list[pa.RecordBatch], np.ndarray, np.ndarray]:
    """Those rows whose random keys are the lowest so far: these are a sample of all that was seen."""
    if len(keys) <= n_rows:
        return kept, keys, places
    chosen = np.argpartition(keys, n_rows)[:n_rows]
    rows = pa.Table.from_batches(kept).take(chosen)
    return rows.to_batches(), keys[chosen], places[chosen]
