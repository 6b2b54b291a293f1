"""Examples for the tests of the judge room: lanes that are simulated exactly, and the documents around them."""

from __future__ import annotations

import heapq
from dataclasses import fields, replace
from typing import Any

import numpy as np

from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.inputs import Attempted, Judgement
from weighbridge.judge.window import Client, ProviderHealth, Window
from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.record.campaign import CampaignRecord, GatewayFacts
from weighbridge.record.cell import CellIdentity, PlannedCell
from weighbridge.record.figures import NOT_MEASURED
from weighbridge.record.host import GitFacts, HostFacts, LoadReading, ToolFacts
from weighbridge.record.load_report import LoadReport
from weighbridge.record.run import ClientRecord, Counts, DriverRecord, Evidence, RunRecord
from weighbridge.record.samples import SampleTable, from_columns

QUIET = LoadReading(load_1m=0.4, cpu_some_pct=0.5, io_some_pct=0.0, steal_pct=0.0, foreign_cpu_cores=0.01)
PAYLOAD = PayloadSpec("1k", 256, 1024)
ANSWER = AnswerSpec("20ms", 0.02, 16, 0.005)
TOOL = ToolFacts(name="oha", version="1.16.0", sha256="0" * 64, source="path")


def code_of(found: Judgement | RunRecord) -> str | None:
    """Code of the reason for which a run does not count."""
    return None if found.reason is None else found.reason.code


def detail_of(found: Judgement | RunRecord) -> str:
    """What the reason says; empty without one."""
    return "" if found.reason is None else found.reason.detail


def rate_load(rate_rps: float, request_count: int, connections: int = 32, warmup_count: int = 0) -> Load:
    """Open loop of `request_count` measured requests."""
    return RateLoad(rate_rps, request_count / rate_rps, request_count, connections, warmup_count, 60.0)


def clients_load(clients: int, request_count: int) -> Load:
    """Closed loop of `clients` clients."""
    return ClientsLoad(clients, request_count, clients, 25, 60.0)


def open_loop(load: Load, service_s: Any, *, servers: int = 10_000, pacer_s: Any = 0.0) -> SampleTable:
    """An open loop as oha drives it: tokens wait for one of C connections, then for one of `servers` in the lane."""
    count, rate = load.window_count, load.offered_rps or 1.0
    service = np.broadcast_to(np.asarray(service_s, dtype=float), (count,))
    intended = np.arange(count) / rate
    released = intended + np.broadcast_to(np.asarray(pacer_s, dtype=float), (count,))
    connections = [0.0] * load.connections
    lane = [0.0] * servers
    sent, end = np.empty(count), np.empty(count)
    for row in range(count):
        sent[row] = max(released[row], heapq.heappop(connections))
        begin = max(sent[row], heapq.heappop(lane))
        end[row] = begin + service[row]
        heapq.heappush(connections, end[row])
        heapq.heappush(lane, end[row])
    return table(sent, end, intended_s=intended, released_s=released)


def closed_loop(load: Load, service_s: Any) -> SampleTable:
    """C clients, each sending its next request as its response ends."""
    count = load.window_count
    service = np.broadcast_to(np.asarray(service_s, dtype=float), (count,))
    free = [0.0] * (load.concurrency)
    sent, end = np.empty(count), np.empty(count)
    for row in range(count):
        sent[row] = heapq.heappop(free)
        end[row] = sent[row] + service[row]
        heapq.heappush(free, end[row])
    return table(sent, end)


def table(sent: Any, end: Any, **others: Any) -> SampleTable:
    """Sample table with whole 200s, changed by `others`."""
    count = len(sent)
    filled = {
        "status": np.full(count, 200, dtype=np.int64),
        "received_bytes": np.full(count, 500, dtype=np.int64),
        "first_byte_s": end - 0.0001,
    }
    return from_columns(sent_s=sent, end_s=end, **{**filled, **others})


