"""Documents of older shapes in today's: functions from raw document to raw document, one a kind and a step.

What an older document does not tell is 0 (warm-up, time limits) or null, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weighbridge.record import older_codes
from weighbridge.record.older_codes import Raw

NOT_REPORTED_COUNT = 0
NOT_REPORTED_S = 0.0


def newest(raw: Raw, kind: str, number: int, wanted: int) -> dict[str, Any]:
    """Return a document of a kind, brought from version `number` to `wanted` step by step.

    Raises KeyError for a step that nobody wrote, and for a document that lacks what its version has.
    """
    found = dict(raw)
    for step in range(number, wanted):
        found = MIGRATIONS[kind, step](found)
    return found


def renamed(raw: Raw, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a part of a document with some of its keys renamed, in the order they had."""
    return {names.get(key, key): value for key, value in raw.items()}


def _without(raw: Raw, names: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in names}


def run_from_1(raw: Raw) -> dict[str, Any]:
    """Return `weighbridge.run/1` with clients in one list, codes for reason and absences, and rates as figures."""
    found = renamed(older_codes.with_absences(raw), _FIGURE_NAMES)
    figures = None if found["figures"] is None else renamed(found["figures"], _FIGURE_NAMES)
    if figures is not None:
        figures |= {key: _rate_figure(figures[key]) for key in ("achieved_rps", "goodput_rps")}
        figures = _with_buffering(_without(figures, _GONE_FIGURES))
    found["open_streams"] = _open_streams(found.pop("held"))
    found["reason"] = None if raw["accepted"] else older_codes.reason(raw["reason"], raw["reason_text"])
    clients, why = _clients_of_run(found)
    for name in ("reason_text", "driver", "load_report", "rider"):
        found.pop(name, None)
    return {
        **found,
        "resources": _resources(found["resources"]),
        "figures": figures,
        "clients": clients,
        "no_companion": why,
        "schema": "weighbridge.run/2",
        "flags": older_codes.flags(raw),
    }


def _resources(raw: Raw) -> dict[str, Any]:
    """Return what was used, with the idle use of one second as a look of one slice."""
    found = dict(raw)
    cores = found.pop("cpu_idle_cores")
    return {**found, "idle_before": None if cores is None else {"slice_s": 1.0, "cores": [cores]}}


def _clients_of_run(raw: Raw) -> tuple[list[dict[str, Any]], str | None]:
    """Return the driver, or the stream opener in its place, and the probe beside it; or why there was no probe."""
    rider: Raw = raw.get("rider") or {}
    clients = []
    if raw.get("driver") is not None:
        role = "driver" if raw.get("held") is None else "open_streams"
        clients.append({"role": role, "load": None, "driver": raw["driver"], "load_report": raw["load_report"]})
    if "driver" in rider:
        clients.append(
            {"role": "companion", "load": None, "driver": rider["driver"], "load_report": rider["load_report"]}
        )
    return clients, rider.get("detail") or None


def _open_streams(held: Raw | None) -> Raw | None:
    """Return what opening streams showed, with the step's counts as they are called today."""
    if held is None:
        return None
    return {**held, "points": [renamed(point, {"held_count": "client_open_count"}) for point in held["points"]]}


def _with_buffering(values: Raw) -> dict[str, Any]:
    """Return figures whose counts of streams have the names of today."""
    found = dict(values)
    if isinstance(found.get("bunching"), dict):
        found["bunching"] = renamed(found["bunching"], _BUNCHING_NAMES)
    return found


def finished_from_1(raw: Raw) -> dict[str, Any]:
    """Return `weighbridge.finished/1` with a certificate of today, or its absence as a code."""
    found = older_codes.with_absences(raw)
    return {**found, "certificate": _certificate(found["certificate"]), "schema": "weighbridge.finished/2"}


