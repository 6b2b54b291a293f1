"""Faults of answers: wrong ones, late ones, none.

Built by the faulty wrapper from a fault's value; each sees chat requests only. Known time and known work are in
`delays`.
"""

from __future__ import annotations

import os
import time

from mocks.clock import NS_PER_S
from mocks.gateway.faults import values
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.visit import ClientRequest, Handle, Wrap
from mocks.wire import DueTimes

EXIT_CODE = 70
_PAGE = b"<!doctype html><html><head><title>Welcome</title></head><body><h1>It works</h1></body></html>\n"


def slow_capacity(value: str, truth: GroundTruth) -> Wrap:
    """`slow-capacity:R`: requests go on one after the other, at most R a second."""
    step_ns = round(NS_PER_S / values.read_rate(value))

    def wrap(proxy: Handle) -> Handle:
        due_times = DueTimes()
        free_ns = 0

        def handle(visit: ClientRequest) -> None:
            nonlocal free_ns
            truth.request_count += 1
            due_ns = max(time.monotonic_ns(), free_ns)
            free_ns = due_ns + step_ns
            due_times.at(due_ns, lambda: proxy(visit))

        return handle

    return wrap


def error500(value: str, truth: GroundTruth) -> Wrap:
    """`error500[:N]`: every Nth request, without N every one, is answered 500."""
    every = values.read_count(value, default=1)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            if truth.request_count % every:
                proxy(visit)
            else:
                error = {"message": "the gateway failed on purpose", "type": "server_error", "code": "fault"}
                visit.respond_json(500, {"error": error})

        return handle

    return wrap


def late_ready(value: str, truth: GroundTruth) -> Wrap:
    """`late-ready:T`: every request of the first T after the start is answered 503, though the gateway says ready."""
    until_ns = time.monotonic_ns() + values.read_duration_ns(value)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            if time.monotonic_ns() >= until_ns:
                proxy(visit)
            else:
                visit.respond_json(503, {"error": {"message": "still starting, on purpose", "type": "server_error"}})

        return handle

    return wrap


def html(value: str, truth: GroundTruth) -> Wrap:
    """`html`: a page with status 200 instead of a response."""
    values.read_nothing(value)

    def wrap(_proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            visit.respond(200, (("content-type", "text/html; charset=utf-8"),), _PAGE)

        return handle

    return wrap


def die(value: str, truth: GroundTruth) -> Wrap:
    """`die:N`: N requests are served, the next one ends the process at once."""
    served_count = values.read_count(value)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            if truth.request_count > served_count:
                os._exit(EXIT_CODE)
            proxy(visit)

        return handle

    return wrap


def hang(value: str, truth: GroundTruth) -> Wrap:
    """`hang:N`: the Nth request and all after it are never answered."""
    first = values.read_count(value)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            if truth.request_count < first:
                proxy(visit)

        return handle

    return wrap
