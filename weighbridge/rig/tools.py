"""The tools of the rig and where they lie: `.weighbridge` beside the matrix.

Called by the walk and the front door (`check`, `install`). Finding starts nothing but `oha --version` and `wrk -v`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weighbridge.rig import oha_tool, wrk_tool
from weighbridge.rig.installing import Tool, Workshop
from weighbridge.rig.oha_tool import Build, OhaSearch
from weighbridge.rig.wrk_tool import WrkSearch


@dataclass(frozen=True)
class Toolbox:
    """The tools under one home folder and on the caller's PATH."""

    home: Path

    def find_oha(self, path_env: str) -> OhaSearch:
        """The oha to use, and a remark when one on PATH was passed over for its age."""
        return oha_tool.find_oha(self.home, path_env)

    def install_oha(self, workshop: Workshop, build: Build = "fast") -> Tool:
        """Our own oha, built when it is not there; ToolMissing says how to get one without cargo."""
        return oha_tool.install_oha(self.home, workshop, build)

    def ensure_oha(self, workshop: Workshop, *, build: Build = "fast") -> Tool:
        """The oha to use: found, else built. Tells when an old one on PATH was passed over."""
        found = self.find_oha(workshop.path_env)
        if found.remark:
            workshop.tell(found.remark)
        return found.tool or self.install_oha(workshop, build)

    def find_wrk(self, path_env: str) -> WrkSearch:
        """The wrk on PATH, and a remark when it was passed over for its age."""
        return wrk_tool.find_wrk(path_env)

    def require_wrk(self, path_env: str) -> Tool:
        """The wrk on PATH; ToolMissing says how to get one, for we build none."""
        return wrk_tool.require_wrk(path_env)
