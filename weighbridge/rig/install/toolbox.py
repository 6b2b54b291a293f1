"""The tools of the rig and where they lie: `.weighbridge` beside the matrix.

Finding starts nothing but the tools, for their versions.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from weighbridge.command import OnPath
from weighbridge.errors import ToolMissing
from weighbridge.rig.install import oha
from weighbridge.rig.install.atomic_install import Search, Tool, Workshop
from weighbridge.rig.install.bundled import bundled_tool
from weighbridge.rig.install.oha import Build
from weighbridge.rig.install.on_path import require_on_path


@dataclass(frozen=True)
class Toolbox:
    """The tools under one home folder and on the caller's PATH."""

    home: Path

    def find_oha(self, path_env: str) -> Search:
        """Return the oha to use, and a remark when one on PATH was passed over for its age."""
        return oha.find_oha(self.home, path_env)

    def install_oha(self, workshop: Workshop, build: Build = "fast") -> Tool:
        """Our own oha, built when it is not there; ToolMissing says how to get one without cargo."""
        return oha.install_oha(self.home, workshop, build)

    def ensure_oha(self, workshop: Workshop, *, build: Build = "fast") -> Tool:
        """Return the oha to use: found, else built. Tells when an old one on PATH was passed over."""
        found = self.find_oha(workshop.path_env)
        if found.remark:
            workshop.report(found.remark)
        return found.tool or self.install_oha(workshop, build)

    def find(self, name: str, program: Path | OnPath | None, path_env: str) -> Tool:
        """Return the program of a driver as it is there; ToolMissing says what is to be done."""
        if isinstance(program, Path):
            return bundled_tool(name, program)
        return BUILT[name].find(self, path_env) if program is None else require_on_path(program, path_env)

    def obtain(self, name: str, program: Path | OnPath | None, workshop: Workshop) -> Tool:
        """Return the program of a driver, found or built; ToolMissing when it cannot be had."""
        if program is None:
            return BUILT[name].obtain(self, workshop)
        return self.find(name, program, workshop.path_env)


@dataclass(frozen=True)
class BuiltTool:
    """How the program of a driver is searched as it is there, and how it is obtained, which may raise ToolMissing.

    `missing` and `advice` are what is said where it is not there; `builder` is the program that builds it.
    """

    search: Callable[[Toolbox, str], Search]
    obtain: Callable[[Toolbox, Workshop], Tool]
    missing: str
    advice: str
    builder: str

    def find(self, toolbox: Toolbox, path_env: str) -> Tool:
        """Return the program as it is there; ToolMissing says what is to be done."""
        found = self.search(toolbox, path_env)
        if found.tool is None:
            raise ToolMissing(f"{found.remark or self.missing}; {self.advice}")
        return found.tool

    def can_be_built(self, path_env: str) -> bool:
        """Return whether its builder is there."""
        return shutil.which(self.builder, path=path_env) is not None


# Load generators that we build where they are not there, by the name of their driver.
BUILT: Mapping[str, BuiltTool] = MappingProxyType(
    {
        "oha": BuiltTool(
            lambda toolbox, path_env: toolbox.find_oha(path_env),
            lambda toolbox, workshop: toolbox.ensure_oha(workshop),
            missing="oha is not on PATH",
            advice="run: invoke install",
            builder="cargo",
        ),
    }
)
