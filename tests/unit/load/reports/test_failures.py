"""Error texts and their classes."""

from __future__ import annotations

import pytest

from weighbridge.load.reports.failures import by_class, classify
from weighbridge.record.load_report import FAILURE_CLASSES


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
        ("No record returned from DNS", "other"),
        ("Redirection limit has reached", "other"),
        ("", "other"),
    ],
)
def test_a_text_has_its_class(text: str, expected: str) -> None:
    """Texts of old and new versions, in any case of letters, come into the same class."""
    assert classify(text) == expected
    assert classify(text.upper()) == expected
    assert expected in FAILURE_CLASSES


def test_aborted_workers_are_in_no_class() -> None:
    """Workers cancelled at the deadline are no failed requests; different texts of one class add up."""
    errors = {"aborted due to deadline": 8, "connection error": 2, "connection error: Broken pipe": 1}
    assert by_class(errors) == {"reset": 3}
