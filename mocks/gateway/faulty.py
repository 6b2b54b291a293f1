"""The reference gateway with one fault: `python -m mocks.gateway.faulty --config FILE --fault NAME[:VALUE]`.

The proxy is the same; the fault stands between it and the server. `GET /faults` tells what the fault did, whole or
by page (`?offset=N&limit=N`); `POST /faults/reset` starts that anew. For tests and for checking the measurement; a
fault `none` changes nothing. A dash may stand for the colon, as settings of a matrix need it: `die-40` is `die:40`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path

from mocks.contract import CHAT_PATH
from mocks.gateway.config import read_config
from mocks.gateway.faults import (
    answers,
    connections,
    delays,
    identity,
    lock,
    processes,
    repace,
    stall,
    streams,
    tampering,
    values,
)
from mocks.gateway.faults.ground_truth import BuildFault, GroundTruth
from mocks.gateway.proxy import READY_PATH, ProviderClient
from mocks.gateway.service import GatewayServer
from mocks.gateway.visit import ClientRequest, Handle, Wrap
from mocks.wire import run
from mocks.wire.routes import read_page

FAULTS_PATH = "/faults"
RESET_PATH = "/faults/reset"


def _none(value: str, truth: GroundTruth) -> Wrap:  # noqa: ARG001 - every fault is built alike
    values.read_nothing(value)
    return lambda proxy: proxy


FAULTS: Mapping[str, BuildFault] = {
    "none": _none,
    "add": delays.add,
    "delay": delays.delay,
    "burn": delays.burn,
    "drift": delays.drift,
    "buffer": streams.buffer,
    "close": connections.close,
    "change-request": tampering.change_request,
    "coalesce": streams.coalesce,
    "crossed": identity.crossed,
    "drop-chunk": streams.drop_chunk,
    "heavy": streams.heavy,
    "lock": lock.lock,
    "old": identity.old,
    "re-pace": repace.repace,
    "repeat": identity.repeat,
    "stall": stall.stall,
    "error500": answers.error500,
    "html": answers.html,
    "late-ready": answers.late_ready,
    "no-end": streams.no_end,
    "die": answers.die,
    "hang": answers.hang,
    "never-ready": _none,  # a fault of the readiness path alone
    "ignore-term": processes.ignore_term,
    "slow-capacity": answers.slow_capacity,
    "orphan": processes.orphan,
    "bg-cpu": processes.bg_cpu,
    "wrong-usage": tampering.wrong_usage,
}


def build(fault: str, truth: GroundTruth) -> Wrap:
    """Return the wrapper of a fault such as `die:40`; raises ValueError for what is none."""
    name, value = _split(fault)
    if name not in FAULTS:
        close = get_close_matches(name, FAULTS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(FAULTS)}"
        raise ValueError(f"there is no fault {name!r}; {hint}")
    try:
        bend = FAULTS[name](value, truth)
    except ValueError as error:
        raise ValueError(f"{fault}: {error}") from error
    return lambda proxy: _routed(proxy, bend(proxy), truth, never_ready=name == "never-ready")


def behind(fault: str, truth: GroundTruth) -> Callable[[ProviderClient], ProviderClient]:
    """Return what stands between the proxy and the provider: a delay, or nothing."""
    name, value = _split(fault)
    return delays.delayed(value, truth) if name == "delay" else lambda provider: provider


def _split(fault: str) -> tuple[str, str]:
    """Name and value; a dash parts them only where a known name ends."""
    name, colon, value = fault.partition(":")
    if colon or name in FAULTS:
        return name, value
    heads = [known for known in FAULTS if name.startswith(f"{known}-")]
    head = max(heads, key=len, default=name)
    return head, name[len(head) + 1 :]


def _routed(proxy: Handle, faulty: Handle, truth: GroundTruth, *, never_ready: bool) -> Handle:
    def handle(visit: ClientRequest) -> None:
        if visit.path == CHAT_PATH:
            faulty(visit)
        elif visit.path in (FAULTS_PATH, RESET_PATH):
            _report(visit, truth)
        elif visit.path == READY_PATH and never_ready:
            visit.respond_json(
                503, {"status": "unready", "reason": "it never gets ready, on purpose", "undelivered": 0}
            )
        else:
            proxy(visit)

    return handle


def _report(visit: ClientRequest, truth: GroundTruth) -> None:
    """Tell what the fault did, or start anew."""
    if visit.method != ("GET" if visit.path == FAULTS_PATH else "POST"):
        visit.respond_json(405, _error(f"{visit.method} is not served at {visit.path}"))
    elif visit.path == RESET_PATH:
        truth.reset()
        visit.respond_json(200, {"status": "reset"})
    else:
        try:
            page = read_page(visit.query)
        except ValueError as error:
            visit.respond_json(400, _error(str(error)))
            return
        visit.respond_json(200, truth.document(*page))


def _error(message: str) -> dict[str, dict[str, str]]:
    return {"error": {"message": message, "type": "invalid_request_error"}}


def main() -> int:
    """Run the gateway and return the exit code: 0 after TERM or INT, 2 with one sentence when it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m mocks.gateway.faulty")
    parser.add_argument("--config", type=Path, required=True, help="JSON file with the gateway's settings")
    parser.add_argument("--fault", default="none", help=f"NAME[:VALUE], one of {', '.join(FAULTS)}")
    arguments = parser.parse_args()

    async def start() -> GatewayServer:
        truth = GroundTruth(arguments.fault)
        wrap = build(arguments.fault, truth)
        gateway = GatewayServer(read_config(arguments.config), behind(arguments.fault, truth))
        await gateway.start(wrap)
        return gateway

    return run("gateway", start)


if __name__ == "__main__":
    sys.exit(main())
