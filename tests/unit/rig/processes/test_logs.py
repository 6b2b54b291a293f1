"""Logs that are cut, coloured, binary or full of secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from weighbridge.rig.processes.logs import MASK, clean, head, mask, tail

SECRET = "sk-weigh-0123456789"  # noqa: S105  # opens nothing


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where the log of a test lies."""
    return tmp_path / "log"


def test_the_last_and_the_first_lines(log: Path) -> None:
    """`tail` gives the last lines and `head` the first, in order."""
    log.write_text("".join(f"line {n}\n" for n in range(100)))
    assert tail(log, (), 2) == "line 98\nline 99"
    assert head(log, (), 2) == "line 0\nline 1"


def test_no_log_is_an_empty_text(log: Path) -> None:
    """A log that was never written does not raise."""
    assert tail(log, (SECRET,)) == head(log, (SECRET,)) == ""


def test_secrets_are_masked_longest_first() -> None:
    """A secret that begins with another secret leaves no rest; an empty one masks nothing."""
    assert clean(f"key={SECRET}".encode(), ("sk-weigh", SECRET, "")) == f"key={MASK}"
    assert mask(f"key={SECRET}\x00".encode(), ("sk-weigh", SECRET, "")) == f"key={MASK}\x00".encode()


def test_control_characters_do_not_hide_a_secret() -> None:
    """A secret with colour codes in its middle is masked like any other."""
    assert clean(b"sk-weigh\x1b[31m-01234\x0056789\x1b]0;title\x07!", (SECRET,)) == f"{MASK}!"


def test_control_characters_are_removed(log: Path) -> None:
    """Nothing that moves a terminal's cursor or turns text around is left."""
    log.write_bytes(b"\x1b[2Jred\x1b[0m \x07bell\r\n\xe2\x80\xaeturned\xff\n\ttab")
    assert tail(log, ()) == "red bell\nturned\ufffd\n\ttab"


@pytest.mark.parametrize("offset", range(0, 40, 3))
def test_no_cut_leaves_half_a_secret(log: Path, offset: int) -> None:
    """Wherever the window of a long log begins or stops, with line ends and without, no end of a secret shows."""
    parts = [SECRET[n:] for n in range(1, len(SECRET) - 3)] + [SECRET[:n] for n in range(4, len(SECRET))]
    for separator in ("", "\n"):
        log.write_text("x" * offset + (SECRET + separator) * 8_000)
        for text in (tail(log, (SECRET,), 9_999), head(log, (SECRET,), 9_999)):
            assert not any(part in text for part in parts)


def test_a_long_line_is_cut(log: Path) -> None:
    """One line of a megabyte does not get into a record whole."""
    log.write_text("y" * 1_000_000)
    assert len(tail(log, ())) <= 1_000
