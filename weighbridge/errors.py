"""What Weighbridge says when it cannot go on: one tree, one sentence each, one exit code each.

    WeighbridgeError            exit 1 (never raised bare)
    ├── InputError              exit 2: something the user wrote is not usable; carries where
    ├── ToolMissing             exit 2: a program we need is absent, too old or unusable
    ├── PortTaken               exit 2: a port that was asked for belongs to another program
    ├── StoreError              exit 2: a results folder cannot be read or written
    │   └── SchemaTooNew        exit 2: a document of a later Weighbridge
    ├── LaneFailed              a gateway or mock did not do its part: becomes a record, not an exit
    └── Interrupted             exit 128 + n: a signal asked us to stop

A gateway that misbehaves is data, not an exception: `LaneFailed` is detected by the walk and becomes a
record with a verdict. Anything else that escapes is a bug of ours and ends with exit 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class WeighbridgeError(Exception):
    """A fault that is explained to the user in one sentence."""

    exit_code = 1


@dataclass(frozen=True)
class Place:
    """Where in a file something stands: 1-based line and column, and the key path (`loads.rate[2]`)."""

    file: Path
    line: int | None = None
    column: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        """`FILE:LINE:COLUMN: key.path`, leaving out what is not known."""
        numbers = [str(n) for n in (self.line, self.column) if n is not None]
        where = ":".join([str(self.file), *numbers])
        return f"{where}: {self.key}" if self.key else where


class InputError(WeighbridgeError):
    """Something the user wrote is not usable: says where, what was expected and what may have been meant."""

    exit_code = 2

    def __init__(self, problem: str, *, place: Place | None = None, expected: str = "", suggestion: str = "") -> None:
        self.problem = problem
        self.place = place
        self.expected = expected
        self.suggestion = suggestion
        super().__init__(str(self))

    def __str__(self) -> str:
        """`FILE:LINE:COLUMN: key: problem; expected. Did you mean …?` on one line."""
        sentence = f"{self.place}: {self.problem}" if self.place else self.problem
        if self.expected:
            sentence += f"; {self.expected}"
        if self.suggestion:
            sentence += f". Did you mean {self.suggestion}?"
        return sentence


class ToolMissing(WeighbridgeError):
    """A program that the matrix needs is absent, too old or cannot be used."""

    exit_code = 2


class PortTaken(WeighbridgeError):
    """A port that the user asked for belongs to another program."""

    exit_code = 2


class StoreError(WeighbridgeError):
    """A results folder cannot be read or written."""

    exit_code = 2


class SchemaTooNew(StoreError):
    """A document was written by a later Weighbridge than this one."""


class LaneFailed(WeighbridgeError):
    """A lane did not do its part.

    `reason` is a code of `record.run.REASONS`; `phase` is one of `start`, `ready`, `preflight`,
    `warmup`, `window`, `drain`, `stop`; `log_tail` is the end of the process's output, secrets removed.
    """

    def __init__(self, sentence: str, *, reason: str, phase: str, log_tail: str = "") -> None:
        self.reason = reason
        self.phase = phase
        self.log_tail = log_tail
        super().__init__(sentence)


class Interrupted(BaseException):
    """A signal asked the program to stop; not an `Exception`, so that no broad handler swallows it."""

    def __init__(self, signal_number: int) -> None:
        self.signal_number = signal_number
        super().__init__(f"stopped by signal {signal_number}")

    @property
    def exit_code(self) -> int:
        """128 + n, as shells report a death by signal."""
        return 128 + self.signal_number
