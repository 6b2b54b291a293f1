"""Bench `baseline`: the least that each load generator adds, on the mock provider without a gateway between.

Probe, oha and an aiohttp client drive interleaved in shuffled blocks; figures are medians over the blocks, the target
at p50 is judged on the median of the differences within a block.
"""

from __future__ import annotations

import importlib.util
import random
import statistics
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.place import Place, provider_of
from benchmarks.results import Outcome, Table, Target
from benchmarks.windows import ANSWER, CLIENT, Seen, drive, load_of
from weighbridge.errors import ToolMissing
from weighbridge.rig.install.oha import find_oha

RATES_RPS = (50, 300)
MOST_ABOVE_OHA_US = 30.0
_WINDOW_S = {50: 12.0, 300: 4.0}
_BLOCK_COUNT = 4

Blocks = dict[tuple[int, str], list[Seen]]


def run(place: Place) -> Outcome:
    """Service time, response time and lag of each generator at 50 and 300 requests per second."""
    generators, missing = _generators(place)
    found: Blocks = {}
    draw = random.Random(2)  # noqa: S311 - an order that can be repeated
    with provider_of(place, ANSWER.delay_s) as provider:
        for rate in RATES_RPS * (1 if place.quick else _BLOCK_COUNT):
            load = load_of(rate, 1.5 if place.quick else _WINDOW_S[rate])
            for name in draw.sample(list(generators), len(generators)):
                found.setdefault((rate, name), []).append(drive(place, provider, name, load, generators[name]))
    return _outcome(found, list(generators), missing, judged=not place.quick)


def _generators(place: Place) -> tuple[dict[str, Path | None], tuple[str, ...]]:
    """Names with their programs, and sentences on what is left out."""
    generators: dict[str, Path | None] = {"probe": None}
    missing = []
    search = find_oha(place.home, place.search_path)
    if search.tool is not None:
        generators["oha"] = search.tool.path
    else:
        missing.append(f"{search.remark or 'oha was not found'}: `invoke install` builds it.")
    if importlib.util.find_spec("aiohttp") is not None:
        generators[CLIENT] = None
    else:
        missing.append("aiohttp is not installed: its client was left out (dependency group `bench`).")
    if len(generators) == 1:
        raise ToolMissing(" ".join(["there is nothing to compare the probe with:", *missing]))
    return generators, tuple(missing)


def _outcome(found: Blocks, names: list[str], missing: tuple[str, ...], *, judged: bool) -> Outcome:
    rows: list[tuple[str | int, ...]] = []
    for rate in RATES_RPS:
        for name in names:
            seen = found[rate, name]
            pairs = [
                f"{_median(seen, low):.0f} / {_median(seen, high):.0f}"
                for low, high in (
                    (lambda one: one.service_p50_us, lambda one: one.service_p99_us),
                    (lambda one: one.response_p50_us, lambda one: one.response_p99_us),
                    (lambda one: one.lag_p50_us, lambda one: one.lag_p99_us),
                )
            ]
            rows.append((f"{rate}/s", name, *pairs, len(seen), seen[0].request_count))
    columns = ("rate", "generator", "service p50/p99", "response p50/p99", "lag p50/p99", "blocks", "requests each")
    table = Table("above the provider's 20 ms, µs, medians over the blocks", columns, rows)
    numbers = {f"{name} at {rate}/s": [asdict(one) for one in seen] for (rate, name), seen in found.items()}
    targets = [one for rate in RATES_RPS for one in _targets(found, rate, judged=judged)] if "oha" in names else []
    return Outcome("baseline", (table,), tuple(targets), {"windows": numbers}, missing)


def _targets(found: Blocks, rate: int, *, judged: bool) -> tuple[Target, Target]:
    probe, oha = found[rate, "probe"], found[rate, "oha"]
    differences = [a.service_p50_us - b.service_p50_us for a, b in zip(probe, oha, strict=True)]
    middle = statistics.median(differences)
    spread = f"{min(differences):+.0f} to {max(differences):+.0f}"
    ours, theirs = (_median(seen, lambda one: one.service_p99_us) for seen in (probe, oha))
    return (
        Target(
            f"service p50 at {rate}/s, probe − oha",
            f"≤ {MOST_ABOVE_OHA_US:g} µs",
            f"{middle:+.0f} µs ({spread} in {len(differences)} blocks)",
            middle <= MOST_ABOVE_OHA_US if judged else None,
        ),
        Target(
            f"service p99 at {rate}/s, probe ÷ oha",
            "≤ 1",
            f"{ours / theirs:.2f} ({ours:.0f} ÷ {theirs:.0f} µs)",
            ours <= theirs if judged else None,
        ),
    )


def _median(seen: list[Seen], value_of: Callable[[Seen], float]) -> float:
    return statistics.median(map(value_of, seen))
