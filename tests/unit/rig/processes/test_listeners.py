"""Where processes listen, and whether that is where they should."""

from __future__ import annotations

import os
import socket

import pytest

from weighbridge.rig.processes.listeners import elsewhere_text, listening, serves
from weighbridge.rig.tree.process_tree import Member, start_of


def test_what_a_process_listens_on_is_found() -> None:
    """Ourselves, on a port of the kernel's choice; a process of another start time is none of ours."""
    ourselves = Member(os.getpid(), start_of(os.getpid()) or "")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        assert address in listening([ourselves])
        assert listening([Member(os.getpid(), "another")]) == ()
    assert address not in listening([ourselves])


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        ((("0.0.0.0", 80),), ""),
        ((("::", 80), ("127.0.0.1", 81)), ""),
        ((), "its processes listen on no TCP port, not on 127.0.0.1:80"),
        ((("::1", 80), ("127.0.0.1", 81)), "its processes listen on [::1]:80 and 127.0.0.1:81, not on 127.0.0.1:80"),
    ],
)
def test_a_socket_of_every_address_serves_ours(addresses: tuple[tuple[str, int], ...], said: str) -> None:
    """All of IPv4 or IPv6 holds the loopback; IPv6's own loopback and other ports do not."""
    assert elsewhere_text(addresses, 80) == said
    assert serves(addresses, 80) == (not said)
