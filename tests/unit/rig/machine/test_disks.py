"""What a folder lies on and what a flush costs there, with nothing private in it and no file left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from weighbridge.errors import InputError
from weighbridge.rig.machine.disks import describe, find_mount, known_options, read_disk, read_mounts
from weighbridge.rig.machine.filesystem_root import Machine
from weighbridge.rig.machine.flush_cost import FLUSH_COUNT, flush_cost


def machine_with(root: Path, lines: list[str]) -> Machine:
    """A machine with this table of mounts."""
    table = root / "proc" / "self" / "mountinfo"
    table.parent.mkdir(parents=True)
    table.write_text("".join(f"{number} 1 {line}\n" for number, line in enumerate(lines, start=20)))
    return Machine(root, "Linux")


def number_of(path: Path) -> str:
    """Device number of the filesystem that a path lies on, as the kernel writes it."""
    device = path.stat().st_dev
    return f"{os.major(device)}:{os.minor(device)}"


def put_device(root: Path, number: str, place: str, model: str | None = None) -> Path:
    """A device in the kernel's tree, linked from its number."""
    folder = root / "sys" / "devices" / place
    folder.mkdir(parents=True)
    if model is not None:
        (folder / "device").mkdir()
        (folder / "device" / "model").write_text(model)
    link = root / "sys" / "dev" / "block" / number
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(folder)
    return folder


def test_the_mount_is_found_by_device_number_then_by_the_longest_point(tmp_path: Path) -> None:
    """A mount whose number is the folder's wins over a longer path; without one the longest path does."""
    place = tmp_path / "a b" / "state"
    place.mkdir(parents=True)
    spaced = str(tmp_path / "a b").replace(" ", "\\040")
    lines = [
        "0:1 / / rw - rootfs root rw",
        f"0:2 / {spaced} rw,relatime - btrfs /dev/x rw,ssd",
        f"0:3 / {tmp_path}/a rw - wrong /dev/y rw",
    ]
    machine = machine_with(tmp_path / "one", lines)
    found = find_mount(place, machine)
    assert found is not None
    assert (found.filesystem, found.point) == ("btrfs", str(tmp_path / "a b"))
    assert found.options == ("rw", "relatime", "ssd")
    again = machine_with(tmp_path / "two", [*lines, f"{number_of(place)} / {tmp_path} rw - ext4 /dev/z rw"])
    found = find_mount(place, again)
    assert found is not None
    assert found.filesystem == "ext4"


def test_of_two_mounts_on_one_point_the_upper_one_counts(tmp_path: Path) -> None:
    """The kernel lists the one mounted last at the end."""
    machine = machine_with(tmp_path, ["0:1 / / rw - ext4 x rw", "0:2 / / rw - overlay y rw"])
    found = find_mount(tmp_path, machine)
    assert found is not None
    assert found.filesystem == "overlay"


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    """A table that this code does not understand gives no facts, and no error."""
    machine = machine_with(tmp_path, ["", "nonsense", "0:1 / / - "])
    assert read_mounts(machine) == ()
    assert describe("work", tmp_path, machine).filesystem is None


def test_only_known_options_are_kept() -> None:
    """What names a user, a path or a server is left out."""
    options = (
        "rw",
        "relatime",
        "resuid=65534",
        "data=ordered",
        "username=someone",
        "lowerdir=/home/x",
        "addr=10.1.1.1",
    )
    assert known_options(options) == ("rw", "relatime", "data=ordered")


def test_a_partition_has_model_and_bus_of_its_disk(tmp_path: Path) -> None:
    """Model without double blanks, bus from the kernel's own path, no flag for a real disk."""
    number = number_of(tmp_path)
    machine = machine_with(tmp_path, [f"{number} / / rw - xfs /dev/nvme0n1p2 rw"])
    disk = tmp_path / "sys" / "devices" / "pci0" / "nvme" / "nvme0" / "nvme0n1"
    part = put_device(tmp_path, number, "pci0/nvme/nvme0/nvme0n1/nvme0n1p2")
    (part / "partition").write_text("2")
    (disk / "device").mkdir()
    (disk / "device" / "model").write_text("Sample  SSD 980   \n")
    (disk / "device" / "serial").write_text("S3CRET")
    facts = describe("work", tmp_path, machine)
    assert (facts.model, facts.bus, facts.flags) == ("Sample SSD 980", "nvme", ())
    assert "S3CRET" not in facts.to_json()


