"""What is done to the process so that a window is disturbed as little as can be.

Everything here is asked for without privilege and may be refused; what was had is told.
"""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
_SLICE_NS = 100_000


@contextmanager
def no_collections() -> Iterator[None]:
    """Keep garbage collection off during a window: a collection is a pause of milliseconds."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def raise_file_limit() -> None:
    """Raise the soft limit of open files to the hard one: every connection is a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):  # macOS has a lower ceiling of its own; the soft limit then stays
            return


class _SchedAttr(ctypes.Structure):
    """struct sched_attr of Linux, version 0; for ordinary tasks `runtime` is the wanted slice."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def ask_short_slice() -> bool:
    """Whether the kernel took our wish for short time slices: who uses little is let in sooner beside busy tasks."""
    number = _SCHED_SETATTR.get(platform.machine())
    if sys.platform != "linux" or number is None:
        return False
    wish = _SchedAttr(size=ctypes.sizeof(_SchedAttr), nice=os.nice(0), runtime=_SLICE_NS)
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(number, 0, ctypes.byref(wish), 0)) == 0
