"""One least-squares line through points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class StraightLine:
    """One least-squares line; `residual` is the largest distance of a point from it, up or down."""

    slope: float
    intercept: float
    residual: float


def straight_line(at: Sequence[float], values: Sequence[float]) -> StraightLine | None:
    """Fit the least-squares line through points; None when they all stand at one place."""
    places, heights = np.array(at), np.array(values)
    spread = places - places.mean()
    if not spread.any():
        return None
    slope = float((spread * (heights - heights.mean())).sum() / (spread**2).sum())
    intercept = float(heights.mean() - slope * places.mean())
    return StraightLine(slope, intercept, float(np.abs(heights - intercept - slope * places).max()))
