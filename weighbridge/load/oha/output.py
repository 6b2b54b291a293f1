"""Reader of oha's JSON of every generation, 0.5.4 to 1.16.0.

It takes what the document says and drops what is an artefact: `"NaN"` bins, zeros of empty sets, percentiles in which
errors are mixed. oha's success rate and requests per second are not read at all: the first counts a 500 as success,
the second counts cancelled workers as requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.load.oha.totals import Generation, OhaTotals
from weighbridge.load.reports.fields import count, counts, number, section, successes
from weighbridge.load.reports.spreads import Spread

# oha's rank is baseline(p × n): up to this many samples its p99.99 is the largest of them.
_LARGEST_AT_P9999 = 10_000


def read_json(document: Mapping[str, Any]) -> OhaTotals:
    """Totals of one JSON report; a missing section is absent, a table that holds no counts is InputError."""
    by_status = counts(document, "statusCodeDistribution")
    answered, succeeded = sum(by_status.values()), successes(by_status)
    generation = generation_of(document)
    summary = section(document, "summary")
    breakdown = _breakdown(document, succeeded) if succeeded < answered else None
    histogram = _bins(document, "responseTimeHistogram")
    if breakdown is not None:
        histogram = _bins(document, "responseTimeHistogramSuccessful")
    return OhaTotals(
        generation=generation,
        wall_s=number(summary.get("total")),
        by_status=by_status,
        errors=counts(document, "errorDistribution"),
        received_bytes=count(summary.get("totalData")),
        response=breakdown or _response(document, answered, succeeded),
        first_byte=_first_byte(document, answered, succeeded),
        histogram=histogram,
        # Equal samples give equal labels, of which the map keeps the last, empty one.
        flags=("histogram_collapsed",) if histogram and sum(n for _, n in histogram) < succeeded else (),
    )


def generation_of(document: Mapping[str, Any]) -> Generation:
    """Tell the schema generation by the features that a document has, not by any version."""
    if "metrics" in document:
        return "G5"
    if "firstByteHistogram" in document or "firstBytePercentiles" in document:
        return "G4"
    if "min" in section(document, "rps"):
        return "G3"
    return "G2" if "p99.9" in section(document, "latencyPercentiles") else "G1"


def _response(document: Mapping[str, Any], answered: int, succeeded: int) -> Spread | str:
    if not answered:
        return "no_response"
    if not succeeded:
        return "no_success"
    if succeeded < answered:
        return "non_2xx_mixed"
    largest = number(section(document, "summary").get("slowest"))
    return _spread(section(document, "latencyPercentiles"), largest, answered) or "not_reported"


def _first_byte(document: Mapping[str, Any], answered: int, succeeded: int) -> Spread | str:
    if "firstBytePercentiles" not in document:
        return "not_reported_by_this_version"
    if succeeded < answered:
        return "non_2xx_mixed" if succeeded else "no_success"
    largest = number(section(section(document, "details"), "firstByte").get("slowest"))
    # Responses without a body have no first byte, and nothing says how many they were: n is unknown.
    spread = _spread(section(document, "firstBytePercentiles"), largest, None)
    return spread or ("no_body" if answered else "no_response")


def _breakdown(document: Mapping[str, Any], succeeded: int) -> Spread | None:
    """Percentiles of the 2xx responses alone, where `--stats-success-breakdown` gave them."""
    for name in ("latencyPercentilesSuccessful", "latencyPercentileSuccessful"):
        percentiles = section(document, name)
        largest = number(percentiles.get("p99.99")) if succeeded <= _LARGEST_AT_P9999 else None
        spread = _spread(percentiles, largest, succeeded)
        if spread is not None:
            return spread
    return None


def _spread(percentiles: Mapping[str, Any], largest: float | None, samples: int | None) -> Spread | None:
    p50, p95, p99 = (number(percentiles.get(name)) for name in ("p50", "p95", "p99"))
    if p50 is p95 is p99 is None:
        return None
    return Spread(p50, p95, p99, largest, samples)


def _bins(document: Mapping[str, Any], name: str) -> tuple[tuple[float, int], ...]:
    """Histogram sorted by number (the file sorts its labels as text), without the `"NaN"` bin of an empty set."""
    pairs: list[tuple[float, int]] = []
    for label, amount in counts(document, name).items():
        try:
            bound = number(float(label))
        except ValueError:
            bound = None
        if bound is not None:
            pairs.append((bound, amount))
    return tuple(sorted(pairs))
