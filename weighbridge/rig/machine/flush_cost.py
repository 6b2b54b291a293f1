"""What one flush costs in a directory: 1 KiB written and flushed, again and again, by fio or by a loop of ours.

Called for each disk. It leaves no file behind. The figure rises with a busy CPU as much as with a slow disk: on
a machine without a free core a sleeper is woken only at the scheduler's next tick.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weighbridge.errors import InputError
from weighbridge.quantiles import percentile
from weighbridge.rig.machine.one_shot import ask

BLOCK_BYTES = 1024
FLUSH_COUNT = 256
_FLUSHING_LIMIT_S = 5.0
_FIO_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class FlushCost:
    """Percentiles of one flush, milliseconds, and what measured them."""

    p50_ms: float
    p99_ms: float
    by: str


def flush_cost(folder: Path, path_env: str) -> FlushCost:
    """Cost of a 1 KiB `fdatasync` in `folder`, by the fio on PATH, else by the built-in loop.

    The file exists and is flushed before, so that its growth is not measured. Raises InputError when nothing can
    be written there.
    """
    fio = shutil.which("fio", path=path_env)
    try:
        with _file_in(folder) as file:
            return (_by_fio(fio, file, path_env) if fio else None) or _by_loop(file)
    except OSError as error:
        raise InputError(
            f"the folder {folder} of a disk cannot be written: {error.strerror or error}",
            expected="name a folder that you may write, with some megabytes left",
        ) from error


@contextmanager
def _file_in(folder: Path) -> Iterator[Path]:
    file = folder / f"weighbridge-flush-{secrets.token_hex(4)}.tmp"
    try:
        with file.open("xb") as handle:
            handle.write(b"\1" * (BLOCK_BYTES * FLUSH_COUNT))
            handle.flush()
            os.fsync(handle.fileno())
        yield file
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def _by_fio(program: str, file: Path, path_env: str) -> FlushCost | None:
    """Percentiles as fio counts them; None when it fails or says something else than expected."""
    size = BLOCK_BYTES * FLUSH_COUNT
    job = ("--name=flush", f"--filename={file}", "--rw=write", "--overwrite=1", "--fallocate=none")
    sizes = (f"--bs={BLOCK_BYTES}", f"--size={size}", "--fdatasync=1", "--ioengine=psync")
    ends = (f"--runtime={_FLUSHING_LIMIT_S:.0f}", "--thread", "--output-format=json")
    # fio takes a colon in a file name for a separator of several files.
    if ":" in str(file):
        return None
    output = ask(
        [program, *job, *sizes, *ends],
        env={"PATH": path_env, "LANG": "C.UTF-8"},
        timeout_s=_FIO_TIMEOUT_S,
        cwd=file.parent,
    )
    if output is None or output.exit_code != 0:
        return None
    try:
        document = json.loads(output.stdout[output.stdout.index("{") :])
        run = document["jobs"][0]
        ranks = run["sync"]["lat_ns"]["percentile"]
        p50_ms, p99_ms = (float(ranks[rank]) / 1e6 for rank in ("50.000000", "99.000000"))
        return FlushCost(p50_ms, p99_ms, str(document["fio version"])) if run["error"] == 0 else None
    except (ValueError, KeyError, IndexError, TypeError):
        return None


def _by_loop(file: Path) -> FlushCost:
    costs_ms: list[float] = []
    end = time.monotonic() + _FLUSHING_LIMIT_S
    handle = os.open(file, os.O_WRONLY)
    try:
        for number in range(FLUSH_COUNT):
            os.pwrite(handle, b"\2" * BLOCK_BYTES, number * BLOCK_BYTES)
            start_ns = time.perf_counter_ns()
            _flush(handle)
            costs_ms.append((time.perf_counter_ns() - start_ns) / 1e6)
            if time.monotonic() > end:
                break
    finally:
        os.close(handle)
    costs_ms.sort()
    return FlushCost(percentile(costs_ms, 0.5), percentile(costs_ms, 0.99), "built-in loop")


def _flush(handle: int) -> None:
    """Flush to the medium; on macOS only F_FULLFSYNC does that."""
    full: int | None = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(handle, full)
    else:
        os.fdatasync(handle)
