"""Faults of answers: wrong ones, late ones, none.

Built by the faulty wrapper from a fault's value; each sees chat requests only. Added time is slept on absolute due
times and recorded as it really was.
"""

from __future__ import annotations

import os
import time

from mocks import stamps
from mocks.gateway.faults import values
from mocks.gateway.faults.witness import Witness, Wrap
from mocks.gateway.visit import Handle, Visit
from mocks.wire import DueTimes

EXIT_CODE = 70
_NS = 1_000_000_000
_PAGE = b"<!doctype html><html><head><title>Welcome</title></head><body><h1>It works</h1></body></html>\n"


def add(value: str, witness: Witness) -> Wrap:
    """`add:30ms`: so much time before the proxy sees a request; what was really added is in the rows."""
    added_ns = values.read_duration_ns(value)

    def wrap(proxy: Handle) -> Handle:
        due_times = DueTimes()

        def handle(visit: Visit) -> None:
            witness.request_count += 1
            start_ns = time.monotonic_ns()

            def go_on() -> None:
                reference = stamps.find_reference(visit.body)
                witness.rows.append((reference.decode() if reference else None, start_ns, time.monotonic_ns()))
                proxy(visit)

            due_times.at(start_ns + added_ns, go_on)

        return handle

    return wrap


def slow_capacity(value: str, witness: Witness) -> Wrap:
    """`slow-capacity:R`: requests go on one after the other, at most R a second."""
    step_ns = round(_NS / values.read_rate(value))

    def wrap(proxy: Handle) -> Handle:
        due_times = DueTimes()
        free_ns = 0

        def handle(visit: Visit) -> None:
            nonlocal free_ns
            witness.request_count += 1
            due_ns = max(time.monotonic_ns(), free_ns)
            free_ns = due_ns + step_ns
            due_times.at(due_ns, lambda: proxy(visit))

        return handle

    return wrap


def error500(value: str, witness: Witness) -> Wrap:
    """`error500[:N]`: every Nth request, without N every one, is answered 500."""
    every = values.read_count(value, default=1)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: Visit) -> None:
            witness.request_count += 1
            if witness.request_count % every:
                proxy(visit)
            else:
                error = {"message": "the gateway failed on purpose", "type": "server_error", "code": "fault"}
                visit.respond_json(500, {"error": error})

        return handle

    return wrap


def html(value: str, witness: Witness) -> Wrap:
    """`html`: a page with status 200 instead of an answer."""
    values.read_nothing(value)

    def wrap(_proxy: Handle) -> Handle:
        def handle(visit: Visit) -> None:
            witness.request_count += 1
            visit.respond(200, (("content-type", "text/html; charset=utf-8"),), _PAGE)

        return handle

    return wrap


def die(value: str, witness: Witness) -> Wrap:
    """`die:N`: N requests are served, the next one ends the process at once."""
    served_count = values.read_count(value)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: Visit) -> None:
            witness.request_count += 1
            if witness.request_count > served_count:
                os._exit(EXIT_CODE)
            proxy(visit)

        return handle

    return wrap


def hang(value: str, witness: Witness) -> Wrap:
    """`hang:N`: the Nth request and all after it are never answered."""
    first = values.read_count(value)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: Visit) -> None:
            witness.request_count += 1
            if witness.request_count < first:
                proxy(visit)

        return handle

    return wrap
