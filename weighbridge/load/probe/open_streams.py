"""The stream opener as a driver: what to run, how turns are taken at each step, and what its report says.

Given to a window by `campaign` where a load opens streams, whatever drives the other loads. It starts nothing and
times nothing: between two steps its caller looks at the gateway's memory and tells what it saw.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from weighbridge.command import Command, OnPath
from weighbridge.errors import InputError, Place
from weighbridge.load.contract.driver import Capabilities, LoadOutputs, LoadPlan
from weighbridge.load.contract.formats import Formats
from weighbridge.load.contract.patience import WRITING_S
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.probe.stream_opener.plan import StreamOpenerPlan, put
from weighbridge.load.probe.stream_opener.report import OK_OUTCOME, SCHEMA, STREAMS_REPORT, WITHOUT_END
from weighbridge.matrix.loads import OpenStreamsLoad
from weighbridge.record.figures import Absent
from weighbridge.record.load_report import LoadReport
from weighbridge.record.open_streams import OpenStreamsResult, OpenStreamsStep

# The Python files that make the stream opener.
STREAM_OPENER_FOLDER = Path(__file__).parent / "stream_opener"

# Start of the program, and each look of its caller.
_STARTING_S = 10.0
_NOT_TIMED = Absent(absent="open_streams")


class StreamOpener:
    """Opens streams, more at each step."""

    name = "probe"
    program: Path | OnPath | None = STREAM_OPENER_FOLDER
    formats = Formats(formats=(), what="a report of the stream opener")
    capabilities = Capabilities(
        loads=frozenset({"streams"}), first_byte=frozenset(), unique_prompts=True, gaps=False, sees_stamps=False
    )

    def command(self, plan: LoadPlan) -> Command:
        """Program and plan of one window. The plan holds keys: it lies beside the folder of what is kept."""
        opener = stream_opener_plan(plan)
        place = plan.out_dir.parent / f"plan-{plan.out_dir.name}.json"
        longest_s = _STARTING_S + len(opener.counts) * opener.step_s + 2 * opener.length_s
        return Command(
            argv=(sys.executable, "-P", "-m", "weighbridge.load.probe.stream_opener", "--plan", str(place)),
            cwd=plan.out_dir,
            files={place: opener.to_json()},
            cut_after_s=longest_s,
            deadline_s=longest_s + WRITING_S,
            secrets=plan.secrets,
        )

    def outputs(self, plan: LoadPlan, exit_code: int, stderr: bytes) -> LoadOutputs:
        """Files of that window."""
        report = plan.out_dir / STREAMS_REPORT
        return LoadOutputs(
            report=report if report.is_file() else None,
            samples=None,
            argv=None,
            tool_version=None,
            exit_code=exit_code,
            stderr=stderr,
        )

    def read(self, outputs: LoadOutputs) -> ReportReading:
        """Load report and open streams of those files; InputError when there is no report."""
        if outputs.report is None:
            raise InputError(f"the stream opener left no report (exit status {outputs.exit_code})")
        document: Any = json.loads(outputs.report.read_bytes())
        if document.get("schema") != SCHEMA:
            raise InputError(
                "is no report of this stream opener", place=Place(outputs.report), expected=f"its {SCHEMA}"
            )
        return ReportReading(_report(document), None, open_streams=_result(document))


def stream_opener_plan(plan: LoadPlan) -> StreamOpenerPlan:
    """Plan a window: a step may take as long as the load's limit, a stream as long as the whole window."""
    if not isinstance(plan.load, OpenStreamsLoad):
        raise InputError(f"the load {plan.load.name} opens no streams")
    return StreamOpenerPlan(
        url=plan.url,
        headers=plan.headers,
        counts=plan.load.counts,
        step_s=plan.load.timeout_s,
        length_s=plan.expected_s,
        bodies=plan.bodies,
        out_dir=plan.out_dir,
        steps_dir=plan.out_dir.parent / "steps",
        ready=plan.ready,
    )


def waiting(plan: StreamOpenerPlan) -> int | None:
    """Return the number of the step that stands and was not looked at yet; None while there is none."""
    found = (n for n in range(len(plan.counts)) if plan.reached(n).exists() and not plan.seen(n).exists())
    return next(found, None)


def go_on(plan: StreamOpenerPlan, step: int, seen: dict[str, int | None]) -> None:
    """Tell the stream opener to note what was seen of a step and to begin the next one."""
    put(plan.seen(step), seen)


def _result(document: Any) -> OpenStreamsResult:
    return OpenStreamsResult(
        points=tuple(OpenStreamsStep(**step) for step in document["steps"]),
        opened_count=document["opened_count"],
        whole_count=document["outcomes"].get(OK_OUTCOME, 0),
        broken=document["broken"],
        faults=document["faults"],
    )


def _report(document: Any) -> LoadReport:
    """Tell the same as counts, for the sums on both sides of the gateway."""
    outcomes: dict[str, int] = document["outcomes"]
    opened, whole, censored = document["opened_count"], outcomes.get(OK_OUTCOME, 0), outcomes.get(WITHOUT_END, 0)
    failed = opened - whole - censored
    return LoadReport(
        tool="probe",
        tool_version=document["version"],
        corrected="no",
        verdict="partial" if document["broken"] else "ok",
        reason=document["broken"],
        wall_s=document["wall_s"],
        scheduled_count=document["counts"][-1],
        sent_count=opened,
        answered_count=whole,
        answered_by_status={"200": whole} if whole else {},
        failed_count=failed,
        failed_by_class={"other": failed} if failed else {},
        censored_count=document["counts"][-1] - whole - failed,
        completed_rps=None,
        success_ratio=whole / (whole + failed) if whole + failed else None,
        received_bytes=None,
        response_ms=_NOT_TIMED,
        first_byte_ms=_NOT_TIMED,
        error_text=document["faults"],
    )
