"""When a warm-up is over, and what a gateway claims in it."""

from __future__ import annotations

import pytest

from weighbridge.campaign.window.warmup import is_steady, self_reported_s
from weighbridge.matrix.recipe import OverheadHeader
from weighbridge.rig.lanes.http import HttpAnswer


def _answer(value: str) -> HttpAnswer:
    return HttpAnswer(200, (("x-overhead", value),), (), 0, 0, 0)


@pytest.mark.parametrize(("unit", "expected_s"), [("us", 2.5e-6), ("ms", 2.5e-3), ("s", 2.5)])
def test_a_claim_is_read_in_its_unit(unit: str, expected_s: float) -> None:
    """The header's number counts in the unit that the recipe says."""
    header = OverheadHeader.model_validate({"name": "x-overhead", "unit": unit})

    assert self_reported_s(header, _answer("2.5")) == pytest.approx(expected_s)


@pytest.mark.parametrize("value", ["", "soon", "nan", "inf"])
def test_a_claim_that_is_no_number_is_none(value: str) -> None:
    """A gateway's header is hostile text: what is no finite number is no claim."""
    header = OverheadHeader.model_validate({"name": "x-overhead", "unit": "ms"})

    assert self_reported_s(header, _answer(value)) is None
    assert self_reported_s(header, HttpAnswer(200, (), (), 0, 0, 0)) is None


def test_steady_needs_two_groups_that_agree() -> None:
    """Ten times are too few, ten that fall are not steady, twenty that agree are."""
    assert not is_steady([0.02] * 19)
    assert not is_steady([0.03] * 10 + [0.02] * 10)
    assert is_steady([0.25] + [0.02] * 20)
