"""Command line of the reference gateway: `python -m mocks.gateway --config FILE`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mocks.gateway.config import read_config
from mocks.gateway.service import GatewayServer
from mocks.wire import run


def main() -> int:
    """Run the gateway and return the exit code: 0 after TERM or INT, 2 with one sentence when it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m mocks.gateway")
    parser.add_argument("--config", type=Path, required=True, help="JSON file with the gateway's settings")
    path: Path = parser.parse_args().config

    async def start() -> GatewayServer:
        gateway = GatewayServer(read_config(path))
        await gateway.start()
        return gateway

    return run("gateway", start)


if __name__ == "__main__":
    sys.exit(main())
