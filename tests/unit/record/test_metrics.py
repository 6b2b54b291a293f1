"""The catalogue of figures and the documents that hold them: each key once, each value of its kind."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from pydantic import ValidationError

from tests.golden.campaigns import cell, rate, timing
from weighbridge.record import metrics
from weighbridge.record.figures import NOT_MEASURED, Absent, Figure
from weighbridge.record.measured import RunFigures
from weighbridge.record.summary import CellSummary


def test_every_key_has_one_entry() -> None:
    """The typed keys and the entries are the same, and each says where it stands and what it means."""
    typed = [key for part in get_args(metrics.MetricKey) for key in get_args(part)]
    assert sorted(typed) == sorted(metrics.METRICS)
    for key, one in metrics.METRICS.items():
        assert one.key == key
        assert one.of, key
        assert one.label, key
        assert one.meaning.endswith("."), key
        assert (one.kind == "time") == (key in metrics.TIME_KEYS), key


def test_a_name_ends_in_its_unit() -> None:
    """No time without `_ms`, no size without `_bytes`, no rate without `_rps`."""
    endings = {"bytes": "_bytes", "1/s": "_rps", "s": "_s", "ratio": "_ratio", "count": "_count"}
    for key, one in metrics.METRICS.items():
        assert key.endswith(endings.get(one.unit, "")), key
        assert one.kind != "time" or key.endswith("_ms"), key


def test_what_was_not_given_is_absent_and_never_missing() -> None:
    """A document of one figure holds every other one, as not measured or null."""
    found = RunFigures.of({"response_ms": timing(1.0, 2.0, 3.0)})
    assert set(found.figures) == {one.key for one in metrics.metrics_of("run")}
    assert found.timing("ttfb_ms") == NOT_MEASURED
    assert found.count("request_count") is None
    assert found.known("achieved_rps") is None


@pytest.mark.parametrize(
    "values",
    [
        {"respnse_ms": timing(1.0, 2.0, 3.0)},
        {"shift_ms": timing(1.0, 2.0, 3.0)},
        {"response_ms": Figure(value=1.0)},
        {"achieved_rps": 50.0},
        {"request_count": 1.5},
        {"request_count": True},
    ],
)
def test_a_figure_that_does_not_fit_is_refused(values: dict[str, object]) -> None:
    """A mistyped key, a figure of cells in a run, and a value of another kind are errors."""
    with pytest.raises(ValidationError):
        RunFigures.model_validate(values)


def test_a_cell_is_flat_and_comes_back() -> None:
    """Figures stand beside the cell's own keys, and the same document is read again."""
    made = cell("litellm", rate(50))
    raw = json.loads(made.to_json())
    assert raw["shift_ms"]["p50"] == 9.4
    assert raw["ttfb_ms"] == {"absent": "not_reported_by_driver", "detail": ""}
    assert CellSummary.model_validate_json(made.to_json()) == made


def test_a_change_is_validated() -> None:
    """No document can be changed into one that could not be made."""
    with pytest.raises(ValidationError):
        cell("litellm", rate(50)).changed(verdict="fine")
    with pytest.raises(ValidationError):
        cell("litellm", rate(50)).with_figures({"shift_ms": 3.0})
    assert (
        cell("litellm", rate(50)).changed(shift_ms=Absent(absent="no_baseline")).timing("shift_ms").absent
        == "no_baseline"
    )
