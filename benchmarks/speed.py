"""Bench `speed`: time and memory of reading a million samples and making their figures.

Every reading is a process of its own; the files are made up in another one, so that nothing of ours is counted.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from typing import Any

from benchmarks.place import Place
from benchmarks.reading import KINDS
from benchmarks.results import Outcome, Table, Target
from weighbridge.command import Command
from weighbridge.errors import LaneFailed

SAMPLE_COUNT = 1_000_000
QUICK_COUNT = 20_000
MOST_S = 3.0
MOST_MB = 300
_MB = 1_000_000
_LABELS = {"npz": "our sample table", "sqlite": "SQLite of oha", "csv": "CSV of oha", "csv+sqlite": "CSV and SQLite"}


def run(place: Place) -> Outcome:
    """Seconds and peak memory of each kind of file; medians of the times, the largest of the peaks."""
    count = QUICK_COUNT if place.quick else SAMPLE_COUNT
    _child(place, "benchmarks.synthetic", "--count", str(count))
    found: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in KINDS}
    for _ in range(1 if place.quick else 3):
        for kind in KINDS:
            output = _child(place, "benchmarks.reading", "--kind", kind, "--count", str(count))
            found[kind].append(json.loads(output))
    rows, targets = [], []
    for kind, readings in found.items():
        parse_s, figures_s, cpu_s = (
            statistics.median(one[key] for one in readings) for key in ("parse_s", "figures_s", "cpu_s")
        )
        total_s = statistics.median(one["parse_s"] + one["figures_s"] for one in readings)
        imports_mb = max(one["imports_peak_bytes"] for one in readings) / _MB
        peak_mb = max(one["peak_bytes"] for one in readings) / _MB
        rows.append((_LABELS[kind], parse_s, figures_s, total_s, cpu_s, round(imports_mb), round(peak_mb)))
        is_met = total_s < MOST_S and peak_mb < MOST_MB
        targets.append(
            Target(
                f"{count:,} samples from {_LABELS[kind]}",
                f"< {MOST_S:g} s and < {MOST_MB} MB",
                f"{total_s:.2f} s ({cpu_s:.2f} s of CPU), {peak_mb:.0f} MB",
                None if place.quick else is_met,
            )
        )
    columns = ("file", "parse s", "figures s", "total s", "CPU s", "MB after imports", "MB peak")
    title = f"{count:,} samples read and summarised, medians; memory is the whole process's peak"
    return Outcome(
        "speed", (Table(title, columns, rows),), tuple(targets), {"sample_count": count, "readings": found}
    )


def _child(place: Place, module: str, *arguments: str) -> str:
    argv = place.python(module, *arguments, "--folder", str(place.folder))
    ended = place.supervisor.run(Command(argv, cwd=place.folder, deadline_s=180.0, env=place.environment))
    if ended.exit_code:
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit status {ended.exit_code}"]
        raise LaneFailed(f"{module} failed: {lines[-1]}", reason="generator_failed", phase="window")
    return ended.stdout.decode()
