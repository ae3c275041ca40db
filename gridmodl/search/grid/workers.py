"""Worker threads of a search of grids; results do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.starts import with_clock
from gridmodl.search.grid.state import MAX_ROW_COUNTS, GridTask, Worker

BATCH = 8  # rounds that start from the same grid, for any number of threads


class Workers:
    """Threads, each with a worker of its own; a single worker runs in the calling thread."""

    def __init__(self, task: GridTask) -> None:
        self.task = task
        n_fit = MAX_ROW_COUNTS // (task.rows.n_lines * task.n_counts)  # each worker has a table of this size
        self.n_jobs = max(1, min(task.n_jobs, BATCH, n_fit))
        self.all = [Worker(task if self.n_jobs == 1 else with_clock(task))]
        self.pool: ThreadPoolExecutor | None = None

    @property
    def first(self) -> Worker:
        return self.all[0]

    def __enter__(self) -> Workers:
        if self.n_jobs > 1:
            self.all += [Worker(with_clock(self.task)) for _ in range(self.n_jobs - 1)]
            self.pool = ThreadPoolExecutor(self.n_jobs, "gridmodl")
        return self

    def __exit__(self, *error: object) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def each(self, work: Callable[[Worker, int], Grid], n: int) -> Iterator[Grid]:
        """Results of `work` for 0, ..., n - 1, in order; worker w does numbers w, w + n_jobs, ..."""
        if self.pool is None:
            for i in range(n):
                if self.task.clock.stopped:
                    return
                yield work(self.first, i)
            return

        def share(w: int) -> list[Grid]:
            return [work(self.all[w], i) for i in range(w, n, self.n_jobs) if not self.task.clock.stopped]

        futures = [self.pool.submit(share, w) for w in range(self.n_jobs)]
        try:
            for _ in self.task.clock.as_done(futures):
                pass
        except KeyboardInterrupt:
            self.task.clock.stopped = "interrupted"
        except BaseException:
            self.task.clock.stopped = "failed"  # an error of the user's progress callable: stop the threads
            raise
        shares = [future.result() for future in futures]
        for i in range(n):
            if i // self.n_jobs < len(shares[i % self.n_jobs]):
                yield shares[i % self.n_jobs][i // self.n_jobs]
