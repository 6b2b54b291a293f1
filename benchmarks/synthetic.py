"""Made-up outputs of oha with many samples: SQLite, CSV and our own sample table. Run as a program by `speed`.

`python -m benchmarks.synthetic --count N --folder F` writes samples.db, report.csv, samples.npz and report.json (the
load report) into F: N requests at 1,000/s with service times around 21 ms, everything answered.
"""

from __future__ import annotations

import argparse
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from benchmarks.reading import RATE_RPS, oha_argv
from weighbridge.load.oha.rows import OHA_CSV_HEADER
from weighbridge.load.read import read_report

_TABLE = (
    "CREATE TABLE oha (url TEXT NOT NULL, start REAL NOT NULL, start_latency_correction REAL, end REAL NOT NULL, "
    "duration REAL NOT NULL, status INTEGER NOT NULL, len_bytes INTEGER NOT NULL, run INTEGER NOT NULL)"
)
_ANSWER_BYTES = 1_004


def write(folder: Path, count: int) -> None:
    """Write all four files."""
    random = np.random.default_rng(20_261_023)
    released = np.arange(count) / RATE_RPS + random.gamma(2.0, 20e-6, count)
    start = released + random.gamma(2.0, 15e-6, count)
    service = 0.02 + random.lognormal(np.log(6e-4), 0.6, count)
    _write_sqlite(folder / "samples.db", released, start, start + service)
    _write_csv(folder / "report.csv", start, start + service - released)
    reading = read_report(folder / "samples.db", argv=oha_argv(count))
    if reading.samples is None or len(reading.samples) != count:
        raise SystemExit("the made-up samples were not read back whole")
    (folder / "samples.npz").write_bytes(reading.samples.to_bytes())
    (folder / "report.json").write_text(reading.report.model_dump_json(by_alias=True))


def _write_sqlite(path: Path, released: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(_TABLE)
        # Responses are written in the order of their ends, as oha does.
        rows = (
            ("/v1", start[i], released[i], end[i], end[i] - released[i], 200, _ANSWER_BYTES, 1)
            for i in np.argsort(end)
        )
        database.executemany("INSERT INTO oha VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        database.commit()


def _write_csv(path: Path, start: np.ndarray, duration: np.ndarray) -> None:
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(OHA_CSV_HEADER + "\n")
        file.writelines(
            f"{begun!r},0,0,{0.99 * lasted!r},{lasted!r},{_ANSWER_BYTES},200\n"
            for begun, lasted in zip(start.tolist(), duration.tolist(), strict=True)
        )


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(prog="benchmarks.synthetic")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    write(arguments.folder, arguments.count)


if __name__ == "__main__":
    main()
