"""wrk, a load generator: found on PATH, where the system's packages put it. Never built by us.

Called by `tools`. It measures nothing; which options wrk gets is the load room's business.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from weighbridge.errors import ToolMissing
from weighbridge.record.host import ToolFacts
from weighbridge.rig.asking import ask
from weighbridge.rig.installing import Tool, sha256_of

MINIMUM = (4, 1)
MINIMUM_TEXT = "4.1"
MISSING = f"wrk {MINIMUM_TEXT} or later is needed and is not on PATH"
ADVICE = "install it with `apt install wrk` or `brew install wrk`"


@dataclass(frozen=True)
class WrkSearch:
    """What was found: the wrk to use, and a remark when the one on PATH was passed over."""

    tool: Tool | None
    remark: str | None = None


def find_wrk(path_env: str) -> WrkSearch:
    """The wrk on PATH when it is new enough, else none."""
    on_path = shutil.which("wrk", path=path_env)
    if on_path is None:
        return WrkSearch(None)
    version = version_of(Path(on_path), path_env)
    if version is None or _numbers(version) < MINIMUM:
        what = f"is version {version}" if version else "does not tell its version"
        return WrkSearch(None, f"the wrk on PATH {what} and is not used: Weighbridge needs {MINIMUM_TEXT} or later")
    facts = ToolFacts(name="wrk", version=version, sha256=sha256_of(Path(on_path)), source="path")
    return WrkSearch(Tool(Path(on_path), facts))


def require_wrk(path_env: str) -> Tool:
    """The wrk on PATH; ToolMissing says how to get one."""
    found = find_wrk(path_env)
    if found.tool is None:
        raise ToolMissing(f"{found.remark or MISSING}; {ADVICE}")
    return found.tool


def version_of(program: Path, path_env: str) -> str | None:
    """Version that a wrk says of itself, such as `4.1.0-3+b2`; None when it says none.

    `wrk -v` prints it before its usage and ends with 1; packagers put words of their own before the number.
    """
    said = ask([program, "-v"], env={"PATH": path_env, "LANG": "C.UTF-8"})
    match = re.match(r"wrk \D*?(\d+(?:\.\d+)+[\w.+~-]*) ", said.stdout + said.stderr) if said else None
    return match.group(1) if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
