"""A mock that does not answer its admin port is a fault of the rig, never of a gateway."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any

import pytest

from weighbridge.errors import LaneFailed
from weighbridge.record.codes import REASONS
from weighbridge.rig.lanes.mocks import Mock


def test_a_mock_that_has_gone_is_the_rigs_fault() -> None:
    """Nobody listens on its admin port any more: `mock_failed`, with its name and the end of its log."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    child: Any = SimpleNamespace(log_tail=lambda: "its last words")
    with pytest.raises(LaneFailed, match="provider did not respond to its admin port") as failed:
        Mock("provider", child, f"http://127.0.0.1:{port}").ask("GET", "/counters")
    assert (failed.value.reason, REASONS["mock_failed"].class_) == ("mock_failed", "rig")
    assert failed.value.log_tail == "its last words"
