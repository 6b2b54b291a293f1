"""The provider's admin port: counters, records, the last request, reset.

Served on a port of its own, so that reading counters never queues behind measured requests' connections.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict

from mocks.provider.answers import read_seed
from mocks.provider.book import BOOK_COLUMNS
from mocks.provider.service import Provider
from mocks.wire import HttpExchange, Server
from mocks.wire.routes import read_object, read_page, refuse, route


class ProviderAdmin:
    """Answers questions about the provider."""

    def __init__(self, provider: Provider, server: Server, timer_kind: str) -> None:
        self._provider = provider
        self._server = server
        self._timer_kind = timer_kind

    def handler(self) -> Callable[[HttpExchange], None]:
        """Return the handler of the admin port."""
        return route(
            {
                ("GET", "/healthz"): lambda exchange: exchange.respond_json(200, {"status": "ok"}),
                ("GET", "/counters"): self._counters,
                ("GET", "/records"): self._records,
                ("GET", "/last"): self._last,
                ("POST", "/reset"): self._reset,
            }
        )

    def _counters(self, exchange: HttpExchange) -> None:
        server = self._server
        counters = self._provider.book.counts() | {
            "connection_count": server.connection_count,
            "open_count": server.open_count,
            "open_max_count": server.open_max_count,
            "cpu_s": time.process_time(),
            "timer": self._timer_kind,
        }
        exchange.respond_json(200, counters)

    def _records(self, exchange: HttpExchange) -> None:
        """All records, or a page of them by `?offset=N&limit=N`."""
        try:
            offset, limit = read_page(exchange.query)
        except ValueError as error:
            refuse(exchange, 400, str(error))
            return
        book = self._provider.book
        rows = book.rows(offset, limit)
        exchange.respond_json(200, {"columns": BOOK_COLUMNS, "row_count": book.row_count, "rows": rows})

    def _last(self, exchange: HttpExchange) -> None:
        """Show the last chat request as it arrived; the body is its text."""
        last = self._provider.last
        if last is None:
            refuse(exchange, 404, "no chat request has arrived since the last reset")
            return
        body = last.body.decode("utf-8", "replace")
        exchange.respond_json(200, {"method": last.method, "path": last.path, "headers": last.headers, "body": body})

    def _reset(self, exchange: HttpExchange) -> None:
        """Start all counts anew; a JSON object may change the plan, and seed the jitter by `jitter_seed`."""
        try:
            document = read_object(exchange)
            jitter_seed = read_seed(document.pop("jitter_seed", None))
            plan = self._provider.plan.changed(document)
        except ValueError as error:
            refuse(exchange, 400, str(error))
            return
        self._provider.reset(plan, jitter_seed)
        self._server.reset_counts()
        exchange.respond_json(200, {"status": "reset", **asdict(plan)})
