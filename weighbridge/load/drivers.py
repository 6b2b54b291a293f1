"""Every driver by its name: one explicit dictionary, nothing registers itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from weighbridge.load.driver import Driver
from weighbridge.load.oha import Oha

DRIVERS: Mapping[str, Driver] = MappingProxyType({"oha": Oha()})
