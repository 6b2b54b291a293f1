"""Facts of the machine and the tools, without names that identify a person, a host or a disk's serial."""

from __future__ import annotations

from pydantic import Field

from weighbridge.record.base import Count, Document

# More work of others, or more time taken by the hypervisor, and the machine is not idle.
FOREIGN_LIMIT_CORES = 0.05
STEAL_LIMIT_PCT = 1.0


class DiskFacts(Document):
    """What a state directory lies on."""

    name: str = Field(description="Name of the disk in the matrix.")
    filesystem: str | None = Field(description="Filesystem type, such as ext4.")
    model: str | None = Field(description="Model of the device, null when it has none.")
    bus: str | None = Field(description="How the device is attached: nvme, sata, virtio, …")
    mount_options: tuple[str, ...] = Field(default=(), description="Known mount options only.")
    flags: tuple[str, ...] = Field(default=(), description="virtual, loop, tmpfs, overlay, network.")
    flush_p50_ms: float | None = Field(default=None, description="Median cost of a 1 KiB fdatasync, ms.")
    flush_p99_ms: float | None = Field(default=None, description="99th percentile of it, ms.")
    flush_by: str | None = Field(default=None, description="fio with its version, or the built-in loop.")


class GitFacts(Document):
    """State of the checkout that ran, where there is one."""

    commit: str | None = Field(description="Commit id, null outside a checkout.")
    dirty: bool | None = Field(description="Whether tracked files differed from it.")


class ToolFacts(Document):
    """A program that took part: which version, which files."""

    name: str = Field(description="Name of the tool or gateway.")
    version: str | None = Field(description="Version as the program says it.")
    sha256: str | None = Field(
        description="SHA-256 of the executable; of several files over their names and digests, sorted."
    )
    source: str = Field(description="path, cargo, python, bundled.")
    build: str | None = Field(default=None, description="Build settings that differ from the published ones.")
    file_count: Count | None = Field(
        default=None, description="How many files the digest covers; null in records that do not tell."
    )
    left_out: tuple[str, ...] = Field(
        default=(), description="Patterns of files that it writes itself, which the digest leaves out."
    )
    git: GitFacts | None = Field(default=None, description="Checkout that it was run from; null for none.")


class HostFacts(Document):
    """The machine of a campaign."""

    machine_class: str = Field(description="Short name made of architecture, cores and memory, for folder names.")
    os: str = Field(description="Distribution and version.")
    kernel: str = Field(description="Kernel name and release.")
    cpu_model: str | None = Field(description="CPU model as the kernel names it.")
    cpu_count: Count = Field(description="Logical CPUs that we may use.")
    memory_bytes: Count = Field(description="Physical memory.")
    governor: str | None = Field(description="CPU frequency governor, null where not reported by the kernel.")
    virtualised: str | None = Field(description="Hypervisor as far as it shows, null when it does not.")
    python: str = Field(description="Version of the Python that ran us.")
    disks: tuple[DiskFacts, ...] = Field(default=(), description="Disks that the matrix names.")
    absent: dict[str, str] = Field(
        default_factory=dict, description="Facts that this system does not tell, with the reason."
    )


class LoadReading(Document):
    """How busy the machine was at one moment."""

    load_1m: float | None = Field(description="One-minute load average.")
    cpu_some_pct: float | None = Field(description="PSI cpu some, avg10, per cent; null where the kernel has no PSI.")
    io_some_pct: float | None = Field(description="PSI io some, avg10, per cent.")
    steal_pct: float | None = Field(description="Stolen CPU time since the previous reading, per cent.")
    foreign_cpu_cores: float | None = Field(
        description="CPU that processes other than ours took since the previous reading, in cores."
    )
