"""How one child is brought to its end: by its own signal, then TERM, then KILL, and its ports are looked at.

It must not raise: whatever stays behind is in the report.
"""

from __future__ import annotations

import signal
import subprocess
import time
from dataclasses import dataclass

from weighbridge.rig.processes.child import Child, StopReport
from weighbridge.rig.processes.ports import is_free, owner
from weighbridge.rig.tree import process_tree

_POLL_S = 0.03


@dataclass(frozen=True)
class Patience:
    """How long each step of a stop may take, in seconds."""

    grace_s: float
    term_s: float = 3.0
    kill_s: float = 10.0
    children_s: float = 0.5
    ports_s: float = 2.0


def stop(child: Child, patience: Patience) -> StopReport:
    """How the child and all that belongs to it ended."""
    began = time.monotonic()
    by = _ask(child, patience)
    left = process_tree.wait_gone(child.members, patience.children_s if by == "signal" and patience.term_s else 0.0)
    orphan_count = _count_orphans(child, left)
    survivors: tuple[process_tree.Member, ...] = ()
    if left:
        # Who let a first TERM pass gets no long wait for the second.
        ignored_term = by == "term" and child.service.stop_signal is signal.SIGTERM
        term_s = min(patience.term_s, patience.children_s) if ignored_term else patience.term_s
        ending = process_tree.end(child.members, term_s=term_s, kill_s=patience.kill_s)
        by = "kill" if ending.killed else "term"
        survivors = ending.left
    exit_code = _reap(child)
    busy = _busy_ports(child.service.ports, patience.ports_s)
    wall_s = time.monotonic() - began
    return StopReport(
        child.service.name, by, exit_code, wall_s, orphan_count, tuple(member.pid for member in survivors), busy
    )


def _ask(child: Child, patience: Patience) -> str:
    if not child.alive():
        return "exited"
    if patience.grace_s > 0:
        # To the first process alone: it knows in which order its workers go.
        process_tree.send([child.root], child.service.stop_signal)
        try:
            child.process.wait(patience.grace_s)
        except subprocess.TimeoutExpired:
            return "term"
    return "signal"


def _count_orphans(child: Child, left: tuple[process_tree.Member, ...]) -> int:
    table = process_tree.snapshot()
    rows = [table[member.pid] for member in left if member.pid in table]
    return sum(1 for row in rows if row.session != child.pid)


def _reap(child: Child) -> int | None:
    for _ in range(2):
        try:
            return child.process.wait(2.0)
        except subprocess.TimeoutExpired:
            # Looks like a zombie while its other threads live on.
            child.process.kill()
    return child.process.poll()


def _busy_ports(ports: tuple[int, ...], within_s: float) -> tuple[str, ...]:
    deadline = time.monotonic() + within_s
    while (busy := [port for port in ports if not is_free(port)]) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return tuple(f"port {port} by {owner(port)}" for port in busy)
