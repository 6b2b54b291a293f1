"""What a state directory lies on: filesystem, device, mount options, and what one flush costs there.

It reads no serial, no identifier and no path into the record; mount options can name users, so only known words are
kept.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import psutil

from weighbridge.record.host import DiskFacts
from weighbridge.rig.machine.filesystem_root import HERE, Machine
from weighbridge.rig.machine.flush_cost import flush_cost

_ATIME_OPTIONS = {"atime", "noatime", "relatime", "strictatime", "lazytime", "nodiratime"}
_SYNCS = {"sync", "async", "dirsync", "barrier", "nobarrier", "discard", "nodiscard"}
_OPTIONS = (
    {"ro", "rw", "inode64", "inode32", "ssd", "nossd", "autodefrag", "compress", "dax"} | _ATIME_OPTIONS | _SYNCS
)
_OPTION_KEYS = {"data", "barrier", "commit", "logbufs", "logbsize", "discard", "compress", "errors"}
_NETWORK = ("nfs", "cifs", "smb", "9p", "virtiofs", "ceph", "glusterfs", "fuse.sshfs", "afs", "lustre")
_VIRTUAL_WORDS = ("qemu", "virtual", "vbox", "vmware", "msft", "persistentdisk", "amazon elastic block store")
_BUSES = ("nvme", "virtio", "usb", "mmc", "ata", "iscsi", "vmbus", "xen", "scsi")


@dataclass(frozen=True)
class Mount:
    """One line of the kernel's table of mounts."""

    device: str
    point: str
    filesystem: str
    options: tuple[str, ...]


def read_disk(name: str, path: Path, path_env: str, machine: Machine = HERE) -> DiskFacts:
    """Facts of the disk under `path`, its flush cost among them (about a second); `name` is the matrix's.

    Raises InputError when nothing can be written there.
    """
    cost = flush_cost(path, path_env)
    return with_cost(describe(name, path, machine), cost.p50_ms, cost.p99_ms, cost.by)


def with_cost(facts: DiskFacts, p50_ms: float, p99_ms: float, by: str) -> DiskFacts:
    """Return the same disk with another reading of its flush cost."""
    return facts.changed(flush_p50_ms=p50_ms, flush_p99_ms=p99_ms, flush_by=by)


def describe(name: str, path: Path, machine: Machine = HERE) -> DiskFacts:
    """Facts of the disk under `path` that need no writing."""
    mount = find_mount(path, machine) if machine.is_linux else _mount_elsewhere(path)
    if mount is None:
        return DiskFacts(name=name, filesystem=None, model=None, bus=None)
    device = _device(mount.device, machine)
    model = _model(device)
    bus = _bus(device)
    return DiskFacts(
        name=name,
        filesystem=mount.filesystem,
        model=model,
        bus=bus,
        mount_options=known_options(mount.options),
        flags=_flags(mount, device, model, bus),
    )


def device_folder(path: Path, machine: Machine = HERE) -> Path | None:
    """Folder in /sys of the whole device under `path`; None for tmpfs, overlay and what the kernel does not know."""
    mount = find_mount(path, machine)
    return _device(mount.device, machine) if mount else None


def find_mount(path: Path, machine: Machine = HERE) -> Mount | None:
    """Find the mount that holds `path`: by device number, else by the longest mount point above it."""
    mounts = read_mounts(machine)
    real = path.resolve()
    number = real.stat().st_dev
    above = [mount for mount in mounts if real.is_relative_to(mount.point)]
    same = [mount for mount in above if mount.device == f"{os.major(number)}:{os.minor(number)}"]
    # The last of equal length is the one mounted on top.
    return max(enumerate(same or above), key=lambda item: (len(item[1].point), item[0]), default=(0, None))[1]


def read_mounts(machine: Machine = HERE) -> tuple[Mount, ...]:
    """Every mount that this process sees."""
    found = []
    for line in (machine.text("/proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) < 6 or not kind:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal.group(1), 8)), fields[4])
        extra = kind[2].split(",") if len(kind) > 2 else []
        found.append(Mount(fields[2], point, kind[0], tuple(dict.fromkeys([*fields[5].split(","), *extra]))))
    return tuple(found)


def known_options(options: tuple[str, ...]) -> tuple[str, ...]:
    """Keep the options that tell how the disk is used; anything that could name a user or a host is left out."""
    return tuple(word for word in options if word in _OPTIONS or word.partition("=")[0] in _OPTION_KEYS)


def _mount_elsewhere(path: Path) -> Mount | None:
    real = str(path.resolve())
    above = [part for part in psutil.disk_partitions(all=True) if Path(real).is_relative_to(part.mountpoint)]
    best = max(above, key=lambda part: len(part.mountpoint), default=None)
    return Mount("", best.mountpoint, best.fstype, tuple(best.opts.split(","))) if best else None


def _device(number: str, machine: Machine) -> Path | None:
    """Folder of the whole device in /sys: of a partition its disk, of a mapping the only device below it."""
    place = machine.path(f"/sys/dev/block/{number}")
    if not number or not place.exists():
        return None
    folder = place.resolve()
    if (folder / "partition").exists():
        folder = folder.parent
    below = list((folder / "slaves").glob("*"))
    if len(below) == 1:
        folder = below[0].resolve()
        folder = folder.parent if (folder / "partition").exists() else folder
    return folder


def _model(device: Path | None) -> str | None:
    if device is None:
        return None
    try:
        return " ".join((device / "device" / "model").read_text(errors="replace").split()) or None
    except OSError:
        return None


def _bus(device: Path | None) -> str | None:
    """How the device hangs on the machine, by the kernel's own path to it."""
    if device is None:
        return None
    parts = device.parts
    return next((bus for bus in _BUSES if any(re.match(rf"{bus}(?:\d|$|-)", part) for part in parts)), None)


def _flags(mount: Mount, device: Path | None, model: str | None, bus: str | None) -> tuple[str, ...]:
    name = device.name if device else ""
    is_virtual = bus in {"virtio", "xen", "vmbus"} or any(word in (model or "").lower() for word in _VIRTUAL_WORDS)
    signs = {
        "virtual": is_virtual,
        "loop": name.startswith("loop"),
        "tmpfs": mount.filesystem in {"tmpfs", "ramfs"} or name.startswith(("ram", "zram")),
        "overlay": mount.filesystem in {"overlay", "aufs"},
        "network": mount.filesystem.startswith(_NETWORK),
    }
    return tuple(flag for flag, is_so in signs.items() if is_so)
