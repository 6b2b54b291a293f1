"""Documents of older shapes in today's: functions from raw document to raw document.

What an older document does not tell is 0 (warm-up, time limits) or null, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Raw = Mapping[str, Any]

NOT_TOLD_COUNT = 0
NOT_TOLD_S = 0.0


def campaign_from_1(raw: Raw) -> dict[str, Any]:
    """Return `weighbridge.campaign/1` with cells whose identity is one document, and named payloads and answers."""
    payloads, answers = _named(raw["payloads"]), _named(raw["answers"])
    cells = [_cell(cell, payloads, answers) for cell in raw["cells"]]
    return {**raw, "payloads": payloads, "answers": answers, "cells": cells}


def summary_from_1(raw: Raw) -> dict[str, Any]:
    """Return `weighbridge.summary/1` with today's loads, and with the campaign's record as it is today."""
    plans = {plan["cell"]: plan for plan in raw["provenance"]["cells"]}
    cells = [{**cell, "load": load_from_flat(plans.get(cell["cell"], {}) | cell["load"])} for cell in raw["cells"]]
    return {
        **raw,
        "provenance": campaign_from_1(raw["provenance"]),
        "payloads": _named(raw["payloads"]),
        "answers": _named(raw["answers"]),
        "cells": cells,
    }


def load_from_flat(flat: Raw) -> dict[str, Any]:
    """Return the load of the flat keys that a planned cell (`load_kind`) or a summary's load (`kind`) had."""
    return _LOADS[flat.get("load_kind") or flat["kind"]](flat)


def _rate(flat: Raw) -> dict[str, Any]:
    companion = None
    if flat.get("rider_rps") is not None:
        companion = {
            "driver": "probe",
            "rate_rps": flat["rider_rps"],
            "connections": flat["rider_connections"],
        }
    return {
        "rate_rps": flat["rate_rps"],
        "duration_s": flat["duration_s"],
        "request_count": flat["request_count"],
        "connections": flat["connections"],
        "warmup_count": NOT_TOLD_COUNT,
        "timeout_s": NOT_TOLD_S,
        "companion": companion,
        "no_companion": flat.get("no_rider"),
        "kind": "rate",
    }


def _clients(flat: Raw) -> dict[str, Any]:
    return {
        "clients": flat["clients"],
        "request_count": flat["request_count"],
        "connections": flat["connections"],
        "warmup_count": NOT_TOLD_COUNT,
        "timeout_s": NOT_TOLD_S,
        "kind": "clients",
    }


def _streams(flat: Raw) -> dict[str, Any]:
    return {"counts": list(flat["held_counts"]), "hold_s": NOT_TOLD_S, "timeout_s": NOT_TOLD_S, "kind": "streams"}


# The kinds that older documents had, which is all that they will ever have.
_LOADS = {"rate": _rate, "clients": _clients, "streams": _streams}


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
        "floor": flat["floor"],
        "not_supported": flat.get("not_supported"),
    }


def _named(facts: Raw) -> dict[str, Any]:
    return {name: {"name": name, **one} for name, one in facts.items()}
