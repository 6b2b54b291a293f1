"""Every driver by its name: one explicit dictionary, nothing registers itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from weighbridge.load.contract.driver import Driver
from weighbridge.load.oha.driver import Oha
from weighbridge.load.probe.driver import Probe
from weighbridge.load.probe.open_streams import StreamOpener
from weighbridge.load.wrk.driver import Wrk
from weighbridge.matrix.drivers import Drivers, DriverTraits
from weighbridge.matrix.loads import Role

# In the order in which messages list them.
_EVERY: tuple[Driver, ...] = (
    Oha(),
    Wrk(),
    Probe(),
)

DRIVERS: Mapping[str, Driver] = MappingProxyType({driver.name: driver for driver in _EVERY})

# Programs that a role in a window takes, whatever drives the rest of it.
OF_ROLE: Mapping[Role, Driver] = MappingProxyType({"open_streams": StreamOpener()})

# The driver that sees the stamps of every request, which calibrations are measured by.
STAMP_READER = next(name for name, driver in DRIVERS.items() if driver.capabilities.sees_stamps)

# The same for the matrix, which imports no driver.
TRAITS: Drivers = MappingProxyType(
    {
        name: DriverTraits(
            loads=driver.capabilities.loads,
            sees_stamps=driver.capabilities.sees_stamps,
            arrivals=driver.capabilities.arrivals,
        )
        for name, driver in DRIVERS.items()
    }
)
