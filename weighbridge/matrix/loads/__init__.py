"""Every kind of load, each whole in a file of its own: what the YAML file says, what a cell carries, its checks.

A kind is listed here and nowhere else. Those who use a load ask it; they never ask which kind it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from weighbridge.matrix.loads.clients import ClientsLoad, ClientsSchema
from weighbridge.matrix.loads.contract import LoadPart, Role, Target
from weighbridge.matrix.loads.open_streams import OpenStreamsLoad, OpenStreamsSchema
from weighbridge.matrix.loads.rate import RateLoad, RateSchema
from weighbridge.matrix.strict import Strict

__all__ = ["LOADS", "ClientsLoad", "Load", "LoadPart", "Loads", "OpenStreamsLoad", "RateLoad", "Role", "Target"]

Load = Annotated[RateLoad | ClientsLoad | OpenStreamsLoad, Field(discriminator="kind")]

# By kind, in the order of tables.
LOADS: Mapping[str, type[RateLoad | ClientsLoad | OpenStreamsLoad]] = MappingProxyType(
    {"rate": RateLoad, "clients": ClientsLoad, "streams": OpenStreamsLoad}
)


class Loads(Strict):
    """How the gateways are driven; null drops a kind."""

    rate: RateSchema | None = Field(default=None, description="Arrival rates.")
    clients: ClientsSchema | None = Field(default=None, description="Numbers of clients.")
    streams: OpenStreamsSchema | None = Field(default=None, description="Open streams, for the memory of each.")

    @property
    def asked(self) -> tuple[RateSchema | ClientsSchema | OpenStreamsSchema, ...]:
        """Return the kinds that the matrix has."""
        every = (self.rate, self.clients, self.streams)
        return tuple(schema for schema in every if schema is not None)

    @property
    def companion(self) -> str | float | None:
        """Return what was asked of a companion; None where no load can have one."""
        return None if self.rate is None else self.rate.companion

    def loads(self, target: Target) -> Iterator[Load]:
        """Yield every load for a response in a mode."""
        for schema in self.asked:
            yield from schema.loads(target)
