"""Readers of oha's raw samples: the CSV of `--output-format csv` and the SQLite file of `--db-url`.

Both hold only requests that got a response. From one run the two join exactly on the start value: both print the same
float from the same origin.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from weighbridge.errors import InputError, Place
from weighbridge.load.oha.totals import Generation, OhaTotals
from weighbridge.load.reports.document import TruncatedReport
from weighbridge.load.reports.fields import successes
from weighbridge.load.reports.spreads import Spread, spread_of
from weighbridge.record.arrays import Floats

OHA_CSV_HEADER = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"

_DATABASE_COLUMNS = "start", "start_latency_correction", "end", "duration", "status", "len_bytes"


@dataclass(frozen=True)
class OhaRows:
    """Answered requests, sorted by actual start; seconds from the start of the run, NaN for what is not told.

    `released_s` when the pacer let it go (None of them: not corrected), `first_byte_s` delay of the first body byte
    after the actual start, `duration_s` as the tool gives it.
    """

    start_s: Floats
    released_s: Floats
    end_s: Floats
    duration_s: Floats
    first_byte_s: Floats
    status: npt.NDArray[np.int64]
    body_bytes: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of answered requests."""
        return len(self.start_s)

    @property
    def by_status(self) -> dict[str, int]:
        """Answers by HTTP status."""
        return {str(status): amount for status, amount in sorted(Counter(self.status.tolist()).items())}

    @property
    def corrected(self) -> bool | None:
        """Whether the durations are corrected, as the release instants prove; None where there are no rows."""
        return bool(np.isfinite(self.released_s).all()) if len(self) else None

    @property
    def succeeded(self) -> npt.NDArray[np.bool_]:
        """Which rows have a 2xx status."""
        return np.asarray((self.status >= 200) & (self.status < 300), dtype=np.bool_)

    def sorted(self) -> OhaRows:
        """Return the same rows in the order of their actual start."""
        order = np.argsort(self.start_s, kind="stable")
        return OhaRows(**{column.name: getattr(self, column.name)[order] for column in fields(self)})


def read_csv(text: str, file: Path) -> OhaRows:
    """Rows of oha's CSV; TruncatedReport when its last line is cut, InputError when a cell is no number."""
    width = OHA_CSV_HEADER.count(",") + 1
    last = text[text.rfind("\n", 0, -1) + 1 :]
    if not text.endswith("\n") or last.count(",") != width - 1:
        raise TruncatedReport(file, len(text.encode()), None)
    try:
        # Line by line into one array: lists of cells would take ten times the memory.
        table = np.loadtxt(_lines(text), delimiter=",", ndmin=2) if last != text else np.empty((0, width))
        table = table.reshape(-1, width)
    except ValueError as error:
        raise InputError(f"is a damaged CSV of oha ({error})", place=Place(file)) from error
    unknown = np.full(len(table), np.nan)
    delay = table[:, 3]
    return OhaRows(
        start_s=table[:, 0],
        released_s=unknown,
        end_s=unknown,
        duration_s=table[:, 4],
        first_byte_s=np.where(delay > 0, delay, np.nan),
        status=table[:, 6].astype(np.int64),
        body_bytes=table[:, 5].astype(np.int64),
    ).sorted()


def _lines(text: str) -> Iterator[str]:
    """Lines of `text` behind the first, without a copy of the whole."""
    start = text.find("\n") + 1
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1


def read_sqlite(file: Path) -> tuple[OhaRows, bool]:
    """Rows of the last run in a SQLite file of oha, and whether earlier ones are in it; InputError if it is none."""
    if not file.is_file():
        raise InputError("does not exist", place=Place(file), expected="give the file that oha wrote by --db-url")
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            known = [column[1] for column in database.execute("PRAGMA table_info(oha)")]
            if not set(_DATABASE_COLUMNS) <= set(known):
                raise InputError(
                    "holds no samples of oha", place=Place(file), expected="a table `oha` was looked for"
                )
            last = " WHERE run = (SELECT max(run) FROM oha)" if "run" in known else ""
            # Streamed into one array: a list of tuples would take ten times the memory.
            cells = chain.from_iterable(database.execute(f"SELECT {', '.join(_DATABASE_COLUMNS)} FROM oha{last}"))  # noqa: S608
            table = np.fromiter((math.nan if cell is None else cell for cell in cells), np.float64).reshape(
                -1, len(_DATABASE_COLUMNS)
            )
            older = bool(last) and database.execute("SELECT count(DISTINCT run) FROM oha").fetchone()[0] > 1
    except sqlite3.Error as error:
        raise InputError(f"is no SQLite file that can be read ({error})", place=Place(file)) from error
    except (ValueError, TypeError) as error:
        raise InputError(f"holds samples that are no numbers ({error})", place=Place(file)) from error
    rows = OhaRows(
        start_s=table[:, 0],
        released_s=table[:, 1],
        end_s=table[:, 2],
        duration_s=table[:, 3],
        first_byte_s=np.full(len(table), np.nan),
        status=table[:, 4].astype(np.int64),
        body_bytes=table[:, 5].astype(np.int64),
    )
    return rows.sorted(), older


def join(from_csv: OhaRows, from_sqlite: OhaRows) -> OhaRows | None:
    """Rows with all that both files know; None when they are not of one run."""
    if not np.array_equal(from_csv.start_s, from_sqlite.start_s):
        return None
    return replace(from_sqlite, first_byte_s=from_csv.first_byte_s)


def totals(rows: OhaRows, generation: Generation) -> OhaTotals:
    """Tell what samples alone say; errors and wall clock they cannot tell. Times are those of the 2xx responses."""
    by_status = rows.by_status
    first_byte = rows.first_byte_s[rows.succeeded]
    first_byte = first_byte[np.isfinite(first_byte)]
    nothing = "no_success" if len(rows) and not successes(by_status) else None
    no_first_byte = (
        "not_reported" if generation == "sqlite" else "no_body" if len(rows) and not len(first_byte) else None
    )
    return OhaTotals(
        generation=generation,
        wall_s=None,
        by_status=by_status,
        errors=None,
        received_bytes=int(rows.body_bytes.sum()),
        response=nothing or response_of(rows),
        first_byte=nothing or no_first_byte or spread_of(first_byte),
    )


def response_of(rows: OhaRows) -> Spread | str:
    """Spread of the durations of the 2xx responses."""
    return spread_of(rows.duration_s[rows.succeeded])
