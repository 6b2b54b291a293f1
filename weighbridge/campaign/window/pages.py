"""Rows that a program of ours tells page by page, as CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ROWS_A_PAGE = 5_000


def csv_of_pages(ask: Callable[[str], Any]) -> bytes:
    """Return all rows as CSV with their columns' names first; `ask` takes a query and gives one page of them."""
    lines: list[str] = []
    while True:
        page = ask(f"offset={max(0, len(lines) - 1)}&limit={_ROWS_A_PAGE}")
        if not lines:
            lines.append(",".join(page["columns"]))
        lines += [",".join("" if value is None else str(value) for value in row) for row in page["rows"]]
        if len(lines) - 1 >= page["row_count"] or not page["rows"]:
            return ("\n".join(lines) + "\n").encode()
