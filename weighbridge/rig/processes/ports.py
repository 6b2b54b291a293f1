"""TCP ports on the loopback interface: free ones, taken ones, and who holds them.

Called when a campaign lays out its lanes and after every stop. A free port is a fact of the moment only: whoever
starts a server on it must still be ready to see it fail.
"""

from __future__ import annotations

import errno
import random
import socket
from pathlib import Path

import psutil

from weighbridge.errors import InputError, PortTaken

_HOST = "127.0.0.1"
_LOWEST = 10_240  # below lie the well-known services that may start at any time
_HIGHEST = 65_535
_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_IANA_EPHEMERAL = (49_152, 65_535)
_TRIES = 400


def choose(count: int, base: int | None) -> tuple[int, ...]:
    """`count` ports in a row: from `base` on, or a free range that the kernel gives to nobody by itself.

    Raises PortTaken naming the first port that is not free and its owner, InputError for a range that cannot be.
    """
    if base is not None:
        return _from_base(count, base)
    starts = _starts(count)
    # Drawn, not counted up: two campaigns that start together shall not try the same range.
    for start in random.SystemRandom().sample(starts, min(_TRIES, len(starts))):
        ports = tuple(range(start, start + count))
        if all(is_free(port) for port in ports):
            return ports
    raise PortTaken(f"No {count} free ports in a row were found on {_HOST}; give a range with --port-base.")


def is_free(port: int) -> bool:
    """Whether a server could take the port now; connections that linger after a close do not count."""
    return _bind_error(port) is None


def owner(port: int) -> str:
    """Who listens on a port, such as `nginx (pid 812)`."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return "another user's program"
    listeners = [c for c in connections if c.status == psutil.CONN_LISTEN and c.laddr and c.laddr.port == port]
    for listener in listeners:
        if listener.pid is None:
            continue
        try:
            return f"{psutil.Process(listener.pid).name()} (pid {listener.pid})"
        except psutil.Error:
            continue
    return "another user's program" if listeners else "a program that does not show itself"


def require_free(ports: tuple[int, ...], advice: str) -> None:
    """Nothing; raises PortTaken for the first port that is not free, naming its owner."""
    for port in ports:
        number = _bind_error(port)
        if number == errno.EACCES:
            raise PortTaken(f"Port {port} on {_HOST} may only be used with more rights than we have; {advice}.")
        if number is not None:
            raise PortTaken(f"Port {port} on {_HOST} is taken by {owner(port)}; {advice}.")


def _from_base(count: int, base: int) -> tuple[int, ...]:
    if base < 1 or base + count - 1 > _HIGHEST:
        raise InputError(
            f"--port-base {base}: {count} ports from there do not exist",
            expected=f"expected a number from 1 to {_HIGHEST - count + 1}",
        )
    ports = tuple(range(base, base + count))
    require_free(ports, "stop it, or give another --port-base")
    return ports


def _starts(count: int) -> list[int]:
    low, high = _ephemeral()
    # The kernel hands ephemeral ports to outgoing connections: a load of thousands would take ours.
    below = list(range(_LOWEST, min(low, _HIGHEST + 1) - count + 1))
    above = list(range(max(high + 1, _LOWEST), _HIGHEST - count + 2))
    return below + above or list(range(_LOWEST, _HIGHEST - count + 2))


def _ephemeral() -> tuple[int, int]:
    try:
        low, high = _RANGE_FILE.read_text().split()
        return int(low), int(high)
    except (OSError, ValueError):
        return _IANA_EPHEMERAL


def _bind_error(port: int) -> int | None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            return error.errno or errno.EADDRINUSE
    return None
