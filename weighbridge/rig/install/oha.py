"""oha, the load generator: found on PATH or in our own folder, or built by cargo at a pinned version.

It measures nothing; which flags oha gets is the load room's business.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from weighbridge.errors import ToolMissing
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import (
    InstallMarker,
    Report,
    Search,
    Step,
    Tool,
    Workshop,
    being_built,
    exclusive,
    read_marker,
    run_step,
    sha256_of,
    write_marker,
)
from weighbridge.rig.machine.one_shot import ask

VERSION = "1.16.0"
MINIMUM = (1, 14)
# From 1.6 to 1.13 oha's latency correction is inverted in some modes; before, it lacks what the driver asks for.
MINIMUM_TEXT = "1.14"
CRATE_COUNT = 217

Build = Literal["fast", "published"]
BUILDS: tuple[Build, ...] = ("fast", "published")
_DEADLINE_S = 10_800.0
_REPORT_EVERY = 10
_LOOK_EVERY_S = 2.0


@dataclass(frozen=True)
class _BuildRecipe:
    """How one build differs: what is said before, what cargo gets, what is recorded."""

    minutes: str
    env: tuple[tuple[str, str], ...]
    recorded: str | None


_RECIPES = {
    "fast": _BuildRecipe(
        "four to six minutes on two cores",
        (("CARGO_PROFILE_RELEASE_LTO", "false"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")),
        "without LTO, 16 codegen units",
    ),
    "published": _BuildRecipe("eight to nine minutes on two cores", (), None),
}


def find_oha(home: Path, path_env: str) -> Search:
    """Find the oha on PATH when it is new enough, else our own build, else none."""
    on_path = shutil.which("oha", path=path_env)
    remark = None
    if on_path is not None:
        version = version_of(Path(on_path), path_env)
        if version is not None and _numbers(version) >= MINIMUM:
            facts = ToolFacts(name="oha", version=version, sha256=sha256_of(Path(on_path)), source="path")
            return Search(Tool(Path(on_path), facts))
        what = f"is version {version}" if version else "does not report its version"
        remark = f"the oha on PATH {what} and is not used: Weighbridge needs {MINIMUM_TEXT} or later"
    own = next((tool for build in BUILDS if (tool := _own(home, build)) is not None), None)
    return Search(own, remark)


def install_oha(home: Path, workshop: Workshop, build: Build = "fast") -> Tool:
    """Our own oha, built by cargo unless it is there already.

    Raises ToolMissing without cargo, or when the build fails.
    """
    if (tool := _own(home, build)) is not None:
        return tool
    cargo = shutil.which("cargo", path=workshop.path_env)
    if cargo is None:
        raise ToolMissing(
            f"oha {MINIMUM_TEXT} or later is needed and was not found: put it on PATH (its project offers ready "
            "binaries), or install Rust's cargo, with which Weighbridge builds it by itself"
        )
    with exclusive(home, workshop.report):
        if (tool := _own(home, build)) is not None:
            return tool
        how = _RECIPES[build]
        workshop.report(
            f"building oha {VERSION} with cargo, once: about {how.minutes}, 700 MB while it builds, 20 MB kept"
        )
        _build(home, workshop, build, cargo)
    tool = _own(home, build)
    if tool is None:
        raise ToolMissing(f"oha {VERSION} was built but cannot be read back from {home.name}/: run it again")
    return tool


def version_of(program: Path, path_env: str) -> str | None:
    """Version that an oha says of itself, such as `1.16.0`; None when it says none."""
    output = ask([program, "--version"], env={"PATH": path_env, "LANG": "C.UTF-8"})
    match = re.match(r"oha (\d+(?:\.\d+)+)", output.stdout.strip()) if output and output.exit_code == 0 else None
    return match.group(1) if match else None


def crates_begun(target: Path) -> int:
    """How many crates cargo has begun to compile in a target folder.

    It makes a folder for each unit when it plans, and writes `invoked.timestamp` into it when it starts the compiler.
    """
    begun = (target / "release" / ".fingerprint").glob("*/invoked.timestamp")
    return len({stamp.parent.name.rpartition("-")[0] for stamp in begun})


def _own(home: Path, build: Build) -> Tool | None:
    folder = _folder(home, build)
    marker = read_marker(folder)
    if marker is None or marker.program is None:
        return None
    program = folder / marker.program
    return Tool(program, marker.tool) if sha256_of(program) == marker.tool.sha256 else None


def _folder(home: Path, build: Build) -> Path:
    return home / "tools" / f"oha-{VERSION}-{build}"


def _build(home: Path, workshop: Workshop, build: Build, cargo: str) -> None:
    target = home / "build" / f"oha-{VERSION}-{build}"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    try:
        with being_built(_folder(home, build)) as part:
            step = Step(
                what=f"building oha {VERSION} with cargo",
                argv=(cargo, "install", "oha", "--version", VERSION, "--locked", "--root", str(part)),
                cwd=part,
                deadline_s=_DEADLINE_S,
                env={**dict(_RECIPES[build].env), "CARGO_TARGET_DIR": str(target), "CARGO_TERM_COLOR": "never"},
            )
            run_step(workshop, step, home / "logs" / "install-oha.log", watch=_progress(target, workshop.report))
            _commit(part, workshop, build)
    finally:
        shutil.rmtree(target, ignore_errors=True)


def _commit(part: Path, workshop: Workshop, build: Build) -> None:
    program = part / "bin" / "oha"
    version = version_of(program, workshop.path_env)
    if version != VERSION:
        raise ToolMissing(f"cargo built an oha that says version {version or 'nothing'}; expected {VERSION}")
    facts = ToolFacts(
        name="oha",
        version=version,
        sha256=sha256_of(program),
        source="cargo",
        build=_RECIPES[build].recorded,
    )
    write_marker(part, InstallMarker(tool=facts, program="bin/oha"))


def _progress(target: Path, report: Report) -> Callable[[], str | None]:
    """Return a watch that tells how far cargo is, every tenth crate; it never asks to stop."""
    state = _Seen()

    def watch() -> None:
        nonlocal state
        now = time.monotonic()
        if now < state.next_look_s:
            return
        state = replace(state, next_look_s=now + _LOOK_EVERY_S)
        count = crates_begun(target)
        if count >= state.reported_count + _REPORT_EVERY:
            state = replace(state, reported_count=count)
            report(f"building oha {VERSION}: {count} of about {CRATE_COUNT} crates")

    return watch


@dataclass(frozen=True)
class _Seen:
    next_look_s: float = 0.0
    reported_count: int = 0


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))
