"""`python -m benchmarks.run [--quick] [--only NAME …] [--out FILE]`: benches, their table of ratios, one JSON file.

Run by `nox -s bench_self`. A target that is not met changes no exit code: these are measurements on a machine that
may be busy, not tests. Exit 1 when a bench could not be carried through, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks import baselines, ceiling, pacing, speed
from benchmarks.place import Place
from benchmarks.results import Outcome
from weighbridge.errors import Interrupted, WeighbridgeError
from weighbridge.rig.machine.load_meter import Meter
from weighbridge.rig.processes.signals import StopSignals
from weighbridge.rig.processes.supervisor import Supervisor

BENCHES: Mapping[str, Callable[[Place], Outcome]] = MappingProxyType(
    {"mock": ceiling.run, "baseline": baselines.run, "pacing": pacing.run, "speed": speed.run}
)
_BUSY_CORES = 0.1
_BUSY_STEAL_PCT = 1.0
_PACKAGES = ("aiohttp", "httptools", "numpy", "uvicorn", "uvloop")


def main() -> int:
    """Exit code of the program."""
    arguments = _arguments()
    outcomes: list[Outcome] = []
    document = _head(quick=arguments.quick)
    began_s, path = time.monotonic(), os.environ["PATH"]
    try:
        with (
            StopSignals(),
            tempfile.TemporaryDirectory(prefix="bench-self-") as folder,
            Supervisor(Path(folder) / "run", search_path=path) as supervisor,
        ):
            place = Place(supervisor, Path(folder), path, arguments.home, arguments.quick)
            for name in arguments.only or BENCHES:
                outcomes.append(_bench(name, place))
                sys.stdout.write(outcomes[-1].text() + "\n\n")
                sys.stdout.flush()
    except Interrupted as stopped:
        sys.stderr.write(f"{stopped}; nothing was written\n")
        return stopped.exit_code
    document["wall_s"] = time.monotonic() - began_s
    document["benches"] = {outcome.name: outcome.document() for outcome in outcomes}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.write(f"written to {arguments.out}\n")
    return int(any("failed" in outcome.numbers for outcome in outcomes))


def _bench(name: str, place: Place) -> Outcome:
    """Outcome of one bench, with what else the machine did meanwhile."""
    meter = Meter()
    meter.read(place.supervisor.pids())
    try:
        outcome = BENCHES[name](place)
    except WeighbridgeError as error:
        return Outcome(name, remarks=(str(error),), numbers={"failed": str(error)})
    machine = meter.read(place.supervisor.pids())
    foreign, steal = machine.foreign_cpu_cores or 0.0, machine.steal_pct or 0.0
    remark = f"Meanwhile other programs used {foreign:.2f} cores, {steal:.1f} % of the CPU time was stolen."
    if foreign >= _BUSY_CORES or steal >= _BUSY_STEAL_PCT:
        remark += " The machine was busy: figures in time are worse than it can do, ratios hold better."
    numbers = {**outcome.numbers, "machine": machine.model_dump()}
    return replace(outcome, numbers=numbers, remarks=(*outcome.remarks, remark))


def _head(*, quick: bool) -> dict[str, Any]:
    versions: dict[str, str | None] = {}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "schema": "weighbridge.bench-self/1",
        "quick": quick,
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cpu_count": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "versions": versions,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description="Weighbridge measured by itself.")
    parser.add_argument("--quick", action="store_true", help="short windows, to try the benches; nothing is judged")
    parser.add_argument("--only", action="append", choices=list(BENCHES), help="this bench; may be given again")
    home = Path(".weighbridge")
    parser.add_argument("--home", type=Path, default=home, help="where our own oha lies, if not on PATH")
    parser.add_argument("--out", type=Path, default=home / "bench-self.json", help="file for the numbers")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
