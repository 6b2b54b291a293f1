"""A control group of its own for a gateway, so that its CPU seconds are counted whole: ended processes included.

It makes no controller work, moves no process but ours, and touches no group whose name does not begin with our tag.
A group that would change how the gateway is scheduled is not made: it would change what is measured.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weighbridge.rig.machine.filesystem_root import HERE, Machine

PREFIX = "weighbridge-"
CgroupKind = Literal["cgroup2", "cgroup1"]
_POLL_S = 0.02
_ACCOUNT = "cpuacct"


class NoGroup(Exception):
    """No group can be made: one clause that says why."""


@dataclass(frozen=True)
class Parent:
    """The group that we are in, below which ours are made."""

    path: Path
    kind: CgroupKind


@dataclass(frozen=True)
class ControlGroup:
    """A group of our own; it counts from zero and holds one service."""

    path: Path
    kind: CgroupKind

    def add(self, pid: int) -> bool:
        """Whether a process, with all its threads, is in the group now; False for one that has gone."""
        try:
            (self.path / "cgroup.procs").write_text(f"{pid}\n")
        except OSError:
            return False
        return True

    def pids(self) -> frozenset[int]:
        """Return the processes in the group; empty when it has gone."""
        try:
            return frozenset(int(word) for word in (self.path / "cgroup.procs").read_text().split())
        except OSError:
            return frozenset()

    @property
    def step_s(self) -> float:
        """Smallest difference that the kernel shows, in seconds."""
        return 1e-6 if self.kind == "cgroup2" else 1e-9

    def cpu_s(self) -> float:
        """CPU seconds of all that is and was in the group. Raises OSError when it has gone."""
        if self.kind == "cgroup1":
            return int((self.path / "cpuacct.usage").read_text()) / 1e9
        for line in (self.path / "cpu.stat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == "usage_usec":
                return int(value) / 1e6
        raise OSError("cpu.stat has no usage_usec")

    def remove(self, within_s: float = 1.0) -> bool:
        """Whether the group has gone; the kernel calls it busy for a moment after the last process was waited for."""
        deadline = time.monotonic() + within_s
        while not _removed(self.path):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
        return True


def make(tag: str, pid: int, machine: Machine = HERE) -> ControlGroup:
    """Make a new group named after a child's tag, with that process in it. Raises NoGroup."""
    refused: list[str] = []
    for parent in find_parents(machine, refused):
        group = ControlGroup(parent.path / f"{PREFIX}{tag}", parent.kind)
        try:
            group.path.mkdir()
        except OSError as error:
            refused.append(f"{parent.kind}: no group can be made here ({error.strerror})")
            continue
        why = _unfit(group, pid)
        if why is None:
            return group
        group.remove()
        refused.append(f"{parent.kind}: {why}")
    raise NoGroup("; ".join(refused) or "no control groups are mounted")


def remove_leftovers(tag: str, machine: Machine = HERE) -> tuple[str, ...]:
    """Names of the groups whose tag begins with `tag` and that were removed; those with a process in them stay."""
    left = [
        ControlGroup(path, parent.kind)
        for parent in find_parents(machine, [])
        for path in sorted(parent.path.glob(f"{PREFIX}{tag}*"))
    ]
    return tuple(group.path.name for group in left if group.remove())


def find_parents(machine: Machine, refused: list[str]) -> tuple[Parent, ...]:
    """Find the groups that we are in, the best first; `refused` gets a clause for each that is not fit."""
    own = _own_paths(machine)
    found = []
    for kind, options, root, point in _mounts(machine):
        path = own.get("" if kind == "cgroup2" else _ACCOUNT)
        if path is None or not (path == root or path.startswith(root.rstrip("/") + "/")):
            continue
        folder = machine.path(point) / path[len(root.rstrip("/")) :].lstrip("/")
        if why := _is_scheduled(kind, options, folder):
            refused.append(f"{kind}: {why}")
            continue
        found.append(Parent(folder, kind))
    return tuple(sorted(found, key=lambda parent: parent.kind, reverse=True))


def _own_paths(machine: Machine) -> dict[str, str]:
    """Path of our own group by controller; version 2 has the empty name."""
    paths: dict[str, str] = {}
    for line in (machine.text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _mounts(machine: Machine) -> list[tuple[CgroupKind, tuple[str, ...], str, str]]:
    """Kind, options of the hierarchy, root and mount point of each hierarchy that counts CPU."""
    found: list[tuple[CgroupKind, tuple[str, ...], str, str]] = []
    for line in (machine.text("/proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        fields, words = left.split(), right.split()
        if len(fields) < 5 or len(words) < 3:
            continue
        options = tuple(words[2].split(","))
        if words[0] == "cgroup2":
            found.append(("cgroup2", options, fields[3], fields[4]))
        elif words[0] == "cgroup" and _ACCOUNT in options:
            found.append(("cgroup1", options, fields[3], fields[4]))
    return found


def _is_scheduled(kind: CgroupKind, options: tuple[str, ...], folder: Path) -> str | None:
    """Why a group made there would get a CPU share of its own, None when it would not."""
    if kind == "cgroup1":
        return "it also shares out the CPU" if "cpu" in options else None
    with suppress(OSError):
        enabled = (folder / "cgroup.subtree_control").read_text().split()
        if "cpu" in enabled or "cpuset" in enabled:
            return "its groups also share out the CPU"
    return None


def _unfit(group: ControlGroup, pid: int) -> str | None:
    try:
        group.cpu_s()
    except (OSError, ValueError):
        return "the CPU counter of a group cannot be read"
    return None if group.add(pid) else "a process cannot be put into a group here"


def _removed(path: Path) -> bool:
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