def certificate_from_1(raw: Raw) -> dict[str, Any]:
    """Return `weighbridge.certificate/1` in the words of the second: known delays, control, baselines, detected."""
    delays = [renamed(one, _DELAY_NAMES) for one in raw["weights"]]
    return renamed(raw, {"weights": "known_delays", "floors": "baselines"}) | {
        "known_delays": [
            one | {"blocks": [renamed(block, _DELAY_NAMES) for block in one.get("blocks", ())]} for one in delays
        ],
        "jitter": [renamed(one, {"weights": "delays"}) for one in raw.get("jitter", ())],
        "faults": [renamed(one, {"caught": "detected"}) for one in raw["faults"]],
        "schema": "weighbridge.certificate/2",
    }


def _certificate(raw: Raw) -> Raw:
    """Return the certificate within another document; an absence stays as it is."""
    return certificate_from_1(raw) if raw.get("schema") == "weighbridge.certificate/1" else raw


def campaign_from_1(raw: Raw) -> dict[str, Any]:
    """Return `weighbridge.campaign/1` with cells whose identity is one document, and named payloads and answers."""
    payloads, answers = _named(raw["payloads"]), _named(raw["answers"])
    cells = [_cell(cell, payloads, answers) for cell in raw["cells"]]
    warnings = [older_codes.warning(text) for text in raw.get("warnings", ())]
    gateways = [_gateway(one) for one in raw["gateways"]]
    changed = {
        "payloads": payloads,
        "answers": answers,
        "cells": cells,
        "warnings": warnings,
        "gateways": gateways,
    }
    if "certificate" in raw:
        changed["certificate"] = _certificate(raw["certificate"])
    return {**raw, **changed, "schema": "weighbridge.campaign/2"}


def summary_from_1(raw: Raw) -> dict[str, Any]:
    """Return `weighbridge.summary/1` with today's loads, and with the campaign's record as it is today."""
    plans = {plan["cell"]: plan for plan in raw["provenance"]["cells"]}
    found = older_codes.with_absences(raw)
    wanted = raw["provenance"]["runs"]
    cells = [
        summary_cell_from_1(cell, wanted) | {"load": load_from_flat(plans.get(cell["cell"], {}) | cell["load"])}
        for cell in found["cells"]
    ]
    return {
        **found,
        "schema": "weighbridge.summary/2",
        "provenance": campaign_from_1(raw["provenance"]),
        "payloads": _named(raw["payloads"]),
        "answers": _named(raw["answers"]),
        "cells": cells,
        "gateways": [_gateway(one) for one in found["gateways"]],
        "certificate": _certificate(found["certificate"]),
        "slopes": [
            renamed(one, {"floor_slope_ms": "baseline_slope_ms"}) | {"interval_ms": _interval(one.get("interval_ms"))}
            for one in found["slopes"]
        ],
    }


def _gateway(raw: Raw) -> Raw:
    return {**raw, "kind": "baseline"} if raw["kind"] == "floor" else raw


def summary_cell_from_1(cell: Raw, wanted: int) -> dict[str, Any]:
    """Return a cell of `weighbridge.summary/1`, but for its load, with names, codes and intervals of today."""
    named = _with_buffering(renamed(cell, _FIGURE_NAMES | {"floor": "baseline"}))
    return {
        **{key: _of_runs(value, cell["runs_accepted"]) for key, value in _without(named, _GONE_FIGURES).items()},
        "reason": older_codes.reason_of_cell(cell),
        "flags": older_codes.flags(cell),
        "runs_wanted": wanted,
        "rejected": [
            {"reason": older_codes.reason(one["reason"], one["example"]), "count": one["count"]}
            for one in cell["rejected"]
        ],
        "runs": [
            {**one, "reason": None if one["accepted"] else older_codes.reason(one["reason"], "")}
            for one in cell["runs"]
        ],
    }


def _of_runs(value: Any, run_count: int) -> Any:
    """Return a figure of a cell with intervals as documents; of how many runs it is was not told: of all."""
    if not isinstance(value, Mapping):
        return value
    given = value.get("interval")
    if {"p50", "n"} <= value.keys():
        ends = None if given is None else {name: _interval(one) for name, one in given.items()}
        return {**value, "interval": ends, "run_count": run_count}
    if "value" not in value:
        return value
    low, high = value.get("low"), value.get("high")
    spread = None if low is None or high is None else {"low": low, "high": high, "kind": "range"}
    return {**value, "interval": _interval(given) or spread, "run_count": run_count}


