"""Ports, with real sockets."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from weighbridge.errors import InputError, PortTaken
from weighbridge.rig.processes import ports


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which this very process listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_free_range_lies_in_a_row_and_outside_the_ephemeral_ports() -> None:
    """The kernel never gives one of the chosen ports to an outgoing connection."""
    low, high = (int(n) for n in Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    for _ in range(10):
        chosen = ports.choose(8, None)
        assert list(chosen) == list(range(chosen[0], chosen[0] + 8))
        assert all(not low <= port <= high for port in chosen)


def test_two_choices_differ() -> None:
    """Two campaigns that start at the same moment do not go for the same range."""
    assert len({ports.choose(4, None) for _ in range(5)}) > 1


def test_a_taken_port_is_named_with_its_owner(taken: int) -> None:
    """The sentence has the port, the program's name and its pid."""
    with pytest.raises(PortTaken) as detected:
        ports.choose(1, taken)
    name = psutil.Process().name()
    assert f"Port {taken} on 127.0.0.1 is taken by {name} (pid {os.getpid()})" in str(detected.value)
    assert detected.value.exit_code == 2


def test_a_taken_port_in_the_middle_of_the_range_is_found(taken: int) -> None:
    """Not the first port of a range alone is tried."""
    with pytest.raises(PortTaken, match=f"Port {taken} "):
        ports.choose(3, taken - 1 if ports.is_free(taken - 1) else taken)


def test_a_listener_on_all_addresses_takes_the_port_too() -> None:
    """A server on 0.0.0.0 that allows reuse is not overlooked."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("0.0.0.0", 0))
        server.listen()
        assert not ports.is_free(server.getsockname()[1])


def test_a_port_whose_connections_linger_is_free() -> None:
    """TIME_WAIT after a server's close does not make its port look taken."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        peer, _ = server.accept()
        peer.close()  # the side that closes first is the one that lingers
        client.recv(1)
        client.close()
    lingering = [c for c in psutil.net_connections("tcp") if c.laddr and c.laddr.port == port]
    assert [c.status for c in lingering] == [psutil.CONN_TIME_WAIT]
    assert ports.is_free(port)


@pytest.mark.parametrize("base", [0, -5, 65_535, 70_000])
def test_a_range_that_cannot_be_is_bad_input(base: int) -> None:
    """A base that leaves no room is refused as input, not as a taken port."""
    with pytest.raises(InputError, match="--port-base"):
        ports.choose(2, base)


def test_a_base_that_is_free_is_used() -> None:
    """With a base the ports are exactly those from there on."""
    base = ports.choose(3, None)[0]
    assert ports.choose(3, base) == (base, base + 1, base + 2)


def test_a_bound_port_without_listener_is_taken() -> None:
    """An owner that the kernel does not list is said to be unseen, instead of nothing."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        with pytest.raises(PortTaken, match="a program that does not show itself"):
            ports.choose(1, held.getsockname()[1])
