"""Rows that come page by page."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from weighbridge.campaign.window.pages import csv_of_pages

ROWS = [[number, None if number % 2 else "x"] for number in range(7)]


class Server:
    """Gives three rows a page at most, of `row_count` that it speaks of."""

    def __init__(self, row_count: int = len(ROWS)) -> None:
        self.row_count = row_count
        self.offsets: list[int] = []

    def ask(self, query: str) -> dict[str, Any]:
        """One page."""
        offset = int(parse_qs(query)["offset"][0])
        self.offsets.append(offset)
        return {"columns": ["number", "word"], "rows": ROWS[offset : offset + 3], "row_count": self.row_count}


def test_every_row_comes_once_whatever_the_size_of_a_page() -> None:
    """The next page begins behind the last row; what is absent is an empty field."""
    server = Server()

    lines = csv_of_pages(server.ask).decode().splitlines()

    assert lines == ["number,word", "0,x", "1,", "2,x", "3,", "4,x", "5,", "6,x"]
    assert server.offsets == [0, 3, 6]


def test_a_server_that_has_fewer_rows_than_it_says_is_not_asked_for_ever() -> None:
    """An empty page is the last one."""
    server = Server(row_count=100)

    assert len(csv_of_pages(server.ask).splitlines()) == 1 + len(ROWS)
    assert server.offsets[-1] == len(ROWS)