def _interval(ends: Sequence[float] | None) -> dict[str, Any] | None:
    """Return an interval of the first version, which was by Student's t."""
    return None if ends is None else {"low": ends[0], "high": ends[1], "kind": "t"}


def _rate_figure(value_rps: float | None) -> dict[str, Any]:
    return {"absent": "totals_missing", "detail": ""} if value_rps is None else {"value": value_rps}


def load_from_flat(flat: Raw) -> dict[str, Any]:
    """Return the load of the flat keys that a planned cell (`load_kind`) or a summary's load (`kind`) had."""
    return _OLDER_LOADS[flat.get("load_kind") or flat["kind"]](flat)


def _rate(flat: Raw) -> dict[str, Any]:
    companion = None
    if flat.get("rider_rps") is not None:
        companion = {
            "driver": "probe",
            "rate_rps": flat["rider_rps"],
            "connections": flat["rider_connections"],
            "arrivals": "dithered",
        }
    return {
        "rate_rps": flat["rate_rps"],
        "duration_s": flat["duration_s"],
        "request_count": flat["request_count"],
        "connections": flat["connections"],
        "warmup_count": NOT_REPORTED_COUNT,
        "timeout_s": NOT_REPORTED_S,
        "companion": companion,
        "no_companion": flat.get("no_rider"),
        "arrivals": "dithered" if flat.get("driver") == "probe" else "even",
        "kind": "rate",
    }


def _clients(flat: Raw) -> dict[str, Any]:
    return {
        "clients": flat["clients"],
        "request_count": flat["request_count"],
        "connections": flat["connections"],
        "warmup_count": NOT_REPORTED_COUNT,
        "timeout_s": NOT_REPORTED_S,
        "kind": "clients",
    }


def _streams(flat: Raw) -> dict[str, Any]:
    return {
        "counts": list(flat["held_counts"]),
        "hold_s": NOT_REPORTED_S,
        "timeout_s": NOT_REPORTED_S,
        "kind": "streams",
    }


# The kinds that older documents had, which is all that they will ever have.
_OLDER_LOADS = {"rate": _rate, "clients": _clients, "streams": _streams}


def _cell(flat: Raw, payloads: Raw, answers: Raw) -> dict[str, Any]:
    same = ("gateway", "settings", "chain", "disk", "mode", "driver")
    identity = {name: flat[name] for name in same}
    identity |= {
        "payload": payloads[flat["payload"]],
        "answer": answers[flat["answer"]],
        "load": load_from_flat(flat),
    }
    return {
        "cell": flat["cell"],
        "identity": identity,
        "baseline": flat["floor"],
        "not_supported": flat.get("not_supported"),
    }


def _named(facts: Raw) -> dict[str, Any]:
    return {name: {"name": name, **one} for name, one in facts.items()}


_FIGURE_NAMES = {
    "claimed_overhead_ms": "self_reported_ms",
    "claimed_difference_ms": "self_reported_difference_ms",
    "inbound_ms": "request_path_ms",
    "outbound_ms": "response_path_ms",
}
# Figures of rules that no longer hold: answers were left out where the probe itself was late, and calls in the path
# of a request were not told from those beside it.
_GONE_FIGURES = frozenset({"lagged_count", "control_plane_calls_per_request"})
_BUNCHING_NAMES = {"held_stream_count": "buffered_stream_count", "hold_gaps": "buffered_gaps"}
_DELAY_NAMES = {
    "weight": "delay",
    "surroundings": "condition",
    "tare_ms": "control_ms",
    "tare_count": "control_count",
}

# From each kind and number to the next; a document goes through as many steps as it takes.
MIGRATIONS: Mapping[tuple[str, int], Callable[[Raw], dict[str, Any]]] = {
    ("weighbridge.run", 1): run_from_1,
    ("weighbridge.summary", 1): summary_from_1,
    ("weighbridge.campaign", 1): campaign_from_1,
    ("weighbridge.finished", 1): finished_from_1,
    ("weighbridge.certificate", 1): certificate_from_1,
}
