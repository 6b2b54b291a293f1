"""The gateway's HTTP client against a server that is written byte by byte."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
import uvloop

from mocks.gateway.answer import BUFFER_LIMIT_BYTES, UpstreamLost
from mocks.gateway.buffered import read_stream
from mocks.gateway.upstream import Call, UpstreamPool

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
GET = Call("GET", "/")
LONGEST_WAIT_S = 20.0


def play(script: Script, scene: Callable[[UpstreamPool], Awaitable[None]], *, silence_limit_s: float = 10.0) -> int:
    """The number of connections that a scene with a scripted server took."""
    count = 0

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        try:
            await script(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def whole() -> None:
        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        pool = UpstreamPool(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", silence_limit_s=silence_limit_s)
        try:
            async with asyncio.timeout(LONGEST_WAIT_S):
                await scene(pool)
        finally:
            pool.close()
            server.close()

    uvloop.run(whole())
    return count


async def head(reader: asyncio.StreamReader) -> bytes:
    """The head of one request."""
    return await reader.readuntil(b"\r\n\r\n")


def version_text(*pieces: bytes) -> Script:
    """A server that responds to every request with these pieces and closes after the last request."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await head(reader)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.005)

    return script


def test_connections_are_kept_and_the_last_one_is_used_first() -> None:
    """Calls one after the other share a connection; two at a time need a second, never a third."""

    async def scene(pool: UpstreamPool) -> None:
        for _ in range(3):
            assert await (await pool.send(GET)).whole(100) == b"ok"
        answers = await asyncio.gather(pool.send(GET), pool.send(GET))
        assert [await answer.whole(100) for answer in answers] == [b"ok", b"ok"]
        assert await (await pool.send(GET)).whole(100) == b"ok"

    assert play(version_text(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), scene) == 2


def test_chunks_are_decoded_and_told_read_by_read() -> None:
    """Each read of a chunked response is one piece, however its chunks were cut."""
    pieces = (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        b"3\r\nabc\r\n2\r\nde\r\n",
        b"1\r\nf\r\n",
        b"0\r\n\r\n",
    )

    async def scene(pool: UpstreamPool) -> None:
        answer = await pool.send(GET)
        found = []
        while (piece := await answer.piece()) is not None:
            found.append(piece)
        assert found == [b"abcde", b"f"]

    play(version_text(*pieces), scene)


def test_an_answer_that_ends_with_the_connection_is_whole() -> None:
    """Without any length the close is the end, and the connection is not used again."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nall of it")

    async def scene(pool: UpstreamPool) -> None:
        for _ in range(2):
            assert await (await pool.send(GET)).whole(100) == b"all of it"

    assert play(script, scene) == 2


def test_an_answer_that_is_cut_is_lost() -> None:
    """A close before the announced length is an error, not a short response."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")

    async def scene(pool: UpstreamPool) -> None:
        answer = await pool.send(GET)
        with pytest.raises(UpstreamLost, match="before the response was complete"):
            await answer.whole(100)

    play(script, scene)


def test_what_is_not_http_is_lost() -> None:
    """Bytes that no parser takes are an error that says so."""

    async def scene(pool: UpstreamPool) -> None:
        with pytest.raises(UpstreamLost, match="not HTTP"):
            await pool.send(GET)

    play(version_text(b"good day\r\n\r\n"), scene)


def test_silence_has_a_limit() -> None:
    """A server that never responses, or stops in its response, is given up and called timed out."""

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        await reader.read()

    async def stuck(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        await reader.read()

    async def scene(pool: UpstreamPool) -> None:
        with pytest.raises(UpstreamLost) as detected:
            await (await pool.send(GET)).whole(100)
        assert detected.value.timed_out

    play(silent, scene, silence_limit_s=0.05)
    play(stuck, scene, silence_limit_s=0.05)


def test_a_hint_before_the_answer_is_passed_over() -> None:
    """An informational response is not the response."""
    hint = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"

    async def scene(pool: UpstreamPool) -> None:
        answer = await pool.send(GET)
        assert (answer.status, await answer.whole(10)) == (200, b"ok")

    play(version_text(hint, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), scene)


def test_a_slow_reader_holds_the_sender_back_and_loses_nothing() -> None:
    """Ten times the limit comes through whole, though what is buffered at any moment stays near the limit."""
    size_bytes = 10 * BUFFER_LIMIT_BYTES
    sent_bytes = 0

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent_bytes
        await head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size_bytes)
        while sent_bytes < size_bytes:
            writer.write(b"x" * 65536)
            sent_bytes += 65536
            await writer.drain()

    async def scene(pool: UpstreamPool) -> None:
        answer = await pool.send(GET)
        await asyncio.sleep(0.1)  # what can pile up does so now
        got_bytes, buffered_max_bytes = 0, answer._buffered_bytes
        while (piece := await answer.piece()) is not None:
            got_bytes += len(piece)
            buffered_max_bytes = max(buffered_max_bytes, answer._buffered_bytes)
            await asyncio.sleep(0)
        assert got_bytes == size_bytes
        assert BUFFER_LIMIT_BYTES <= buffered_max_bytes < 3 * BUFFER_LIMIT_BYTES

    play(script, scene)


def test_an_answer_that_is_too_large_is_given_up() -> None:
    """Reading more than the limit raises instead of filling memory."""

    async def scene(pool: UpstreamPool) -> None:
        with pytest.raises(UpstreamLost, match="larger than 1 bytes"):
            await (await pool.send(GET)).whole(1)

    play(version_text(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), scene)


@pytest.mark.parametrize("url", ["http://192.0.2.1:80", "https://127.0.0.1:80", "http://127.0.0.1", "127.0.0.1:80"])
def test_only_loopback_is_called(url: str) -> None:
    """No other host, no other scheme, no missing port."""
    with pytest.raises(ValueError, match="loopback only"):
        UpstreamPool(url)


def test_line_separators_inside_a_text_end_no_line() -> None:
    """A stream whose text holds U+2028 and U+0085 as they are is read as one event each."""
    stream = read_stream(
        'data: {"choices":[{"delta":{"content":"a\u2028b\u0085c"}}]}\r\n\r\ndata: [DONE]\r\n\r\n'.encode()
    )
    assert stream.texts == ["a\u2028b\u0085c"]
