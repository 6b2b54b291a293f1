"""Facts of the machine and of the checkout, for the record; no name of a host, a user or a serial number.

What this system does not tell is absent with a reason.
"""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from weighbridge.record.host import DiskFacts, GitFacts, HostFacts
from weighbridge.rig.machine.filesystem_root import HERE, Machine
from weighbridge.rig.machine.one_shot import ask

_NOT_LINUX = "only Linux tells it"
_HYPERVISORS = {
    "Amazon EC2": "Amazon EC2",
    "Google": "Google Compute Engine",
    "QEMU": "QEMU",
    "Red Hat": "KVM",
    "VMware, Inc.": "VMware",
    "Xen": "Xen",
    "innotek GmbH": "VirtualBox",
    "Parallels International GmbH.": "Parallels",
    "DigitalOcean": "DigitalOcean",
    "Hetzner": "Hetzner Cloud",
}


def read_host(disks: Sequence[DiskFacts] = (), machine: Machine = HERE) -> HostFacts:
    """Read the machine as it is at this moment; `disks` are the facts of the disks that the matrix names."""
    facts: dict[str, str | None] = {
        "cpu_model": _cpu_model(machine),
        "governor": _governor(machine),
        "virtualised": _virtualised(machine),
    }
    absent = {name: _why_absent(name, machine) for name, value in facts.items() if value is None}
    cpu_count = usable_cpus(machine)
    memory_bytes = psutil.virtual_memory().total
    return HostFacts(
        machine_class=machine_class(platform.machine(), cpu_count, memory_bytes),
        os=_os(machine),
        kernel=f"{platform.system()} {platform.release()}",
        cpu_model=facts["cpu_model"],
        cpu_count=cpu_count,
        memory_bytes=memory_bytes,
        governor=facts["governor"],
        virtualised=facts["virtualised"],
        python=platform.python_version(),
        disks=tuple(disks),
        absent=absent,
    )


def machine_class(architecture: str, cpu_count: int, memory_bytes: int) -> str:
    """Short name for folders, such as `x86_64-2c-24g` (memory in GiB, rounded)."""
    plain = re.sub(r"[^a-z0-9_]+", "", architecture.lower()) or "unknown"
    return f"{plain}-{cpu_count}c-{max(1, round(memory_bytes / 2**30))}g"


def usable_cpus(machine: Machine = HERE) -> int:
    """Logical CPUs that we may use: the affinity mask, and a container's quota rounded up."""
    mask = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = (machine.text("/sys/fs/cgroup/cpu.max") or "max").split()
    if len(quota) == 2 and quota[0].isdigit() and int(quota[1]) > 0:
        return max(1, min(mask, math.ceil(int(quota[0]) / int(quota[1]))))
    return mask


def read_git(folder: Path | None, environ: Mapping[str, str]) -> GitFacts:
    """Commit of a checkout and whether tracked files differ from it; both None where that cannot be told.

    `environ` gives PATH, and HOME for the user's own git settings.
    """
    nothing = GitFacts(commit=None, dirty=None)
    if folder is None:
        return nothing
    env = {name: environ[name] for name in ("PATH", "HOME") if name in environ}
    env |= {"LANG": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    commit = ask(["git", "-C", folder, "rev-parse", "--verify", "HEAD"], env=env)
    if commit is None or commit.exit_code != 0:
        return nothing
    status = ask(["git", "-C", folder, "status", "--porcelain", "--untracked-files=no"], env=env, timeout_s=60)
    known = status is not None and status.exit_code == 0
    return GitFacts(commit=commit.stdout.strip(), dirty=bool(status.stdout.strip()) if status and known else None)


def _os(machine: Machine) -> str:
    if machine.is_linux:
        match = re.search(r'^PRETTY_NAME="?([^"\n]+)', machine.text("/etc/os-release") or "", re.MULTILINE)
        return match.group(1) if match else "Linux"
    release = platform.mac_ver()[0]
    return f"macOS {release}" if release else platform.system()


def _cpu_model(machine: Machine) -> str | None:
    if not machine.is_linux:
        output = ask(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"], env={})
        return output.stdout.strip() or None if output and output.exit_code == 0 else None
    match = re.search(r"^model name\s*:\s*(.+)$", machine.text("/proc/cpuinfo") or "", re.MULTILINE)
    return match.group(1).strip() if match else None


def _governor(machine: Machine) -> str | None:
    files = machine.path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    found = {text for file in files if (text := machine.text(str(file.relative_to(machine.root))))}
    return ", ".join(sorted(found)) or None


def _virtualised(machine: Machine) -> str | None:
    maker = machine.text("/sys/class/dmi/id/sys_vendor") or ""
    product = machine.text("/sys/class/dmi/id/product_name") or ""
    kinds = [name for word, name in _HYPERVISORS.items() if maker.startswith(word)]
    if maker.startswith("Microsoft") and product == "Virtual Machine":
        kinds = ["Hyper-V"]
    if not kinds and re.search(r"^flags\s*:.*\bhypervisor\b", machine.text("/proc/cpuinfo") or "", re.MULTILINE):
        kinds = ["a hypervisor that does not report its name"]
    if any(machine.path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")):
        kinds.append("container")
    return ", ".join(kinds) or None


def _why_absent(name: str, machine: Machine) -> str:
    if name == "virtualised":
        return "no sign of a hypervisor" if machine.is_linux else _NOT_LINUX
    return "not reported by the kernel" if machine.is_linux else _NOT_LINUX
