"""`python -m benchmarks.equivalents.uvicorn_server --port P`: the provider's plain response as bare ASGI.

The fastest form of uvicorn: uvloop, httptools, no lifespan, no access log, no headers of its own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from benchmarks.equivalents.chat import Chat, quiet_collector

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Application:
    """The ASGI application."""

    def __init__(self) -> None:
        self._chat = Chat()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["method"] != "POST" or scope["path"] != "/v1/chat/completions":
            await _respond(send, 404, b"{}")
            return
        message = await receive()
        body = message["body"]
        while message.get("more_body"):
            message = await receive()
            body += message["body"]
        received_ns = time.monotonic_ns()
        try:
            await _respond(send, 200, self._chat.answer(body, received_ns))
        except ValueError:
            await _respond(send, 400, b"{}")


async def _respond(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    """Serve until TERM or INT."""
    parser = argparse.ArgumentParser(prog="benchmarks.equivalents.uvicorn_server")
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    application = Application()
    quiet_collector()
    uvicorn.run(
        application,
        host="127.0.0.1",
        port=port,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        log_level="error",
        access_log=False,
        date_header=False,
        server_header=False,
    )


if __name__ == "__main__":
    main()
