"""A load generator that comes with Weighbridge: always there, run by our own Python."""

from __future__ import annotations

import sys
from pathlib import Path

import weighbridge
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import Tool
from weighbridge.rig.install.gateway import digest_of_programs


def bundled_tool(name: str, folder: Path) -> Tool:
    """Return the program whose modules lie in `folder`, with their digest."""
    facts = ToolFacts(name=name, version=weighbridge.__version__, sha256=digest_of_programs(folder), source="bundled")
    return Tool(Path(sys.executable), facts)
