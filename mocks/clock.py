"""Units of the clocks that the mocks read."""

from __future__ import annotations

NS_PER_S = 1_000_000_000
