"""When requests are meant to start, fixed before the window opens, and which lane each goes to.

`poisson` is the default: users come at random, and a lane that works off one request after the other shows its queue
to nobody else. Even spacing also locks phase with round delays and biases every figure by 50 to 160 µs; one random
point in each slot (`dithered`) breaks that lock and still keeps requests apart.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from weighbridge.units import NS_PER_S


def offsets_ns(kind: str, rate_rps: float, count: int, seed: int) -> list[int]:
    """Intended starts in ns from the begin of the window, ascending; the same seed gives the same ones.

    `even`: i ÷ rate. `dithered`: a uniform point in each of these slots. `poisson`: `count` uniform points of the
    whole window, which is what a Poisson process is once its count is given; so the rate is exact here too.
    """
    chance = random.Random(f"{seed} arrivals {kind}")  # noqa: S311 - repeatable, not secret
    slot_ns = NS_PER_S / rate_rps
    if kind == "even":
        return [round(slot * slot_ns) for slot in range(count)]
    if kind == "dithered":
        return [round((slot + chance.random()) * slot_ns) for slot in range(count)]
    return sorted(round(chance.random() * count * slot_ns) for _ in range(count))


def draw_lanes(delays: Sequence[float], count: int, seed: int) -> list[int]:
    """Lane of each request, drawn by delay; the same seed gives the same ones."""
    if len(delays) == 1:
        return [0] * count
    chance = random.Random(f"{seed} lanes")  # noqa: S311 - repeatable, not secret
    return chance.choices(range(len(delays)), delays, k=count)
