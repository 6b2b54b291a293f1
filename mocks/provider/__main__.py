"""`python -m mocks.provider --port P --admin-port A [--delay-s 0.02 --chunks 16 --gap-s 0.005 --model NAME]`.

Both ports are on the loopback address; port 0 takes a free one and says which on stdout. Ends on TERM or INT.
"""

from __future__ import annotations

import argparse
import sys

from mocks.provider.admin import ProviderAdmin
from mocks.provider.answers import AnswerPlan
from mocks.provider.service import Provider
from mocks.wire import DueTimes, RunningMock, TwoPorts, run, serve


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mocks.provider", description="A mock LLM provider on the loopback address."
    )
    parser.add_argument("--port", type=int, required=True, help="port of the API")
    parser.add_argument("--admin-port", type=int, required=True, help="port of counters and records")
    parser.add_argument("--delay-s", type=float, default=0.02, help="seconds to the response or the first chunk")
    parser.add_argument("--chunks", type=int, default=16, help="content chunks of a stream")
    parser.add_argument("--gap-s", type=float, default=0.005, help="seconds between chunks")
    parser.add_argument("--model", default="mock-model", help="name in the list of models; any is answered")
    return parser.parse_args()


def main() -> int:
    """Exit code of the program."""
    arguments = _arguments()

    async def start() -> RunningMock:
        plan = AnswerPlan(arguments.delay_s, arguments.chunks, arguments.gap_s)
        due_times = DueTimes()
        provider = Provider(plan, arguments.model, due_times)
        public = await serve(provider.handle, arguments.port)
        admin = await serve(ProviderAdmin(provider, public, due_times.kind).handler(), arguments.admin_port)
        return TwoPorts(public, admin, due_times)

    return run("mocks.provider", start)


if __name__ == "__main__":
    sys.exit(main())
