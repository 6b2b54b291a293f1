"""Programs that come with Weighbridge: always there, run by our own Python, digested with all that they import."""

from __future__ import annotations

import sys
from pathlib import Path

import weighbridge
from weighbridge import resources
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import Tool
from weighbridge.rig.install.identity import FileIdentity, FileSet, facts_of
from weighbridge.rig.install.import_closure import import_closure


def bundled_tool(name: str, folder: Path) -> Tool:
    """Return the program whose modules lie in `folder`."""
    return Tool(Path(sys.executable), bundled_facts(name, FileIdentity.read(import_closure([folder]))))


def script_facts(name: str, script: Path) -> ToolFacts:
    """Return the facts of a script of ours that a program of others runs."""
    return bundled_facts(name, FileIdentity.read(FileSet({script.name: script})))


def mocks_identity() -> FileIdentity:
    """Return the files of all mocks, provider, control plane and gateway alike."""
    return FileIdentity.read(import_closure([resources.root() / "mocks"]))


def bundled_facts(name: str, identity: FileIdentity) -> ToolFacts:
    """Return the facts of a program of ours."""
    return ToolFacts(name=name, version=weighbridge.__version__, source="bundled", **facts_of(identity))
