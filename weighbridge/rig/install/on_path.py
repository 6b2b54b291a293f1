"""Load generators that are looked for on PATH, where the system's packages put them. Never built by us.

What makes one fit is told by its driver; which options it gets is the load room's business.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from weighbridge.command import OnPath
from weighbridge.errors import ToolMissing
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import Search, Tool, sha256_of
from weighbridge.rig.machine.one_shot import ask


def find_on_path(wanted: OnPath, path_env: str) -> Search:
    """Return the program on PATH when it is new enough, and a remark when it was passed over."""
    name, place = wanted.name, shutil.which(wanted.name, path=path_env)
    if place is None:
        return Search(None)
    version = version_of(wanted, Path(place), path_env)
    if version is None or _numbers(version) < wanted.minimum:
        what = f"is version {version}" if version else "does not report its version"
        remark = f"the {name} on PATH {what} and is not used: Weighbridge needs {_text(wanted.minimum)} or later"
        return Search(None, remark)
    facts = ToolFacts(name=name, version=version, sha256=sha256_of(Path(place)), source="path")
    return Search(Tool(Path(place), facts))


def require_on_path(wanted: OnPath, path_env: str) -> Tool:
    """Return the program on PATH; ToolMissing says how to get one."""
    found = find_on_path(wanted, path_env)
    if found.tool is None:
        missing = f"{wanted.name} {_text(wanted.minimum)} or later is needed and is not on PATH"
        raise ToolMissing(f"{found.remark or missing}; {wanted.advice}")
    return found.tool


def version_of(wanted: OnPath, program: Path, path_env: str) -> str | None:
    """Return the version that a program says of itself, such as `4.1.0-3+b2`; None when it says none.

    Whatever it ends with: some print it before their usage and end with 1.
    """
    output = ask([program, *wanted.version_argv], env={"PATH": path_env, "LANG": "C.UTF-8"})
    match = re.match(wanted.version_pattern, output.stdout + output.stderr) if output else None
    return match.group(1) if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
