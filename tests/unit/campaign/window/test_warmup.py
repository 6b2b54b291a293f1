"""When a warm-up is over."""

from __future__ import annotations

from weighbridge.campaign.window.warmup import is_steady


def test_steady_needs_two_groups_that_agree() -> None:
    """Ten times are too few, ten that fall are not steady, twenty that agree are."""
    assert not is_steady([0.02] * 19)
    assert not is_steady([0.03] * 10 + [0.02] * 10)
    assert is_steady([0.25] + [0.02] * 20)
