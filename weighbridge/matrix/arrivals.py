"""How the requests of an open loop are spaced: at random as users come, one in each slot, or evenly.

Read by the probe's program too, which starts quicker without what reads YAML files.
"""

from __future__ import annotations

from typing import Literal, get_args

Arrivals = Literal["poisson", "dithered", "even"]
ARRIVALS: tuple[Arrivals, ...] = get_args(Arrivals)
