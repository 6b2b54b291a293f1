"""A child that outlives us for a moment: when our end of its pipe closes, it stops all that we had started.

Run by the supervisor as `python -m weighbridge.rig.processes.guardian TAG`, in its own session. Lines of JSON come
in by standard input (`{"do": "register", …}`, `{"do": "unregister", "tag": …}`); the end of input, whatever its
cause, starts the clean-up. It must import little (it has to be up before the first child is), never signal what
is not registered or tagged, and carry no tag itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from typing import Any, BinaryIO

from weighbridge.rig.processes.ports import is_free, owner
from weighbridge.rig.tree import cgroup, process_tree

READY = b"ready\n"
_PORT_PATIENCE_S = 2.0

Json = dict[str, Any]


def main(argv: list[str]) -> int:
    """0 when nothing was left at the end, else 1."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    tag = argv[1]
    with suppress(OSError):  # our parent may have died already: all the more reason to go on
        os.write(1, READY)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return clean(watch(sys.stdin.buffer), f"{tag}.")


def watch(pipe: BinaryIO) -> dict[str, Json]:
    """Return what was registered and not unregistered, by tag, at the end of input."""
    registered: dict[str, Json] = {}
    for line in pipe:
        try:
            entry = json.loads(line)
            tag = str(entry["tag"])
        except (ValueError, KeyError, TypeError):
            continue  # a line that was cut by our parent's death: the tag finds what it would have named
        if entry.get("do") == "register":
            registered[tag] = entry
        else:
            registered.pop(tag, None)
    return registered


def clean(registered: dict[str, Json], tag: str) -> int:
    """0 when no registered or tagged process and no taken port is left, else 1; says on stderr what it did."""
    roots = [process_tree.Member(int(entry["pid"]), str(entry["start"])) for entry in registered.values()]
    found = process_tree.find(roots, tag)
    if not found:
        cgroup.remove_leftovers(tag)
        return 0
    names = (
        ", ".join(f"{entry['name']} (pid {entry['pid']})" for entry in registered.values())
        or "unregistered processes"
    )
    _say(f"the supervisor is gone; stopping {names}: {len(found)} processes")
    ending = process_tree.end(lambda: process_tree.find(roots, tag))
    cgroup.remove_leftovers(tag)
    for member in ending.left:
        _say(f"could not stop pid {member.pid}")
    busy = _busy_ports([int(port) for entry in registered.values() for port in entry.get("ports", ())])
    for port in busy:
        _say(f"port {port} is still taken by {owner(port)}")
    _say("done" + (", with KILL" if ending.killed else ""))
    return 1 if ending.left or busy else 0


def _busy_ports(ports: list[int]) -> list[int]:
    deadline = time.monotonic() + _PORT_PATIENCE_S
    while (busy := [port for port in ports if not is_free(port)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return busy


def _say(text: str) -> None:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with suppress(OSError):  # a full disk must not end the clean-up
        os.write(2, f"{stamp} guardian {os.getpid()}: {text}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv))