def cut_at(samples: SampleTable, instant_s: float) -> SampleTable:
    """What oha's CSV still has after an interrupt: the answered requests only, without release instants."""
    kept = samples.where(samples.end_s <= instant_s)
    return replace(kept, released_s=np.full(len(kept), np.nan))


def report(samples: SampleTable | None, load: Load, **changes: Any) -> LoadReport:
    """Load report that fits the samples, changed by `changes`."""
    answered = load.window_count if samples is None else int((samples.outcome == 0).sum())
    wall = float(np.nanmax(samples.end_s)) if samples is not None and len(samples) else 1.0
    filled: dict[str, Any] = {
        "tool": "oha",
        "tool_version": "1.16.0",
        "corrected": "yes" if load.kind == "rate" else "no",
        "verdict": "ok",
        "reason": None,
        "wall_s": wall,
        "scheduled_count": load.window_count,
        "sent_count": answered,
        "answered_count": answered,
        "answered_by_status": {"200": answered},
        "failed_count": 0,
        "failed_by_class": {},
        "censored_count": 0,
        "completed_rps": answered / wall if wall else None,
        "success_ratio": 1.0,
        "received_bytes": 500 * answered,
        "response_ms": NOT_MEASURED,
        "first_byte_ms": NOT_MEASURED,
    }
    return LoadReport(**{**filled, **changes})


def client(load: Load, samples: SampleTable | None, *, role: str = "driver", **changes: Any) -> Client:
    """A client that came to a good end with a fitting report; `changes` are its own or those of its record."""
    own = {name: changes.pop(name) for name in ("argv", "exit_code", "cut") if name in changes}
    record = DriverRecord(**{"tool": TOOL, "argv": ("oha",), "exit_code": 0, "cut": False, **own})
    given: dict[str, Any] = {"report": report(samples, load) if "report" not in changes else None, "samples": samples}
    return Client(role=role, load=load, record=record, **{**given, **changes})


def window(load: Load, samples: SampleTable | None, *, cut: bool = False, **changes: Any) -> Window:
    """Window of one client, with a report that fits but for `changes`."""
    return window_of(client(load, samples, cut=cut, report=report(samples, load, **changes)))


def window_of(*clients: Client, load: Load | None = None, **changes: Any) -> Window:
    """Faultless window of these clients, of plain responses; the whole load is the leading one's if none is given."""
    given: dict[str, Any] = {
        "load": clients[0].load if load is None else load,
        "mode": "plain",
        "answer": ANSWER,
        "provider": ProviderHealth(0.0001, 0.2),
        "load_before": QUIET,
        "load_after": QUIET,
    }
    return Window(clients=clients, **{**given, **changes})


def with_client(facts: Window, place: int = 0, **changes: Any) -> Window:
    """The window with one client changed, the leading one if no other is named."""
    one = facts.clients[place]
    own = {name: changes.pop(name) for name in ("argv", "exit_code", "cut") if name in changes}
    one = replace(one, record=one.record.model_copy(update=own), **changes)
    return replace(facts, clients=(*facts.clients[:place], one, *facts.clients[place + 1 :]))


def counts(sent: int, **changes: Any) -> Counts:
    """Counts that agree on both sides."""
    filled: dict[str, Any] = {
        "client_sent_count": sent,
        "client_answered_count": sent,
        "client_success_count": sent,
        "provider_request_count": sent,
        "provider_distinct_count": sent,
        "provider_aborted_count": 0,
        "repeat_share_ratio": 0.0,
        "expected_repeat_ratio": 0.048,
    }
    return Counts(**{**filled, **changes})


def evidence(mode: str = "plain", **changes: Any) -> Evidence:
    """Faultless preflight of one mode."""
    filled: dict[str, Any] = {"mode": mode, "status": 200, "ok": True, "problem": None, "stamp_survives": True}
    return Evidence(**{**filled, **changes})


def answered_count(facts: Window) -> int:
    """Answers of all clients."""
    return sum(one.answered_count or 0 for one in facts.reports)


