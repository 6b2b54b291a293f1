"""The file `processes.json` in the state folder: what runs right now, for the cleanup at a later start.

Written by the supervisor at every start and stop, read by `cleanup`. It holds no argument lists and no environment:
they may carry keys.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from weighbridge.rig.processes.child_environment import unwritable
from weighbridge.rig.tree.process_tree import Member

FILE_NAME = "processes.json"
SCRATCH_NAME = "scratch"
_SCHEMA = "weighbridge.processes/1"
_TAG = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class RegisteredGroup:
    """One process group of ours."""

    name: str
    root: Member
    tag: str
    ports: tuple[int, ...]

    def as_json(self) -> dict[str, object]:
        """Return the entry as the file and the guardian's pipe hold it."""
        pid, start = self.root
        return {"name": self.name, "pid": pid, "start": start, "tag": self.tag, "ports": list(self.ports)}


@dataclass
class Register:
    """All that one supervisor runs: its own identity, its tag, its groups by their tags."""

    owner: Member
    tag: str
    entries: dict[str, RegisteredGroup] = field(default_factory=dict)

    def write(self, state_dir: Path) -> None:
        """Nothing; the file holds this register. Raises StoreError when it cannot be written."""
        document = {
            "schema": _SCHEMA,
            "owner": {"pid": self.owner.pid, "start": self.owner.start},
            "tag": self.tag,
            "groups": [entry.as_json() for entry in self.entries.values()],
        }
        fresh = state_dir / f".{FILE_NAME}.{self.tag}"
        try:
            fresh.write_text(json.dumps(document, indent=1) + "\n")
            fresh.replace(state_dir / FILE_NAME)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise unwritable(state_dir / FILE_NAME, error) from error


def read(state_dir: Path) -> Register | None:
    """Read the register that lies in a state folder, None when there is none. Raises ValueError for a damaged one."""
    try:
        text = (state_dir / FILE_NAME).read_text()
    except FileNotFoundError:
        return None
    try:
        document = json.loads(text)
        if document["schema"] != _SCHEMA or not _TAG.fullmatch(document["tag"]):
            raise ValueError("another schema")
        owner = Member(int(document["owner"]["pid"]), str(document["owner"]["start"]))
        entries = [_entry(group) for group in document["groups"]]
    except (KeyError, TypeError) as error:
        raise ValueError("not a register") from error
    return Register(owner, document["tag"], {entry.tag: entry for entry in entries})


def _entry(group: dict[str, object]) -> RegisteredGroup:
    pid, ports = group["pid"], group["ports"]
    if not isinstance(pid, int) or not isinstance(ports, list):
        raise TypeError("pid and ports")
    root = Member(pid, str(group["start"]))
    return RegisteredGroup(str(group["name"]), root, str(group["tag"]), tuple(int(port) for port in ports))
