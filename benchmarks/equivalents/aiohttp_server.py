"""`python -m benchmarks.equivalents.aiohttp_server --port P`: the provider's non-streaming response by aiohttp."""

from __future__ import annotations

import argparse
import time

import uvloop
from aiohttp import web

from benchmarks.equivalents.chat import Chat, quiet_collector


def application() -> web.Application:
    """One route, no middleware."""
    chat = Chat()

    async def serve(request: web.Request) -> web.Response:
        body = await request.read()
        received_ns = time.monotonic_ns()
        try:
            return web.Response(body=chat.answer(body, received_ns), content_type="application/json")
        except ValueError:
            return web.Response(status=400, body=b"{}", content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", serve)
    return app


def main() -> None:
    """Serve until TERM or INT."""
    parser = argparse.ArgumentParser(prog="benchmarks.equivalents.aiohttp_server")
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    app = application()
    quiet_collector()
    web.run_app(app, host="127.0.0.1", port=port, access_log=None, print=None, loop=uvloop.new_event_loop())


if __name__ == "__main__":
    main()
