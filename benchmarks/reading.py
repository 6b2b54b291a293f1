"""One reading of many samples in a process of its own, so that its peak memory is its own. Run by `speed`.

`python -m benchmarks.reading --kind sqlite|csv|csv+sqlite|npz --count N --folder F` prints JSON: seconds of parsing
and of the figures, CPU seconds of both, peak memory of the process after its imports and at its end, and p50 and p99
as a proof of work.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path

from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.window import Client, Window
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.read import read_report
from weighbridge.matrix.loads import RateLoad
from weighbridge.matrix.requests import AnswerSpec
from weighbridge.record.figures import Timing
from weighbridge.record.host import ToolFacts
from weighbridge.record.load_report import LoadReport
from weighbridge.record.run import DriverRecord
from weighbridge.record.samples import SampleTable

RATE_RPS = 1_000
KINDS = ("npz", "sqlite", "csv", "csv+sqlite")
_CONNECTIONS = 40


def oha_argv(count: int) -> tuple[str, ...]:
    """Arguments of the run that the made-up outputs are of."""
    return ("oha", "-n", str(count), "-q", str(RATE_RPS), "--latency-correction", "-c", str(_CONNECTIONS))


def read(kind: str, folder: Path, count: int) -> ReportReading:
    """Read the files of `kind`."""
    if kind == "npz":
        path = folder / "samples.npz"
        report = LoadReport.model_validate_json((folder / "report.json").read_bytes())
        return ReportReading(report, SampleTable.from_bytes(path.read_bytes(), origin=str(path)))
    database = folder / "samples.db"
    if kind == "sqlite":
        return read_report(database, argv=oha_argv(count))
    beside = database if kind == "csv+sqlite" else None
    return read_report(folder / "report.csv", argv=oha_argv(count), samples=beside, tool_version="1.16.0")


def _window(load: RateLoad, reading: ReportReading) -> Window:
    """Window of one client that left this."""
    tool = ToolFacts(name="oha", version=reading.report.tool_version, sha256=None, source="path")
    record = DriverRecord(tool=tool, argv=oha_argv(load.window_count), exit_code=0, cut=False)
    client = Client("driver", load, record, report=reading.report, samples=reading.samples)
    return Window(load, "plain", AnswerSpec("20ms", 0.02, 1, 0.0), (client,))


def _peak_bytes() -> int:
    """Peak resident memory of this process so far, by `getrusage`; kibibytes on Linux, bytes on macOS."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    """Read, summarise, print."""
    parser = argparse.ArgumentParser(prog="benchmarks.reading")
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    load = RateLoad(RATE_RPS, None, arguments.count - _CONNECTIONS, _CONNECTIONS, 0, 60.0)
    before_bytes = _peak_bytes()
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    reading = read(arguments.kind, arguments.folder, arguments.count)
    read_s = time.perf_counter()
    figures = run_figures(_window(load, reading))
    ended_s, ended_cpu_s = time.perf_counter(), time.process_time()
    response = None if figures is None else figures.response_ms
    if not isinstance(response, Timing) or response.n != load.request_count:
        raise SystemExit(f"the samples were not summarised whole: {response}")
    document = {
        "parse_s": read_s - began_s,
        "figures_s": ended_s - read_s,
        "cpu_s": ended_cpu_s - began_cpu_s,
        "imports_peak_bytes": before_bytes,
        "peak_bytes": _peak_bytes(),
        "p50_ms": response.p50,
        "p99_ms": response.p99,
    }
    sys.stdout.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
