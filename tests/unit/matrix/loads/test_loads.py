"""Kinds of load response the same questions, so that nobody has to ask which kind it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.examples.matrix_samples import cells
from weighbridge.matrix.loads import LOADS, ClientsLoad, Load, Loads, OpenStreamsLoad, RateLoad
from weighbridge.matrix.loads.clients import planned_requests
from weighbridge.matrix.requests import AnswerSpec

ANSWER = AnswerSpec("20ms", 0.02, 16, 0.005)
SAME = (
    "kind", "name", "size", "request_count", "connections", "warmup_count", "timeout_s", "window_count", "duration_s",
    "offered_rps", "has_schedule", "concurrency", "is_serial", "measures_times", "companion", "no_companion",
    "arrivals", "left_out_count", "warmup_before_count",
)  # fmt: skip
EVERY: Sequence[Load] = (
    RateLoad(50.0, 30.0, 1500, 32, 25, 60.0),
    RateLoad(50.0, 30.0, 1500, 32, 25, 60.0).with_companion("probe", "auto"),
    ClientsLoad(1, 1000, 1, 25, 60.0),
    ClientsLoad(10, 1000, 10, 25, 60.0),
    OpenStreamsLoad((0, 20, 50), 3.0, 3.02),
)


def _name(load: Load) -> str:
    return f"{load.name}{'+' if load.companion else ''}"


def test_every_kind_is_tried_here() -> None:
    """The loads below are of all kinds, each under its own name, in the schema as in the dictionary."""
    assert {load.kind for load in EVERY} == LOADS.keys() == Loads.model_fields.keys()
    assert all(isinstance(load, LOADS[load.kind]) for load in EVERY)
    assert len({load.name.partition("-")[0] for load in EVERY}) == len(LOADS)


@pytest.mark.parametrize("load", EVERY, ids=_name)
def test_every_load_has_the_same_names(load: Load) -> None:
    """Whatever its kind, it has a value or None for each question."""
    assert [name for name in SAME if not hasattr(load, name)] == []


@pytest.mark.parametrize("load", EVERY, ids=_name)
def test_parts_make_the_whole(load: Load) -> None:
    """All requests and connections are in its parts, which have no parts themselves and different roles."""
    parts = load.parts()

    assert sum(part.load.window_count for part in parts) == load.window_count
    assert sum(part.load.request_count for part in parts) == load.request_count
    assert sum(part.load.warmup_count for part in parts) == load.warmup_count
    assert len({part.role for part in parts}) == len(parts) == 1 + (load.companion is not None)
    assert all(len(part.load.parts()) == 1 for part in parts)


@pytest.mark.parametrize("load", EVERY, ids=_name)
def test_without_a_companion_it_is_the_drivers_alone(load: Load) -> None:
    """The same load by one load generator; the reason is kept where there could have been one."""
    alone = load.without_companion("off")

    assert [part.load for part in alone.parts()] == [alone]
    assert (alone.name, alone.request_count, alone.companion) == (load.name, load.request_count, None)
    assert alone.no_companion == ("off" if load.has_schedule else None)


@pytest.mark.parametrize("load", EVERY, ids=_name)
def test_more_connections_are_no_other_load(load: Load) -> None:
    """They are multiplied in each part where the load stays what it is; elsewhere there is no such load."""
    more = load.with_connections(2)

    assert (more is None) == (not load.has_schedule)
    if more is not None:
        assert [part.load.connections for part in more.parts()] == [2 * p.load.connections for p in load.parts()]
        assert (more.name, more.request_count) == (load.name, load.request_count)


@pytest.mark.parametrize("load", EVERY, ids=_name)
def test_what_a_gateway_adds_never_shortens_a_window(load: Load) -> None:
    """A closed loop waits for it at each request, an open loop and open streams do not."""
    as_it_is, slower = (load.expected_s(ANSWER, "stream", added_s=added_s) for added_s in (0.0, 0.01))

    assert (slower > as_it_is) == (load.measures_times and not load.has_schedule)
    assert slower >= as_it_is > 0


def test_a_load_has_its_place_in_the_order(tmp_path: Path) -> None:
    """Within a kind the size tells loads apart as the name does."""
    loads = {cell.load for cell in cells(tmp_path, ("counts: [1, 10]", "counts: [1, 10, 100]"))}

    assert len({(load.kind, load.size) for load in loads}) == len({load.name for load in loads})


@pytest.mark.parametrize(
    ("clients", "provider_s", "expected"),
    [(1, 0.02, 1000), (50, 0.02, 5000), (50, 2.0, 1500), (10, 60.0, 1000), (50, 0.0, 5000)],
)
def test_requests_left_to_us_are_a_hundred_of_each_client(clients: int, provider_s: float, expected: int) -> None:
    """No more than fit in a minute of a slow provider, and never too few for a p99."""
    assert planned_requests(clients, provider_s) == expected
