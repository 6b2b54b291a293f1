"""A known amount of CPU time, spent on purpose.

It never sleeps; it holds the thread until done.
"""

from __future__ import annotations

import time

_STEP = range(100)  # a few microseconds of work between two looks at the clock


def burn(cpu_ns: int) -> int:
    """CPU time that this thread really spent here: `cpu_ns` and at most a step more, by the thread's own clock."""
    start_ns = time.thread_time_ns()
    while (spent_ns := time.thread_time_ns() - start_ns) < cpu_ns:
        sum(_STEP)
    return spent_ns
