"""The probe as a driver: the plan of a window for our own program, and what its files say.

Listed in `drivers`. It starts nothing. The probe needs no request more than it measures, for service time begins when
a connection is open; it asks for the same number as the others all the same, so that one trimming rule fits all.
"""

from __future__ import annotations

import sys
from pathlib import Path

from weighbridge.command import Command, OnPath
from weighbridge.errors import InputError
from weighbridge.load.contract.driver import Capabilities, LoadOutputs, LoadPlan
from weighbridge.load.contract.formats import Beside
from weighbridge.load.contract.patience import WRITING_S, cut_after_s
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.probe.formats import FORMATS
from weighbridge.load.probe.program.output import REPORT, SAMPLES
from weighbridge.load.probe.program.plan import ProbeLane, ProbePlan, Timeouts
from weighbridge.load.reports.document import read_as
from weighbridge.matrix.arrivals import ARRIVALS

# The Python files that make the probe.
PROGRAM_FOLDER = Path(__file__).parent / "program"

# After the window everything is parsed: 0.04 ms a non-streaming response, 0.4 ms a stream of 16 chunks; this is
# patience.
_PARSING_S = 0.001
_CONNECT_LIMIT_S = 5.0
_UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class Probe:
    """Drives `rate` and `clients` with unique prompts and sees stamps, chunks and gaps of every request."""

    name = "probe"
    program: Path | OnPath | None = PROGRAM_FOLDER
    formats = FORMATS
    capabilities = Capabilities(
        # A second program of its own holds streams open.
        loads=frozenset({"rate", "clients", "streams"}),
        first_byte=frozenset({"plain", "stream"}),
        unique_prompts=True,
        gaps=True,
        sees_stamps=True,
        arrivals=ARRIVALS,
        ceiling_count=4_000,
    )

    def command(self, plan: LoadPlan) -> Command:
        """Program and plan of one window. The plan holds keys: it lies beside the folder of what is kept."""
        place = plan.out_dir.parent / f"plan-{plan.out_dir.name}.json"
        cut_s = cut_after_s(plan)
        return Command(
            argv=(sys.executable, "-P", "-m", "weighbridge.load.probe.program", "--plan", str(place)),
            cwd=plan.out_dir,
            files={place: probe_plan(plan).to_json()},
            cut_after_s=cut_s,
            deadline_s=cut_s + WRITING_S + _PARSING_S * plan.load.window_count,
            secrets=plan.secrets,
        )

    def outputs(self, plan: LoadPlan, exit_code: int, stderr: bytes) -> LoadOutputs:
        """Files of that window."""
        report, samples = plan.out_dir / REPORT, plan.out_dir / SAMPLES
        return LoadOutputs(
            report=report if report.is_file() else None,
            samples=samples if samples.is_file() else None,
            argv=None,
            tool_version=None,
            exit_code=exit_code,
            stderr=stderr,
        )

    def read(self, outputs: LoadOutputs) -> ReportReading:
        """Load report and tables of those files; InputError with the probe's own words when it left no report."""
        if outputs.report is None:
            raise InputError(f"the probe left no report ({_exit_text(outputs)})")
        return read_as(self.formats, outputs.report, Beside(samples=outputs.samples))


def probe_plan(plan: LoadPlan) -> ProbePlan:
    """Return the plan of a window; InputError for a load above the ceiling.

    The pool has the size that the load names, so that its cap means the same with every driver.
    """
    load, limit_s = plan.load, plan.load.timeout_s
    return ProbePlan(
        lanes=(_lane(plan),),
        mode=plan.mode,
        rate_rps=load.offered_rps,
        clients=None if load.has_schedule else load.concurrency,
        count=load.window_count,
        connections=load.connections,
        seed=plan.seed,
        bodies=plan.bodies,
        out_dir=plan.out_dir,
        ready=plan.ready,
        arrivals=load.arrivals or ARRIVALS[0],
        timeouts=Timeouts(min(limit_s, _CONNECT_LIMIT_S), limit_s, limit_s, limit_s, limit_s),
    )


def _lane(plan: LoadPlan) -> ProbeLane:
    header = plan.overhead_header
    if header is None:
        return ProbeLane(plan.url, plan.headers)
    return ProbeLane(
        plan.url, plan.headers, overhead_header=header.name.lower(), overhead_unit_s=_UNITS_S[header.unit]
    )


def _exit_text(outputs: LoadOutputs) -> str:
    lines = [line.strip() for line in outputs.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    # A traceback ends with what went wrong.
    return f"exit status {outputs.exit_code}" + (f", {lines[-1]}" if lines else "")
