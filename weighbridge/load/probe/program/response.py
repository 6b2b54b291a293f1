"""The bytes of one response as HTTP: status, headers, and the pieces of its body with the read that brought each.

It must not judge.
"""

from __future__ import annotations

from collections.abc import Sequence

import httptools


class Response:
    """What the reads of one response hold; `headers_read` and the first number of each part count reads from 0.

    `wanted` is the value of one more header, asked for by its lower-case name.
    """

    __slots__ = (
        "_number",
        "_parser",
        "_wanted",
        "complete",
        "content_type",
        "framed",
        "headers_read",
        "parts",
        "status",
        "wanted",
    )

    def __init__(self, reads: Sequence[tuple[int, bytes]], wanted: bytes = b"") -> None:
        self._wanted = wanted
        self.wanted = ""
        self.status = 0
        self.content_type = ""
        self.framed = False
        self.complete = False
        self.headers_read = -1
        self.parts: list[tuple[int, bytes]] = []
        self._parser = httptools.HttpResponseParser(self)
        for number, (_, data) in enumerate(reads):
            self._number = number
            try:
                self._parser.feed_data(data)
            except (httptools.HttpParserError, httptools.HttpParserUpgrade):
                break

    @property
    def body_bytes(self) -> int:
        """Length of the body."""
        return sum(len(data) for _, data in self.parts)

    # httptools
    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep what says how the body is framed and what it is."""
        lowered = name.lower()
        if lowered == b"content-type":
            self.content_type = value.decode("latin-1")
        elif lowered in (b"content-length", b"transfer-encoding"):
            self.framed = True
        elif lowered == self._wanted:
            self.wanted = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Keep the status; what an interim response said of itself is dropped."""
        status = self._parser.get_status_code()
        if status < 200:
            self.content_type, self.framed, self.wanted = "", False, ""
        elif not self.status:
            self.status = status
            self.headers_read = self._number
            self.framed = self.framed or status in (204, 304)

    def on_body(self, data: bytes) -> None:
        """Keep a piece of the body."""
        if not self.complete:
            self.parts.append((self._number, data))

    def on_message_complete(self) -> None:
        """Note that the response is whole."""
        self.complete = self.complete or self.status > 0
