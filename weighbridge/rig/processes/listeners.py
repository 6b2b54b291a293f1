"""Where processes of ours listen for TCP connections: what a gateway that never gets ready may have mistaken."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

import psutil

from weighbridge.rig.tree.process_tree import Member, is_alive

_REACHED_AT = "127.0.0.1"
Address = tuple[str, int]


def listening(members: Iterable[Member]) -> tuple[Address, ...]:
    """Return host and port of every TCP socket that these processes listen on, each once, in order."""
    return tuple(sorted({found for member in members for found in _of(member)}))


def serves(addresses: Iterable[Address], port: int) -> bool:
    """Tell whether one of these can be reached on a port of 127.0.0.1; a socket of all of IPv6 may be."""
    return any(port == own and host in (_REACHED_AT, "0.0.0.0", "::") for host, own in addresses)  # noqa: S104 - read, not bound


def elsewhere_text(addresses: Iterable[Address], port: int) -> str:
    """Return `its processes listen on [::1]:8000, not on 127.0.0.1:8000`; empty where they listen there."""
    known = tuple(addresses)
    if serves(known, port):
        return ""
    listed = " and ".join(_text(one) for one in known)
    where = f"its processes listen on {listed}" if known else "its processes listen on no TCP port"
    return f"{where}, not on {_text((_REACHED_AT, port))}"


def _of(member: Member) -> Iterator[Address]:
    try:
        connections = psutil.Process(member.pid).net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return
    if is_alive(member):
        yield from ((one.laddr.ip, one.laddr.port) for one in connections if one.status == psutil.CONN_LISTEN)


def _text(address: Address) -> str:
    host, port = address
    is_v6 = ipaddress.ip_address(host).version == 6
    return f"[{host}]:{port}" if is_v6 else f"{host}:{port}"
