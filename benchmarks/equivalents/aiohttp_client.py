"""An open-loop load generator as one would write it with aiohttp: even arrivals, one task a request, on uvloop.

`python -m benchmarks.equivalents.aiohttp_client --url U --bodies FILE --rate R --count N --connections C --out FILE`
writes a sample table. Its waits are the loop's own, which know whole milliseconds only.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

import aiohttp
import numpy as np
import uvloop

from weighbridge.record.samples import from_columns

Row = tuple[float, float, float, int, int]


async def drive(arguments: argparse.Namespace) -> list[Row]:
    """Rows (intended, sent, end, status, body bytes) in seconds from the start, in order of arrival."""
    bodies = arguments.bodies.read_bytes().splitlines()
    connector = aiohttp.TCPConnector(limit=arguments.connections)
    headers = {"content-type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        begun = time.monotonic() + 0.2

        async def send(intended_s: float, body: bytes) -> Row:
            sent_s = time.monotonic() - begun
            async with session.post(arguments.url, data=body) as response:
                answer = await response.read()
            return intended_s, sent_s, time.monotonic() - begun, response.status, len(answer)

        tasks = []
        for index in range(arguments.count):
            intended_s = index / arguments.rate
            await asyncio.sleep(max(0.0, begun + intended_s - time.monotonic()))
            tasks.append(asyncio.create_task(send(intended_s, bodies[index % len(bodies)])))
        return await asyncio.gather(*tasks)


def main() -> None:
    """Drives one window and writes its samples."""
    parser = argparse.ArgumentParser(prog="benchmarks.equivalents.aiohttp_client")
    parser.add_argument("--url", required=True)
    parser.add_argument("--bodies", type=Path, required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    intended, sent, end, status, size = zip(*uvloop.run(drive(arguments)), strict=True)
    table = from_columns(
        intended_s=np.array(intended),
        sent_s=np.array(sent),
        end_s=np.array(end),
        status=np.array(status, dtype=np.int64),
        received_bytes=np.array(size, dtype=np.int64),
    )
    arguments.out.write_bytes(table.to_bytes())


if __name__ == "__main__":
    main()
