"""Bench `pacing`: how exactly the probe keeps its rate and how late it sends, from 50 to 1,000 requests per second.

The probe drives the mock provider without a gateway between, at each rate in shuffled blocks.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import asdict

from benchmarks.place import Place, provider_of
from benchmarks.results import Outcome, Table, Target
from benchmarks.windows import ANSWER, Seen, drive, load_of

RATES_RPS = (50, 150, 300, 1_000)
MOST_RATE_ERROR_RATIO = 0.001
MOST_LAG_P99_US = {300: 1_000.0, 1_000: 2_000.0}
_WINDOW_S = {50: 8.0, 150: 6.0, 300: 4.0, 1_000: 4.0}
_BLOCK_COUNT = 3


def run(place: Place) -> Outcome:
    """Offered-rate error and lag of the probe at each rate."""
    found: dict[int, list[Seen]] = {rate: [] for rate in RATES_RPS}
    draw = random.Random(3)  # noqa: S311 - an order that can be repeated
    with provider_of(place, ANSWER.delay_s) as provider:
        for _ in range(1 if place.quick else _BLOCK_COUNT):
            for rate in draw.sample(RATES_RPS, len(RATES_RPS)):
                seconds = 1.0 if place.quick else _WINDOW_S[rate]
                found[rate].append(drive(place, provider, "probe", load_of(rate, seconds)))
    rows = [_row(rate, seen) for rate, seen in found.items()]
    columns = ("rate", "worst rate error %", "lag p50", "lag p95", "lag p99", "worst p99", "largest", "requests each")
    return Outcome(
        "pacing",
        (Table("probe, lag of the sends in µs, medians over the blocks", columns, rows),),
        tuple(one for rate, seen in found.items() for one in _targets(rate, seen, judged=not place.quick)),
        {"windows": {f"{rate}/s": [asdict(one) for one in seen] for rate, seen in found.items()}},
    )


def _row(rate: int, seen: list[Seen]) -> tuple[str | float | int, ...]:
    return (
        f"{rate}/s",
        f"{_worst_error(seen) * 100:.4f}",
        round(statistics.median(one.lag_p50_us for one in seen)),
        round(statistics.median(one.lag_p95_us for one in seen)),
        round(statistics.median(one.lag_p99_us for one in seen)),
        round(max(one.lag_p99_us for one in seen)),
        round(max(one.lag_max_us for one in seen)),
        seen[0].request_count,
    )


def _targets(rate: int, seen: list[Seen], *, judged: bool) -> tuple[Target, ...]:
    error = _worst_error(seen)
    targets = [
        Target(
            f"offered-rate error at {rate}/s",
            f"≤ {MOST_RATE_ERROR_RATIO:.1%}",
            f"{error:.4%} (worst block)",
            error <= MOST_RATE_ERROR_RATIO if judged else None,
        )
    ]
    if rate in MOST_LAG_P99_US:
        limit_us = MOST_LAG_P99_US[rate]
        lag_us = statistics.median(one.lag_p99_us for one in seen)
        targets.append(
            Target(
                f"lag p99 at {rate}/s",
                f"≤ {limit_us / 1000:g} ms",
                f"{lag_us / 1000:.3f} ms (worst block {max(one.lag_p99_us for one in seen) / 1000:.3f})",
                lag_us <= limit_us if judged else None,
            )
        )
    return tuple(targets)


def _worst_error(seen: list[Seen]) -> float:
    return max(abs(one.rate_error_ratio) for one in seen)
