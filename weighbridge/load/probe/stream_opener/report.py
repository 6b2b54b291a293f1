"""The report of the stream opener: how far it came, and how its streams ended, as one JSON document.

It holds no header values, no bodies and no folders.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from weighbridge.load.probe.stream_opener.plan import StreamOpenerPlan, put
from weighbridge.load.probe.stream_opener.steps import OpenStreamsState
from weighbridge.load.probe.stream_opener.stream import Stream

SCHEMA = "weighbridge.stream-opener/1"
STREAMS_REPORT = "report.json"
OK_OUTCOME = "ok"
# A stream that was released before it ended.
WITHOUT_END = "without an end"


def write(plan: StreamOpenerPlan, state: OpenStreamsState, version: str) -> None:
    """Write the report into the plan's folder, whole or not at all."""
    put(plan.out_dir / STREAMS_REPORT, report(plan, state, version))


def report(plan: StreamOpenerPlan, state: OpenStreamsState, version: str) -> dict[str, Any]:
    """Return the document. Of a window that broke, streams that were released are no faults of their own."""
    ends = Counter(stream.outcome or WITHOUT_END for stream in state.streams)
    failed = [stream for stream in state.streams if stream.outcome not in ("", OK_OUTCOME)]
    return {
        "schema": SCHEMA,
        "version": version,
        "counts": list(plan.counts),
        "step_s": plan.step_s,
        "steps": state.steps,
        "broken": state.broken,
        "opened_count": len(state.streams),
        "outcomes": dict(sorted(ends.items())),
        "faults": dict(Counter(map(_fault, failed)).most_common(5)),
        "wall_s": state.wall_s,
    }


def _fault(stream: Stream) -> str:
    return f"{stream.outcome} ({stream.fault})" if stream.fault else stream.outcome
