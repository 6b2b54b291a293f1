"""`python -m mocks.control_plane --port P --admin-port A --config FILE`.

FILE is JSON: {"machine_token": …, "client_keys": […], "yaml": …, "delay_s": 0.0}. Both ports are on the loopback
address; port 0 takes a free one and says which on stdout. Ends on TERM or INT.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mocks.control_plane.admin import ControlPlaneAdmin
from mocks.control_plane.config import read_config
from mocks.control_plane.service import ControlPlane
from mocks.wire import DueTimes, RunningMock, TwoPorts, run, serve


def main() -> int:
    """Exit code of the program."""
    parser = argparse.ArgumentParser(prog="mocks.control_plane", description="A mock control plane on loopback.")
    parser.add_argument("--port", type=int, required=True, help="port of the API")
    parser.add_argument("--admin-port", type=int, required=True, help="port of counters and settings")
    parser.add_argument("--config", type=Path, required=True, help="JSON file with tokens and configuration")
    arguments = parser.parse_args()

    async def start() -> RunningMock:
        config = read_config(arguments.config)
        due_times = DueTimes()
        control_plane = ControlPlane(config, due_times)
        public = await serve(control_plane.handle, arguments.port)
        admin = await serve(ControlPlaneAdmin(control_plane, public, due_times.kind).handler(), arguments.admin_port)
        return TwoPorts(public, admin, due_times)

    return run("mocks.control_plane", start)


if __name__ == "__main__":
    sys.exit(main())
