"""Our end of the guardian's pipe: starts it, tells it what runs, starts another when it dies.

It must not let any child inherit the pipe: the guardian would never see its end.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from weighbridge.errors import WeighbridgeError
from weighbridge.rig.processes.guardian import READY
from weighbridge.rig.processes.register import Register

_START_PATIENCE_S = 30.0
_END_PATIENCE_S = 30.0


class GuardianFailed(WeighbridgeError):
    """The guardian could not be started: nothing may run without it."""


class Guard:
    """A running guardian. `revived_count` says how often it had to be started again."""

    def __init__(self, state_dir: Path, register: Register) -> None:
        self._log = state_dir / "guardian.log"
        self._register = register
        self.revived_count = 0
        self._process = self._spawn()

    @property
    def pid(self) -> int:
        """Process id of the guardian."""
        return self._process.pid

    def report_started(self, tag: str) -> None:
        """Nothing; the guardian knows the group that the register lists under `tag`."""
        try:
            self._send({"do": "register", **self._register.entries[tag].as_json()})
        except BrokenPipeError:
            self._revive()

    def report_ended(self, tag: str) -> None:
        """Nothing; the guardian has forgotten that group (a dead one has anyway)."""
        with suppress(BrokenPipeError):
            self._send({"do": "unregister", "tag": tag})

    def keep(self) -> None:
        """Nothing; a guardian is there, a new one that knows the whole register when the old one had died."""
        if self._process.poll() is not None:
            self._revive()

    def close(self) -> None:
        """Nothing; the guardian has seen the end of its pipe, has cleaned up what was left, and is gone."""
        assert self._process.stdin  # noqa: S101  # opened as a pipe in _spawn
        self._process.stdin.close()
        try:
            self._process.wait(_END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with suppress(OSError):
            if self._log.stat().st_size == 0:
                self._log.unlink()

    def _send(self, entry: dict[str, object]) -> None:
        assert self._process.stdin  # noqa: S101
        self._process.stdin.write(json.dumps(entry).encode() + b"\n")

    def _revive(self) -> None:
        self.close()
        self.revived_count += 1
        self._process = self._spawn()
        for entry in self._register.entries.values():
            self._send({"do": "register", **entry.as_json()})

    def _spawn(self) -> subprocess.Popen[bytes]:
        # -P: a module of the working folder must not be taken for one of the standard library.
        argv = [sys.executable, "-P", "-m", "weighbridge.rig.processes.guardian", self._register.tag]
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0, start_new_session=True
            )
        assert process.stdout  # noqa: S101
        with process.stdout:
            can_read, _, _ = select.select([process.stdout], [], [], _START_PATIENCE_S)
            line = process.stdout.readline() if can_read else b""
        if line != READY:
            process.kill()
            process.communicate()
            raise GuardianFailed(f"The guardian process did not start; what it said is in {self._log}.")
        return process
