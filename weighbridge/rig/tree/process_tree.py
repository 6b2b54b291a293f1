"""Which processes belong to a child of ours, and how they are ended.

Standard library and psutil only: the guardian starts with it. It must never signal a process that is not proven ours
by pid and start time.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import psutil

TAG_VARIABLE = "WEIGHBRIDGE_TAG"
_POLL_S = 0.03


class Member(NamedTuple):
    """One process, named so that a reused pid is not mistaken for it: `start` is its start time as text."""

    pid: int
    start: str


class ProcessRow(NamedTuple):
    """What one look at the process table says about a process that is not a zombie."""

    pid: int
    parent: int
    group: int
    session: int
    start: str


class Ending(NamedTuple):
    """How a set of processes ended: `killed` when KILL was needed, `left` when even that did not do."""

    killed: bool
    left: tuple[Member, ...]


def start_of(pid: int) -> str | None:
    """Start time of a living process as text; None when there is none or only its zombie is left."""
    row = _row(pid)
    return row.start if row else None


def is_alive(member: Member) -> bool:
    """Whether this very process lives; a zombie does not."""
    return start_of(member.pid) == member.start


def snapshot() -> dict[int, ProcessRow]:
    """Every living process that we can see, by pid."""
    rows = (_row(pid) for pid in psutil.pids())
    return {row.pid: row for row in rows if row}


def find(roots: Iterable[Member], tag: str) -> tuple[Member, ...]:
    """Living processes that belong to `roots` or carry `tag`, with all their descendants; never ourselves.

    A process belongs to a root by session, by group, by parent links, or by the tag in its environment, which it
    keeps when it leaves the group. A tag that ends in a dot stands for all tags that begin with it.
    """
    table = snapshot()
    ours: set[int] = set()
    for root in roots:
        row = table.get(root.pid)
        if row and row.start != root.start:
            continue  # the number belongs to a stranger by now
        ours.update(pid for pid, other in table.items() if root.pid in (pid, other.session, other.group))
    ours.update(pid for pid in table if pid not in ours and _carries(pid, tag))
    _add_descendants(ours, table)
    ours.discard(os.getpid())
    return tuple(Member(pid, table[pid].start) for pid in sorted(ours))


def send(members: Iterable[Member], number: signal.Signals) -> None:
    """Nothing; every member that still is itself has got the signal (and is woken when it was stopped)."""
    for member in members:
        if not is_alive(member):
            continue
        try:
            os.kill(member.pid, number)
            os.kill(member.pid, signal.SIGCONT)
        except (ProcessLookupError, PermissionError):
            continue  # gone in between, or not ours to signal: the next look tells


def wait_gone(look: Callable[[], tuple[Member, ...]], within_s: float) -> tuple[Member, ...]:
    """Members that are still there after `within_s`; returns as soon as none is left."""
    deadline = time.monotonic() + within_s
    while (left := look()) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return left


def end(look: Callable[[], tuple[Member, ...]], *, term_s: float = 3.0, kill_s: float = 10.0) -> Ending:
    """How all that `look` finds ended: TERM, `term_s` of patience, then KILL again and again until nobody is left.

    Without patience there is no TERM.
    """
    members = look()
    if members and term_s > 0:
        send(members, signal.SIGTERM)
        members = wait_gone(look, term_s)
    if not members:
        return Ending(killed=False, left=())
    deadline = time.monotonic() + kill_s
    while (left := look()) and time.monotonic() < deadline:
        # Looked up anew each time: a member may have forked since.
        send(left, signal.SIGKILL)
        time.sleep(_POLL_S)
    return Ending(killed=True, left=left)


def _add_descendants(pids: set[int], table: dict[int, ProcessRow]) -> None:
    children: dict[int, list[int]] = {}
    for row in table.values():
        children.setdefault(row.parent, []).append(row.pid)
    pending = list(pids)
    while pending:
        for child in children.get(pending.pop(), ()):
            if child not in pids:
                pids.add(child)
                pending.append(child)


def _carries(pid: int, tag: str) -> bool:
    wanted = f"{TAG_VARIABLE}={tag}"
    try:
        if sys.platform == "linux":
            entries = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
        else:
            entries = [f"{name}={value}" for name, value in psutil.Process(pid).environ().items()]
    except (OSError, psutil.Error):
        return False  # gone, or another user's
    return any(entry == wanted or (tag.endswith(".") and entry.startswith(wanted)) for entry in entries)


def _row(pid: int) -> ProcessRow | None:
    try:
        return _row_of_proc(pid) if sys.platform == "linux" else _row_of_psutil(pid)
    except (OSError, psutil.Error):
        return None


def _row_of_proc(pid: int) -> ProcessRow | None:
    # One read instead of psutil's five. The start time is kept in ticks since boot: seconds since the epoch
    # move when the clock is set.
    text = Path(f"/proc/{pid}/stat").read_bytes()
    fields = text[text.rindex(b")") + 2 :].split()
    if fields[0] in (b"Z", b"X", b"x"):
        return None
    return ProcessRow(pid, int(fields[1]), int(fields[2]), int(fields[3]), fields[19].decode())


def _row_of_psutil(pid: int) -> ProcessRow | None:
    process = psutil.Process(pid)
    if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
        return None
    return ProcessRow(pid, process.ppid(), os.getpgid(pid), os.getsid(pid), f"{process.create_time():.6f}")
