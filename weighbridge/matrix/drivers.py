"""What the matrix has to know of the load generators: their names, and what each of them can do.

They are handed in by the caller, since the matrix starts nothing and imports no driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from weighbridge.matrix.arrivals import ARRIVALS, Arrivals
from weighbridge.matrix.strict import refused, shown
from weighbridge.matrix.suggest import listed, nearest


@dataclass(frozen=True)
class DriverTraits:
    """What a driver can do: the kinds of load that it drives, and whether it sees the provider's stamps itself.

    `arrivals` are the ways in which it spaces the requests of a rate, its own way first.
    """

    loads: frozenset[str]
    sees_stamps: bool
    arrivals: tuple[Arrivals, ...] = ARRIVALS


# By name, in the order in which messages list them.
Drivers = Mapping[str, DriverTraits]


def driver_of(kind: str, asked: str, drivers: Drivers) -> str:
    """Return the driver of a kind of load: the asked one, or the first that can where that one cannot."""
    if kind in drivers[asked].loads:
        return asked
    return next((name for name, traits in drivers.items() if kind in traits.loads), asked)


def companion_of(asked: str, drivers: Drivers) -> str | None:
    """Return the driver that sees stamps beside the asked one; None where that one sees them itself."""
    if drivers[asked].sees_stamps:
        return None
    return next((name for name, traits in drivers.items() if traits.sees_stamps), None)


def _known(value: str, info: ValidationInfo) -> str:
    drivers: Drivers = info.context or {}
    if value not in drivers:
        raise refused(f"{shown(value)} is not known", f"expected {listed(drivers)}", nearest(value, drivers))
    return value


# The name of a driver in a YAML file, which is read with the drivers as context.
DriverName = Annotated[str, AfterValidator(_known)]
