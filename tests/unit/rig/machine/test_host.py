"""Facts of the machine and the checkout: right where the kernel tells them, absent with a reason where not."""

from __future__ import annotations

import getpass
import os
import platform
import subprocess
from pathlib import Path

import pytest

from weighbridge.rig.machine.filesystem_root import Machine
from weighbridge.rig.machine.host import machine_class, read_git, read_host, usable_cpus


def machine_with(root: Path, files: dict[str, str], system: str = "Linux") -> Machine:
    """A machine whose kernel tells exactly these files."""
    for name, text in files.items():
        file = root / name.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Machine(root, system)


def test_the_record_names_no_person_and_no_machine() -> None:
    """Neither host name nor user name nor home folder stands in the facts of this machine."""
    text = read_host().to_json()
    for name in (platform.node(), getpass.getuser(), str(Path.home())):
        assert len(name) < 4 or name not in text


def test_what_the_kernel_tells_is_kept(tmp_path: Path) -> None:
    """Model, distribution, governors of all CPUs and the hypervisor are read from the kernel's files."""
    machine = machine_with(
        tmp_path,
        {
            "/etc/os-release": 'NAME=x\nPRETTY_NAME="Sample OS 9 (name)"\n',
            "/proc/cpuinfo": "processor\t: 0\nmodel name\t: Sample CPU @ 2GHz\nflags\t\t: fpu hypervisor vme\n",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
            "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
            "/sys/class/dmi/id/sys_vendor": "QEMU\n",
        },
    )
    facts = read_host(machine=machine)
    assert facts.os == "Sample OS 9 (name)"
    assert facts.cpu_model == "Sample CPU @ 2GHz"
    assert facts.governor == "performance, powersave"
    assert facts.virtualised == "QEMU"
    assert facts.absent == {}


def test_what_it_does_not_tell_is_absent_with_a_reason(tmp_path: Path) -> None:
    """An empty file tree gives nulls, and each null its reason."""
    facts = read_host(machine=Machine(tmp_path, "Linux"))
    assert (facts.cpu_model, facts.governor, facts.virtualised) == (None, None, None)
    assert set(facts.absent) == {"cpu_model", "governor", "virtualised"}
    assert "only Linux" in read_host(machine=Machine(tmp_path, "Darwin")).absent["governor"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"/proc/cpuinfo": "flags : fpu hypervisor\n"}, "a hypervisor that does not report its name"),
        ({"/proc/cpuinfo": "flags : fpu\n"}, None),
        ({"/proc/cpuinfo": "flags : fpu\n", "/.dockerenv": ""}, "container"),
        (
            {
                "/sys/class/dmi/id/sys_vendor": "Microsoft Corporation",
                "/sys/class/dmi/id/product_name": "Virtual Machine",
            },
            "Hyper-V",
        ),
        ({"/sys/class/dmi/id/sys_vendor": "Microsoft Corporation"}, None),
        ({"/sys/class/dmi/id/sys_vendor": "Somebody's own PC"}, None),
    ],
)
def test_the_hypervisor_is_named_by_known_words_only(
    tmp_path: Path, files: dict[str, str], expected: str | None
) -> None:
    """A maker's name that is no hypervisor's is not kept, a flag without a name is told as such."""
    assert read_host(machine=machine_with(tmp_path, files)).virtualised == expected


@pytest.mark.parametrize(("quota", "expected"), [("max 100000", None), ("150000 100000", 2), ("1000 100000", 1)])
def test_a_quota_limits_the_cpus(tmp_path: Path, quota: str, expected: int | None) -> None:
    """A container's share counts, rounded up and never zero; without one the affinity mask does."""
    mask = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert mask is not None
    machine = machine_with(tmp_path, {"/sys/fs/cgroup/cpu.max": quota})
    assert usable_cpus(machine) == (mask if expected is None else min(mask, expected))


def test_a_machine_class_is_fit_for_a_folder_name() -> None:
    """Lower case, no blanks, memory in whole GiB and at least one."""
    assert machine_class("x86_64", 2, 25_276_502_016) == "x86_64-2c-24g"
    assert machine_class("ARM 64/v8", 1, 1000) == "arm64v8-1c-1g"


def git(folder: Path, *words: str) -> str:
    """Output of git in a folder, with no settings of this user."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    ran = subprocess.run(
        ["git", "-C", folder, *identity, *words], env=env, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


def test_the_state_of_a_checkout_is_told(tmp_path: Path) -> None:
    """Commit as git says it; dirty by a changed tracked file, not by one that git does not know."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    git(tmp_path, "init", "-q")
    assert read_git(tmp_path, environ).commit is None
    (tmp_path / "tracked").write_text("1")
    git(tmp_path, "add", "tracked")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / "unknown").write_text("1")
    facts = read_git(tmp_path, environ)
    assert (facts.commit, facts.dirty) == (git(tmp_path, "rev-parse", "HEAD"), False)
    (tmp_path / "tracked").write_text("2")
    assert read_git(tmp_path, environ).dirty is True


def test_without_checkout_or_git_nothing_is_told(tmp_path: Path) -> None:
    """Installed from a wheel, or no git on PATH: null, not an error."""
    for folder, path in ((None, os.environ["PATH"]), (tmp_path, "")):
        facts = read_git(folder, {"PATH": path})
        assert (facts.commit, facts.dirty) == (None, None)
