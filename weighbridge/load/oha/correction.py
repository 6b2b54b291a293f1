"""Whether oha's durations count from the intended start: the one question its reports do not answer.

From 1.6.0 to 1.13.0 `--latency-correction` works the other way round with a fixed number of requests (hatoo/oha#857).
The samples prove what was done and overrule version and arguments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from weighbridge.load.oha.argv import OhaArguments
from weighbridge.load.oha.totals import Generation
from weighbridge.record.figures import Corrected

Version = tuple[int, int, int]

_INVERTED_FROM: Version = (1, 6, 0)
_INVERTED_UNTIL: Version = (1, 14, 0)

# First and last release that wrote a generation; the end is the first release that no longer did.
_RELEASES: dict[Generation, tuple[Version, Version]] = {
    "G1": ((0, 5, 4), (0, 6, 4)),
    "G2": ((0, 6, 4), (1, 4, 5)),
    "G3": ((1, 4, 5), (1, 13, 0)),
    "G4": ((1, 13, 0), (1, 15, 0)),
    "G5": ((1, 15, 0), (999, 0, 0)),
    "csv": ((1, 9, 0), (999, 0, 0)),
    "sqlite": ((1, 4, 6), (999, 0, 0)),
}


@dataclass(frozen=True)
class Correction:
    """The answer and whether it is certain; `note` says what was inferred, when something was."""

    corrected: Corrected
    proven: bool = False
    note: str | None = None


def parse_version(text: str | None) -> Version | None:
    """Three numbers of `oha 1.16.0` or `1.16.0`; None when there are none."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text or "")
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def fits(version: Version, generation: Generation) -> bool:
    """Whether that release of oha writes that form."""
    first, end = _RELEASES[generation]
    return first <= version < end


def correction_of(
    proof: bool | None, arguments: OhaArguments | None, version: Version | None, generation: Generation
) -> Correction:
    """Correction by the samples' `proof`, else by arguments and version; `unknown` when that leaves a doubt."""
    if proof is not None:
        return Correction("yes" if proof else "no", proven=True, note=_overruled(proof, arguments))
    if arguments is None:
        return Correction("unknown")
    if not arguments.paced:
        note = "without a rate there is nothing to correct" if arguments.correction else None
        return Correction("no", proven=True, note=note)
    asked: Corrected = "yes" if arguments.correction else "no"
    if arguments.duration_s is not None:
        return Correction(asked)
    inverted = _inverted(version, generation)
    if inverted is None:
        return Correction(
            "unknown", note="versions 1.6.0 to 1.13.0 of oha invert the switch, and which ran is not known"
        )
    if not inverted:
        return Correction(asked)
    return Correction(
        "no" if arguments.correction else "yes",
        note="this version of oha inverts --latency-correction with -n (hatoo/oha#857)",
    )


def _inverted(version: Version | None, generation: Generation) -> bool | None:
    """Whether the switch works the wrong way round; None when the releases that fit differ in it."""
    if version is not None and fits(version, generation):
        return _INVERTED_FROM <= version < _INVERTED_UNTIL
    if version is not None:
        return None
    first, end = _RELEASES[generation]
    if end <= _INVERTED_FROM or first >= _INVERTED_UNTIL:
        return False
    return True if first >= _INVERTED_FROM and end <= _INVERTED_UNTIL else None


def _overruled(proof: bool, arguments: OhaArguments | None) -> str | None:
    if arguments is None or not arguments.paced or arguments.correction == proof:
        return None
    state = "corrected" if proof else "not corrected"
    return f"the samples show that durations are {state}, against the arguments"
