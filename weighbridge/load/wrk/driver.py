"""The wrk driver: which command drives a window, and what its outputs say.

Listed in `drivers`. It starts nothing. wrk has no schedule and no report of its own: both are in our script, which
goes with every window, together with a plan that holds the keys and is never kept.
"""

from __future__ import annotations

import math
from pathlib import Path
from urllib.parse import urlsplit

from weighbridge.command import Command, OnPath
from weighbridge.errors import InputError, ToolMissing
from weighbridge.load.contract.driver import Capabilities, LoadOutputs, LoadPlan
from weighbridge.load.contract.patience import WRITING_S, cut_after_s
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.reports.outputs import outputs_of, read_outputs, stderr_lines
from weighbridge.load.wrk.formats import FORMATS

# One connection a thread; so many threads of wrk were tried, each with some 150 KiB.
MOST_CONNECTIONS = 1_000

_SCRIPT = Path(__file__).parent / "schedule.lua"
_PLAN_VARIABLE = "WEIGHBRIDGE_WRK_PLAN"
_CONTENT_LENGTH = "content-length"
# Nobody listens on port 0. Where the lane is stands in the plan, which only the script reads: wrk goes on without
# a script that is missing or broken, and would send as fast as it can.
_NOWHERE = "http://127.0.0.1:0"
# All threads are made before the first slot; beside a short window that is a time to be reckoned with.
_START_S, _START_A_THREAD_S = 1.0, 0.005
# wrk always knows an end; this much later than ours, so that it is we who cut.
_MARGIN_S = 30.0


class Wrk:
    """Drives `rate` and `clients`, each prompt once; streams are timed to their end only."""

    name = "wrk"
    program: Path | OnPath | None = OnPath(
        name="wrk",
        version_argv=("-v",),
        # Packagers put words of their own before the number.
        version_pattern=r"wrk \D*?(\d+(?:\.\d+)+[\w.+~-]*) ",
        minimum=(4, 1),
        advice="install it with `apt install wrk` or `brew install wrk`",
        script=_SCRIPT,
    )
    formats = FORMATS
    capabilities = Capabilities(
        loads=frozenset({"rate", "clients"}),
        first_byte=frozenset(),
        unique_prompts=True,
        gaps=False,
        ceiling_count=10_000,
    )

    def command(self, plan: LoadPlan) -> Command:
        """Program, arguments, script and plan of one window: always a fixed number of requests.

        Raises InputError for more connections than wrk has threads for, ToolMissing when our script is not there.
        """
        connections = plan.load.connections
        if not 1 <= connections <= MOST_CONNECTIONS:
            raise InputError(
                f"wrk cannot hold {connections:,} connections, for each is a thread",
                expected=f"expected at most {MOST_CONNECTIONS:,}; lower the connections or choose another driver",
            )
        script, plan_file = _beside(plan, "schedule.lua"), _beside(plan, "plan.txt")
        cut_s = cut_after_s(plan) + _START_S + _START_A_THREAD_S * connections
        return Command(
            argv=(
                str(plan.program),
                *(f"-t{connections}", f"-c{connections}", f"-d{math.ceil(cut_s + _MARGIN_S)}s"),
                *("-T", f"{max(1, math.ceil(plan.load.timeout_s))}s", "-s", str(script)),
                _NOWHERE + _target(plan.url)[2],
            ),
            cwd=plan.out_dir,
            env={_PLAN_VARIABLE: str(plan_file)},
            files={script: _script(), plan_file: _plan_text(plan).encode()},
            cut_after_s=cut_s,
            deadline_s=cut_s + WRITING_S,
            secrets=plan.secrets,
        )

    def outputs(self, plan: LoadPlan, exit_code: int, stderr: bytes) -> LoadOutputs:
        """Files of that window; a script that did not come to its end leaves none."""
        argv = self.command(plan).argv
        return outputs_of(argv, _report(plan), _samples(plan), exit_code=exit_code, stderr=stderr)

    def read(self, outputs: LoadOutputs) -> ReportReading:
        """Load report of those files; InputError with wrk's own words when the script left no report."""
        line = next(iter(stderr_lines(outputs)), None)
        return read_outputs(self, outputs, line, missing="wrk left no report of the script")


def _script() -> bytes:
    try:
        return _SCRIPT.read_bytes()
    except OSError as error:
        raise ToolMissing(
            f"the wrk driver's script is missing from this installation ({error.strerror}): install Weighbridge again"
        ) from error


def _plan_text(plan: LoadPlan) -> str:
    """Plan for the script, one `name=value` a line; the lines of the request's head in their order."""
    host, port, target = _target(plan.url)
    values = {
        "host": host,
        "port": str(port),
        "rate": repr(plan.load.offered_rps) if plan.load.has_schedule else "",
        "count": str(plan.load.window_count),
        "threads": str(plan.load.connections),
        "timeout": repr(plan.load.timeout_s * 1e6),
        "bodies": str(plan.bodies),
        "report": str(_report(plan)),
        "samples": str(_samples(plan)),
    }
    head = [f"POST {target} HTTP/1.1", f"Host: {host}:{port}"]
    head += [f"{name}: {value}" for name, value in plan.headers if name.lower() != _CONTENT_LENGTH]
    lines = [*(f"{name}={value}" for name, value in values.items()), *(f"head={line}" for line in head)]
    if any(len(line.splitlines()) != 1 for line in lines):
        raise InputError("a header or a path of the window holds a line break", expected="expected one line each")
    return "\n".join(lines) + "\n"


def _target(url: str) -> tuple[str, int, str]:
    """Host, port and path of the endpoint."""
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None:
        raise InputError(f"wrk cannot drive {url}", expected="expected an http:// address")
    return parts.hostname, parts.port or 80, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _report(plan: LoadPlan) -> Path:
    return plan.out_dir / "report.json"


def _samples(plan: LoadPlan) -> Path:
    return plan.out_dir / "samples.csv"


def _beside(plan: LoadPlan, name: str) -> Path:
    """Name a file beside the output folder, for all in that folder is kept."""
    return plan.out_dir.with_name(f"{plan.out_dir.name}-{name}")
