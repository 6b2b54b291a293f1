"""Why a gateway does not get ready: it listens elsewhere, or it went into the background."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from weighbridge.errors import LaneFailed
from weighbridge.rig.lanes.lane import not_ready_hint
from weighbridge.rig.lanes.readiness import Watched, wait_ready
from weighbridge.rig.processes import ports
from weighbridge.rig.processes.child import Service
from weighbridge.rig.processes.supervisor import Supervisor

LISTENER = """
import os, socket, sys, time
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
one = socket.socket(family, socket.SOCK_STREAM)
one.bind((sys.argv[1], int(sys.argv[2])))
one.listen()
if len(sys.argv) > 3 and os.fork():
    os._exit(0)
time.sleep(60)
"""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    """One with a clean PATH."""
    with Supervisor(tmp_path / "state", search_path=os.defpath) as made:
        yield made


def waited(supervisor: Supervisor, folder: Path, port: int, *arguments: str) -> str:
    """What is said of a gateway that should listen on a port and was started so."""
    argv = (sys.executable, "-c", LISTENER, *arguments)
    child = supervisor.start(Service(name="Gate", argv=argv, cwd=folder, log=folder / "log", ports=(port,)))

    def probe() -> None:
        socket.create_connection(("127.0.0.1", port), timeout=1.0).close()

    watched = Watched("Gate", child.log_tail, lambda: not_ready_hint(child, port))
    with pytest.raises(LaneFailed) as caught:
        wait_ready(probe, alive=child.death, within_s=1.0, hold_s=0.2, watched=watched)
    return str(caught.value)


def test_a_gateway_that_listens_elsewhere_is_told_where(supervisor: Supervisor, tmp_path: Path) -> None:
    """On another port: both are named."""
    port, other = ports.choose(2, None)
    said = waited(supervisor, tmp_path, port, "127.0.0.1", str(other))
    assert "Gate did not become ready within 1 s: " in said
    assert said.endswith(f"; its processes listen on 127.0.0.1:{other}, not on 127.0.0.1:{port}.")


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="no IPv6 on this machine")
def test_a_gateway_of_ipv6_alone_is_told_so(supervisor: Supervisor, tmp_path: Path) -> None:
    """The right port of the wrong loopback."""
    (port,) = ports.choose(1, None)
    said = waited(supervisor, tmp_path, port, "::1", str(port))
    assert said.endswith(f"; its processes listen on [::1]:{port}, not on 127.0.0.1:{port}.")


def test_a_gateway_that_goes_into_the_background_is_told_to_stay(supervisor: Supervisor, tmp_path: Path) -> None:
    """Its first process ends with 0 and leaves a child that serves, which is nobody's to watch."""
    port, other = ports.choose(2, None)
    said = waited(supervisor, tmp_path, port, "127.0.0.1", str(other), "fork")
    assert "ended before it was ready: Gate ended with exit code 0; a gateway must stay in the foreground" in said
