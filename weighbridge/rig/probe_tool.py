"""The probe as a program: always there, for it comes with Weighbridge and runs by our own Python."""

from __future__ import annotations

import sys
from pathlib import Path

import weighbridge
from weighbridge.record.host import ToolFacts
from weighbridge.rig.installing import Tool
from weighbridge.rig.obtain import digest_of_programs


def find_probe(folder: Path) -> Tool:
    """The probe whose modules lie in `folder`, with the digest of its programs."""
    facts = ToolFacts(
        name="probe", version=weighbridge.__version__, sha256=digest_of_programs(folder), source="bundled"
    )
    return Tool(Path(sys.executable), facts)
