"""Checks of a matrix that need more than one of its values and no gateway.

Called by `matrix.load` for the full and for the quick reading. Pure; it raises and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import pairwise
from typing import Protocol

from weighbridge.errors import InputError, Place
from weighbridge.matrix.cells import FLOOR
from weighbridge.matrix.model import Matrix, RateLoad, StreamsLoad
from weighbridge.matrix.ride_along import most_rps
from weighbridge.matrix.suggest import listed, nearest
from weighbridge.matrix.yamltext import KeyPath

# More than this in one window is a slip of the pen, not a measurement.
REQUEST_LIMIT = 10_000_000


class Limited(Protocol):
    """A load with a limit on each request."""

    @property
    def timeout_s(self) -> float:
        """Limit of one request."""
        ...


Locate = Callable[[KeyPath], Place]


def check_matrix(matrix: Matrix, locate: Locate) -> None:
    """Nothing when the values fit each other; InputError with the place of the first that does not."""
    _refuse_repeats(matrix, locate)
    _check_gateways(matrix, locate)
    if matrix.loads.rate is None and matrix.loads.clients is None and matrix.loads.streams is None:
        raise InputError(
            "holds no load", place=locate(("loads",)), expected="expected one or more of rate, clients and streams"
        )
    if matrix.loads.rate is not None:
        _check_rate(matrix.loads.rate, locate)
        _check_timeout(matrix, matrix.loads.rate, locate, ("loads", "rate", "timeout"))
    if matrix.loads.clients is not None:
        _check_timeout(matrix, matrix.loads.clients, locate, ("loads", "clients", "timeout"))
    if matrix.loads.streams is not None:
        _check_streams(matrix, matrix.loads.streams, locate)


def _refuse_repeats(matrix: Matrix, locate: Locate) -> None:
    lists: list[tuple[KeyPath, Iterable[Hashable]]] = [
        (("gateways",), [entry.name for entry in matrix.gateways]),
        (("chains",), matrix.chains),
        (("modes",), matrix.modes),
        (("recipes",), matrix.recipes),
        (
            ("loads", "rate", "per_second"),
            [f"{r:g}" for r in matrix.loads.rate.per_second] if matrix.loads.rate else (),
        ),
        (("loads", "clients", "counts"), matrix.loads.clients.counts if matrix.loads.clients else ()),
    ]
    for path, values in lists:
        seen: set[Hashable] = set()
        for number, value in enumerate(values):
            if value in seen:
                problem = f"{value} is listed twice"
                raise InputError(problem, place=locate((*path, number)), expected="expected each entry once")
            seen.add(value)


def _check_gateways(matrix: Matrix, locate: Locate) -> None:
    ids = [entry.id for entry in matrix.gateways]
    for number, entry in enumerate(matrix.gateways):
        if entry.id == FLOOR and entry.settings:
            problem = f"{FLOOR} has no settings"
            raise InputError(
                problem, place=locate(("gateways", number)), expected=f"expected {FLOOR} alone or not at all"
            )
    if matrix.subject == FLOOR:
        problem = f"{FLOOR} is the lane without a gateway"
        raise InputError(problem, place=locate(("subject",)), expected="expected the gateway under test")
    if matrix.subject not in ids:
        raise InputError(
            f"{matrix.subject!r} is not listed under {locate(('gateways',)).key}",
            place=locate(("subject",)),
            expected=f"expected {listed(name for name in dict.fromkeys(ids) if name != FLOOR)}",
            suggestion=nearest(matrix.subject, ids),
        )


def _check_rate(load: RateLoad, locate: Locate) -> None:
    for number, rate in enumerate(load.per_second):
        count = round(rate * load.duration_s)
        if count < 1:
            problem = f"{rate:g} per second for {load.duration_s:g} s is no request at all"
            place = locate(("loads", "rate", "per_second", number))
            raise InputError(problem, place=place, expected="expected a longer duration or a higher rate")
        if isinstance(load.ride_along, float) and load.ride_along > most_rps(rate):
            problem = f"{load.ride_along:g} per second are more than a quarter of the rate {rate:g}"
            place = locate(("loads", "rate", "ride_along"))
            raise InputError(problem, place=place, expected=f"expected auto, off or at most {most_rps(rate):g}")
        if count > REQUEST_LIMIT:
            problem = f"{rate:g} per second for {load.duration_s:g} s is {count:,} requests a window"
            place = locate(("loads", "rate", "duration"))
            raise InputError(problem, place=place, expected=f"expected at most {REQUEST_LIMIT:,} requests a window")


def _check_streams(matrix: Matrix, load: StreamsLoad, locate: Locate) -> None:
    if len(load.held_counts) < 2:
        place = locate(("loads", "streams", "held"))
        raise InputError("has one step only", place=place, expected="expected two or more, such as [0, 20, 50, 100]")
    for number, (before, count) in enumerate(pairwise(load.held_counts), start=1):
        if count <= before:
            place = locate(("loads", "streams", "held", number))
            raise InputError(f"{count} is not above {before}", place=place, expected="expected more at each step")
    if "stream" not in matrix.modes:
        problem = "needs the mode stream, which is not listed"
        raise InputError(problem, place=locate(("loads", "streams")), expected="expected stream under modes")


def _check_timeout(matrix: Matrix, load: Limited, locate: Locate, path: KeyPath) -> None:
    for name, answer in matrix.answers.items():
        longest_s = max(answer.spec(name).provider_time_s(mode) for mode in matrix.modes)
        if load.timeout_s <= longest_s:
            problem = f"a limit of {load.timeout_s:g} s is not longer than the answer {name} ({longest_s:g} s)"
            raise InputError(problem, place=locate(path), expected="expected a timeout longer than every answer")