def test_an_encrypted_disk_is_looked_through(tmp_path: Path) -> None:
    """A mapping with one device below it is described by that device."""
    number = number_of(tmp_path)
    machine = machine_with(tmp_path, [f"{number} / / rw - ext4 /dev/mapper/x rw"])
    below = put_device(tmp_path, "8:0", "pci0/ata1/host0/block/sda", model="Sample HDD")
    mapping = put_device(tmp_path, number, "virtual/block/dm-0")
    (mapping / "slaves").mkdir()
    (mapping / "slaves" / "sda").symlink_to(below)
    facts = describe("work", tmp_path, machine)
    assert (facts.model, facts.bus) == ("Sample HDD", "ata")


@pytest.mark.parametrize(
    ("filesystem", "place", "model", "flags"),
    [
        ("tmpfs", None, None, ("tmpfs",)),
        ("overlay", None, None, ("overlay",)),
        ("nfs4", None, None, ("network",)),
        ("fuse.sshfs", None, None, ("network",)),
        ("ext4", "virtual/block/loop7", None, ("loop",)),
        ("ext4", "pci0/virtio2/block/vda", None, ("virtual",)),
        ("ext4", "pci0/ata1/block/sda", "QEMU HARDDISK", ("virtual",)),
        ("ext4", "pci0/nvme/nvme0/nvme0n1", "Amazon Elastic Block Store", ("virtual",)),
        ("ext4", "pci0/ata1/block/sda", "Sample HDD", ()),
    ],
)
def test_disks_that_are_none_are_flagged(
    tmp_path: Path, filesystem: str, place: str | None, model: str | None, flags: tuple[str, ...]
) -> None:
    """Memory, layers, networks, images in files and disks of a hypervisor each have their flag."""
    number = number_of(tmp_path)
    machine = machine_with(tmp_path, [f"{number} / / rw - {filesystem} x rw"])
    if place is not None:
        put_device(tmp_path, number, place, model)
    assert describe("work", tmp_path, machine).flags == flags


def test_a_real_folder_has_facts_and_a_flush_cost(tmp_path: Path) -> None:
    """Here and now: a filesystem, a cost with p50 ≤ p99, and nothing left in the folder."""
    facts = read_disk("work", tmp_path, os.environ["PATH"])
    assert facts.filesystem
    assert facts.flush_p50_ms is not None
    assert facts.flush_p99_ms is not None
    assert 0 < facts.flush_p50_ms <= facts.flush_p99_ms
    assert not list(tmp_path.iterdir())


def put_fio(folder: Path, script: str) -> str:
    """A PATH with this fio first."""
    program = folder / "bin" / "fio"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{program.parent}:/usr/bin:/bin"


def test_the_percentiles_of_fio_are_taken(tmp_path: Path) -> None:
    """Nanoseconds become milliseconds, text before the document is passed over, the version is kept."""
    ranks = {"50.000000": 2_000_000, "99.000000": 5_500_000}
    document = {"fio version": "fio-9.9", "jobs": [{"error": 0, "sync": {"lat_ns": {"percentile": ranks}}}]}
    cost = flush_cost(tmp_path, put_fio(tmp_path, f"echo 'fio: a warning'; echo '{json.dumps(document)}'"))
    assert (cost.p50_ms, cost.p99_ms, cost.by) == (2.0, 5.5, "fio-9.9")


@pytest.mark.parametrize("script", ["exit 1", "echo '{'", "echo '{}'", "kill -9 $$", 'echo "{\\"jobs\\": []}"'])
def test_without_a_usable_fio_a_loop_of_ours_measures(tmp_path: Path, script: str) -> None:
    """A fio that fails, dies or says nonsense is replaced, and the record says by what."""
    cost = flush_cost(tmp_path, put_fio(tmp_path, script))
    assert cost.by == "built-in loop"
    assert 0 < cost.p50_ms <= cost.p99_ms
    assert [entry.name for entry in tmp_path.iterdir()] == ["bin"]


def test_the_loop_flushes_as_often_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One flush for each block that is written."""
    real, calls = os.fdatasync, []

    def counted(handle: int) -> None:
        calls.append(handle)
        real(handle)

    monkeypatch.setattr(os, "fdatasync", counted)
    flush_cost(tmp_path, "")
    assert len(calls) == FLUSH_COUNT


def test_a_folder_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    """The sentence names the folder and what to do."""
    with pytest.raises(
        InputError, match=r"nowhere of a disk cannot be written: .*; name a folder that you may write"
    ):
        flush_cost(tmp_path / "nowhere", os.environ["PATH"])
