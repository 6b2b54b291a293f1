"""Error texts and their classes."""

from __future__ import annotations

import pytest

from weighbridge.load.reports.failures import by_class, classify
from weighbridge.record.load_report import FAILURES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Connection refused (os error 111)", "connect_refused"),
        ("timeout", "timeout"),
        ("connection error", "reset"),
        ("connection error: Connection reset by peer (os error 104)", "reset"),
        ("connection closed before message completed", "closed_before_answer"),
        ("error reading a body from connection", "body_broken"),
        ("error reading a body from connection: end of file before message length reached", "body_broken"),
        ("error reading a body from connection: Connection reset by peer (os error 104)", "body_broken"),
        ("invalid HTTP version parsed", "protocol"),
        ("Too many open files (os error 24)", "client_files"),
        ("No record returned from DNS", "client_resolve"),
        ("failed to lookup address information: Name or service not known", "client_resolve"),
        ("Cannot assign requested address (os error 99)", "client_ports"),
        ("Die angeforderte Adresse kann nicht zugewiesen werden (os error 99)", "client_ports"),
        ("tcp connect error: Can't assign requested address (os error 49)", "client_ports"),
        ("No buffer space available (os error 105)", "client_memory"),
        ("No route to host (os error 113)", "client_route"),
        ("invalid peer certificate: UnknownIssuer", "client_tls"),
        ("Verbindungsaufbau abgelehnt (os error 111)", "connect_refused"),
        ("error writing a body to connection", "reset"),
        ("operation was canceled", "closed_before_answer"),
        ("Redirection limit has reached", "other"),
        ("", "other"),
    ],
)
def test_a_text_has_its_class(text: str, expected: str) -> None:
    """Texts of old and new versions, in any case of letters, come into the same class."""
    assert classify(text) == expected
    assert classify(text.upper()) == expected
    assert expected in FAILURES


def test_aborted_workers_are_in_no_class() -> None:
    """Workers cancelled at the deadline are no failed requests; different texts of one class add up."""
    errors = {"aborted due to deadline": 8, "connection error": 2, "connection error: Broken pipe": 1}
    assert by_class(errors) == {"reset": 3}