def inputs(facts: Window, *, lead: dict[str, Any] | None = None, **changes: Any) -> Attempted:
    """A faultless attempt around one window; each test plants one fault by `changes`, or in its leading client."""
    beside = {one.name for one in fields(Window)} - {one.name for one in fields(Attempted)}
    own = {name: changes.pop(name) for name in tuple(changes) if name in beside}
    facts = with_client(facts, **(lead or {}))
    facts = replace(facts, **{"counts": facts.counts or counts(answered_count(facts)), **own})
    given: dict[str, Any] = {
        "load": facts.load,
        "mode": facts.mode,
        "is_baseline": False,
        "window": facts,
        "figures": run_figures(facts),
        "evidence": (evidence(),),
    }
    return Attempted(**{**given, **changes})


def plan(cell: str, load: Load, **changes: Any) -> PlannedCell:
    """Planned cell by its id; `changes` are those of its identity or of itself."""
    gateway, chain, disk, mode, name = cell.split(".")
    own = {key: changes.pop(key) for key in tuple(changes) if key in PlannedCell.model_fields}
    identity: dict[str, Any] = {
        "gateway": gateway,
        "settings": {},
        "chain": chain,
        "disk": disk,
        "mode": mode,
        "payload": PAYLOAD,
        "answer": ANSWER,
        "load": load,
        "driver": "oha",
    }
    filled: dict[str, Any] = {"cell": cell, "baseline": f"direct.none.{disk}.{mode}.{name}"}
    return PlannedCell(identity=CellIdentity(**{**identity, **changes}), **{**filled, **own})


def campaign(*plans: PlannedCell, runs: int = 3, **changes: Any) -> CampaignRecord:
    """Campaign record with these cells."""
    filled: dict[str, Any] = {
        "campaign": "20261130T000000Z-x86-2c-4g-abcdef",
        "weighbridge_version": "0.1.0",
        "method_version": 1,
        "started_at": "2026-11-30T00:00:00Z",
        "title": "Example",
        "command": "invoke bench",
        "grade": "ci",
        "runs": runs,
        "seed": 20261023,
        "matrix_sha256": "0" * 64,
        "subject": "reference",
        "load_limit_per_cpu": None,
        "git": GitFacts(commit=None, dirty=None),
        "host": HostFacts(
            machine_class="x86-2c-4g",
            os="Linux",
            kernel="Linux 6",
            cpu_model=None,
            cpu_count=2,
            memory_bytes=4 << 30,
            governor=None,
            virtualised=None,
            python="3.11",
        ),
        "tools": (),
        "gateways": tuple(gateway(name) for name in ("reference", "litellm", "direct")),
        "payloads": {"1k": PAYLOAD},
        "answers": {"20ms": ANSWER},
        "cells": plans,
        "order": (),
    }
    return CampaignRecord(**{**filled, **changes})


def gateway(name: str, **changes: Any) -> GatewayFacts:
    """Gateway of a campaign."""
    kinds = {"direct": "baseline", "reference": "mock"}
    filled: dict[str, Any] = {
        "id": name,
        "name": name,
        "kind": kinds.get(name, "product"),
        "homepage": None,
        "license": None,
        "recipe_sha256": "0" * 64,
        "tool": None,
    }
    return GatewayFacts(**{**filled, **changes})


def run(cell: str, block: int, facts: Window | None = None, **changes: Any) -> RunRecord:
    """Accepted run of a cell, with the figures of `facts`."""
    filled: dict[str, Any] = {
        "cell": cell,
        "block": block,
        "attempt": block,
        "fingerprint": "f",
        "accepted": True,
        "verdict": "valid",
        "started_at": "2026-11-30T00:00:00Z",
        "window_s": 30.0,
        "load_before": QUIET,
        "load_after": QUIET,
    }
    if facts is not None:
        filled |= {
            "clients": tuple(map(_recorded, facts.clients)),
            "figures": run_figures(facts),
            "counts": counts(answered_count(facts)),
        }
    return RunRecord(**{**filled, **changes})


def _recorded(one: Client) -> ClientRecord:
    return ClientRecord(role=one.role, load=one.load, driver=one.record, load_report=one.report)
