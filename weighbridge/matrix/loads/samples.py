"""Which percentiles a number of measured requests cannot carry: a remark for people before a campaign."""

from __future__ import annotations

from weighbridge import quantiles
from weighbridge.matrix.suggest import listed

TAIL_SHARES = {"p95": 0.95, "p99": 0.99}


def few_samples(count: int) -> str | None:
    """Return what so many samples are too few for, and how that is shown; None where they are enough."""
    weak = [name for name, share in TAIL_SHARES.items() if quantiles.beyond(count, share) < quantiles.SAMPLES_BEYOND]
    if not weak:
        return None
    needed = listed((f"{name} needs {quantiles.needed(TAIL_SHARES[name]):,}" for name in weak), last="and")
    absent = [name for name in weak if quantiles.beyond(count, TAIL_SHARES[name]) == 0]
    shown = "shown grey with its rank" if not absent else f"{listed(absent, last='and')} will be absent"
    return f"{needed}: {shown}"
