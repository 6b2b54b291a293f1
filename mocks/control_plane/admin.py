"""The control plane's admin port: counters, reset, and how long it takes to respond.

Served on a port of its own, so that reading counters is never counted as a call.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from mocks.control_plane.service import ControlPlane
from mocks.wire import HttpExchange, Server
from mocks.wire.routes import BadBody, read_object, read_seconds, refuse, route


class ControlPlaneAdmin:
    """Answers questions about the control plane."""

    def __init__(self, control_plane: ControlPlane, server: Server, timer_kind: str) -> None:
        self._control_plane = control_plane
        self._server = server
        self._timer_kind = timer_kind

    def handler(self) -> Callable[[HttpExchange], None]:
        """Return the handler of the admin port."""
        return route(
            {
                ("GET", "/healthz"): lambda exchange: exchange.respond_json(200, {"status": "ok"}),
                ("GET", "/counters"): self._counters,
                ("POST", "/reset"): self._reset,
                ("POST", "/settings"): self._settings,
            }
        )

    def _counters(self, exchange: HttpExchange) -> None:
        server = self._server
        counters = self._control_plane.tally.document() | {
            "connection_count": server.connection_count,
            "open_count": server.open_count,
            "open_max_count": server.open_max_count,
            "delay_s": self._control_plane.config.delay_s,
            "cpu_s": time.process_time(),
            "timer": self._timer_kind,
        }
        exchange.respond_json(200, counters)

    def _reset(self, exchange: HttpExchange) -> None:
        self._control_plane.reset()
        self._server.reset_counts()
        exchange.respond_json(200, {"status": "reset"})

    def _settings(self, exchange: HttpExchange) -> None:
        try:
            document = read_object(exchange)
            if set(document) != {"delay_s"}:
                raise BadBody("the settings are an object with delay_s alone")
            delay_s = read_seconds(document, "delay_s", 0.0)
        except BadBody as error:
            refuse(exchange, 400, str(error))
            return
        self._control_plane.set_delay(delay_s)
        exchange.respond_json(200, {"delay_s": delay_s})
