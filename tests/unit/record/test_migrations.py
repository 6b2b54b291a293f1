"""Documents of older shapes: their cells and loads come back as today's documents, and nothing is guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.golden.campaigns import cell, clients, rate, summary
from weighbridge.matrix.loads import ClientsLoad, OpenStreamsLoad, RateLoad
from weighbridge.matrix.loads.companion import Companion
from weighbridge.record.campaign import CampaignRecord
from weighbridge.record.cell import PlannedCell
from weighbridge.record.migrations import campaign_from_1, load_from_flat, summary_cell_from_1, summary_from_1
from weighbridge.record.summary import Summary

FLAT: dict[str, Any] = {
    "cell": "reference.none.work.stream.rate-50",
    "gateway": "reference",
    "settings": {"workers": "2"},
    "chain": "none",
    "disk": "work",
    "mode": "stream",
    "payload": "1k",
    "answer": "20ms",
    "provider_time_s": 0.095,
    "load_kind": "rate",
    "rate_rps": 50.0,
    "clients": None,
    "duration_s": 30.0,
    "request_count": 1500,
    "connections": 32,
    "rider_rps": 7.5,
    "rider_connections": 5,
    "no_rider": None,
    "held_counts": [],
    "driver": "oha",
    "floor": "direct.none.work.stream.rate-50",
    "not_supported": None,
}
NONE_OF_RATE = {"rate_rps": None, "duration_s": None, "rider_rps": None, "rider_connections": None}
CLIENTS = FLAT | NONE_OF_RATE | {"load_kind": "clients", "clients": 10, "connections": 10}
STREAMS = FLAT | NONE_OF_RATE | {"load_kind": "streams", "held_counts": [0, 20, 50]}
PAYLOADS = {"1k": {"system_bytes": 256, "user_bytes": 1024}}
ANSWERS = {"20ms": {"delay_s": 0.02, "chunk_count": 16, "gap_s": 0.005}}


@pytest.mark.parametrize(
    ("flat", "load"),
    [
        (FLAT, RateLoad(50.0, 30.0, 1500, 32, 0, 0.0, Companion("probe", 7.5, 5, "dithered"), arrivals="even")),
        (
            FLAT | {"rider_rps": None, "no_rider": "off", "driver": "probe"},
            RateLoad(50.0, 30.0, 1500, 32, 0, 0.0, None, "off", "dithered"),
        ),
        (CLIENTS, ClientsLoad(10, 1500, 10, 0, 0.0)),
        (STREAMS, OpenStreamsLoad((0, 20, 50), 0.0, 0.0)),
    ],
    ids=["companion", "rate", "clients", "streams"],
)
def test_a_planned_cell_has_its_load_again(flat: dict[str, Any], load: object) -> None:
    """Each kind of flat load becomes the document of its kind; what was not told is 0."""
    raw = campaign_from_1({"payloads": PAYLOADS, "answers": ANSWERS, "gateways": [], "cells": [flat]})
    kept = PlannedCell.model_validate_json(json.dumps(raw["cells"][0]))

    assert kept.load == load
    assert (kept.cell, kept.baseline, kept.settings) == (flat["cell"], flat["floor"], {"workers": "2"})
    assert kept.provider_time_s == pytest.approx(flat["provider_time_s"])


def test_a_load_of_a_summary_is_read_too() -> None:
    """Its flat keys are the same, but for the name of the kind."""
    flat = {name: value for name, value in CLIENTS.items() if name != "load_kind"} | {"kind": "clients"}

    assert load_from_flat(flat) == load_from_flat(CLIENTS)


def _flat_load(load: dict[str, Any]) -> dict[str, Any]:
    names = ("kind", "rate_rps", "clients", "duration_s", "request_count", "connections")
    return {name: load.get(name) for name in names} | {"held_counts": []}


def _without_names(specs: dict[str, Any]) -> dict[str, Any]:
    return {name: {key: value for key, value in one.items() if key != "name"} for name, one in specs.items()}


def _older_campaign(raw: dict[str, Any]) -> dict[str, Any]:
    cells = []
    for kept in raw["cells"]:
        identity = kept["identity"]
        flat = {name: identity[name] for name in ("gateway", "settings", "chain", "disk", "mode", "driver")}
        load = _flat_load(identity["load"])
        flat |= {"payload": identity["payload"]["name"], "answer": identity["answer"]["name"], **load}
        flat |= {"load_kind": flat.pop("kind"), "provider_time_s": 0.02, "rider_rps": None, "no_rider": None}
        flat |= {"cell": kept["cell"], "floor": kept["baseline"], "not_supported": kept["not_supported"]}
        cells.append(flat)
    older = {name: value for name, value in raw.items() if name not in ("plan", "plan_sha256")}
    specs = {name: _without_names(raw[name]) for name in ("payloads", "answers")}
    return {**older, **specs, "cells": cells, "gateways": _older_gateways(raw)}


def _older_gateways(raw: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**one, "kind": "floor"} if one["kind"] == "baseline" else one for one in raw["gateways"]]


def _older_figure(value: Any) -> Any:
    """A figure with its interval as a pair, and without the runs that it is of."""
    if not isinstance(value, dict) or "interval" not in value:
        return value
    given = value["interval"]
    older = {key: one for key, one in value.items() if key not in ("run_count", "missing_run_count")}
    if given is None or "kind" in given:
        return {**older, "interval": None if given is None else [given["low"], given["high"]]}
    ends = {name: None if one is None else [one["low"], one["high"]] for name, one in given.items()}
    return {**older, "interval": ends}


def test_intervals_of_the_first_version_were_by_t() -> None:
    """A pair of a time or of a figure gets its kind and its runs; the range of a figure without one is its spread."""
    one = cell("reference", rate(50))
    raw = {key: _older_figure(value) for key, value in json.loads(one.to_json()).items()}
    raw |= {"runs_accepted": 4, "drain_s": {"value": 2.0, "low": 1.0, "high": 3.0, "interval": None}}
    raw |= {"goodput_rps": {"value": 2.0, "low": 1.0, "high": 3.0, "interval": [0.5, 4.0]}}
    raw["response_ms"]["interval"] = {"p50": [20.0, 22.0], "p95": None, "p99": None}
    found = summary_cell_from_1(raw, 4)
    assert found["response_ms"]["interval"]["p50"] == {"low": 20.0, "high": 22.0, "kind": "t"}
    assert found["response_ms"]["interval"]["p95"] is None
    assert found["drain_s"]["interval"] == {"low": 1.0, "high": 3.0, "kind": "range"}
    assert found["goodput_rps"]["interval"] == {"low": 0.5, "high": 4.0, "kind": "t"}
    assert {found[key]["run_count"] for key in ("response_ms", "drain_s", "goodput_rps")} == {4}


def test_an_older_campaign_and_summary_are_read() -> None:
    """Written in the older shape, both come back with the same cells, loads, payloads and answers."""
    made = summary([cell("direct", rate(50)), cell("reference", rate(50)), cell("reference", clients(10))])
    raw = json.loads(made.to_json())
    older = {**raw, "provenance": _older_campaign(raw["provenance"])}
    older |= {name: _without_names(raw[name]) for name in ("payloads", "answers")}
    older["cells"] = [
        {
            **{"floor" if key == "baseline" else key: _older_figure(value) for key, value in one.items()},
            "load": _flat_load(one["load"]),
        }
        for one in raw["cells"]
    ]
    older["gateways"] = _older_gateways(raw)

    found = Summary.model_validate_json(json.dumps(summary_from_1(older)))
    record = CampaignRecord.model_validate_json(json.dumps(campaign_from_1(older["provenance"])))

    assert [(one.cell, one.load.name, one.load.connections) for one in found.cells] == [
        (one.cell, one.load.name, one.load.connections) for one in made.cells
    ]
    assert found.provenance == record
    assert [one.cell for one in record.cells] == [one.cell for one in made.provenance.cells]
    assert (found.payloads, found.answers) == (made.payloads, made.answers)
