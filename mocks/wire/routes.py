"""A handler made of a table of routes, and the shape of error responses.

Routes are exact; what is not in the table is 404 or 405 in JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from mocks.wire.exchange import HttpExchange


class BadBody(ValueError):
    """A body that a caller should not have sent; the message is a sentence for the caller."""


Routes = Mapping[tuple[str, str], Callable[[HttpExchange], None]]


def route(routes: Routes) -> Callable[[HttpExchange], None]:
    """Return a handler that calls the route of (method, path)."""
    paths = {path for _, path in routes}

    def handle(exchange: HttpExchange) -> None:
        serve = routes.get((exchange.method, exchange.path))
        if serve is not None:
            serve(exchange)
        elif exchange.path in paths:
            refuse(exchange, 405, f"{exchange.method} is not served at {exchange.path}")
        else:
            refuse(exchange, 404, f"nothing is served at {exchange.path}")

    return handle


def refuse(exchange: HttpExchange, status: int, message: str, *, code: str | None = None) -> None:
    """Answers with an error in the shape that OpenAI's API uses."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    exchange.respond_json(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})


def read_object(exchange: HttpExchange) -> dict[str, Any]:
    """Return the body as a JSON object; an empty body is an empty one. Raises BadBody."""
    if not exchange.body:
        return {}
    try:
        document = exchange.json()
    except (ValueError, RecursionError):
        raise BadBody("the body is not valid JSON") from None
    if not isinstance(document, dict):
        raise BadBody("the body must be a JSON object")
    return document


def read_page(query: str) -> tuple[int, int | None]:
    """Offset and limit of a page asked for by `?offset=N&limit=N`; no limit means all. Raises BadBody."""
    asked = parse_qs(query)
    try:
        offset = int(asked.get("offset", ["0"])[0])
        limit = int(asked["limit"][0]) if "limit" in asked else None
    except ValueError:
        raise BadBody("offset and limit must be whole numbers") from None
    if offset < 0 or (limit is not None and limit < 0):
        raise BadBody("offset and limit must not be negative")
    return offset, limit


def read_seconds(document: Mapping[str, Any], name: str, default: float, limit_s: float = 600.0) -> float:
    """Read a duration in seconds out of a JSON object. Raises BadBody for anything outside 0 … `limit_s`."""
    value = document.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= limit_s:
        raise BadBody(f"{name} must be a number of seconds from 0 to {limit_s:g}, not {value!r}")
    return float(value)
