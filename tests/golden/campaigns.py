"""Small summaries made by hand: what pages and terminal tables are tested with."""

from __future__ import annotations

from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.record.campaign import CampaignRecord, GatewayFacts
from weighbridge.record.cell import CellIdentity, PlannedCell
from weighbridge.record.coded import CampaignWarning, Reason
from weighbridge.record.codes import REASONS
from weighbridge.record.figures import Absent, Figure, Interval, PercentileIntervals, Timing
from weighbridge.record.host import DiskFacts, GitFacts, HostFacts, LoadReading, ToolFacts
from weighbridge.record.summary import CellSummary, GatewaySummary, Rejected, RunLine, Summary

ABSENT = Absent(absent="not_measured")
QUIET = LoadReading(load_1m=0.42, cpu_some_pct=0.3, io_some_pct=0.0, steal_pct=0.0, foreign_cpu_cores=0.01)
BUSY = LoadReading(load_1m=3.9, cpu_some_pct=31.0, io_some_pct=None, steal_pct=None, foreign_cpu_cores=1.4)
DIGEST = "0123456789abcdef" * 4
HOST = HostFacts(
    machine_class="x86_64-2c-8g",
    os="Debian GNU/Linux 12",
    kernel="Linux 6.18.5",
    cpu_model="AMD EPYC 9754",
    cpu_count=2,
    memory_bytes=8 * 1024**3,
    governor=None,
    virtualised="kvm",
    python="3.11.2",
    disks=(
        DiskFacts(
            name="work", filesystem="ext4", model=None, bus="virtio", mount_options=("relatime",),
            flags=("virtual",), flush_p50_ms=0.81, flush_p99_ms=2.4, flush_by="fio 3.33",
        ),
    ),
    absent={"governor": "the hypervisor keeps it"},
)  # fmt: skip
LITELLM = ToolFacts(
    name="litellm",
    version="1.108.7",
    sha256=DIGEST,
    source="python",
    file_count=14_257,
    left_out=("env/**/cache/**",),
    git=GitFacts(commit="0a1b2c3d4e5f", dirty=True),
)
OHA = ToolFacts(name="oha", version="1.16.0", sha256=DIGEST, source="cargo", build="lto=off")


def timing(p50: float, p95: float, p99: float, *, n: int = 1000, few: bool = False, spread: float = 0.0) -> Timing:
    """A timing; `few` makes its p99 grey, `spread` gives it intervals."""
    ends = [Interval(low=value - spread, high=value + spread, kind="range") for value in (p50, p95, p99)]
    interval = PercentileIntervals(p50=ends[0], p95=ends[1], p99=None if few else ends[2])
    return Timing(
        p50=p50, p95=p95, p99=p99, mean=None, n=n, interval=interval if spread else None, run_count=3,
        few_samples={"p99": f"{n - 2}th of {n}"} if few else {},
    )  # fmt: skip


def spread_figure(value: float, low: float, high: float) -> Figure:
    """A figure of three runs that differ."""
    interval = Interval(low=low, high=high, kind="range")
    return Figure(value=value, low=low, high=high, interval=interval, run_count=3)


def rate(per_second: float) -> Load:
    """An open loop."""
    count, cap = round(30 * per_second), max(32, round(per_second / 5))
    return RateLoad(per_second, 30.0, count, cap, 25, 60.0, arrivals="even")


def clients(number: int, count: int = 1000) -> Load:
    """A closed loop."""
    return ClientsLoad(number, count, number, 25, 60.0)


def line(block: int, *, p50: float | None = 21.0, rps: float | None = 50.0, attempt: int = 1, **over) -> RunLine:
    """One attempt."""
    given = {
        "accepted": True, "verdict": "valid", "reason": None, "load_before": QUIET, "load_after": QUIET,
    } | over  # fmt: skip
    return RunLine(block=block, attempt=attempt, response_p50_ms=p50, achieved_rps=rps, **given)


def cell(gateway: str, load: Load, *, chain: str = "none", mode: str = "plain", **over) -> CellSummary:
    """A valid cell; `over` replaces its fields."""
    disk = over.pop("disk", "work")
    where = f"{disk}.{mode}.{load.name}"
    extra = 0.0 if gateway == "direct" else 2.5 if gateway == "reference" else 9.4
    base = 20.4 if mode == "plain" else 95.6
    shift = ABSENT if gateway == "direct" else timing(extra, extra * 1.3, extra * 1.9, spread=extra / 20)
    response = timing(base + extra, base + extra * 1.3 + 0.4, base + extra * 1.9 + 1.1)
    achieved = (
        load.offered_rps * 0.9996 if load.offered_rps is not None else load.concurrency * 1000 / (base + extra) - 0.5
    )
    given = {
        "cell": f"{gateway}.{chain}.{where}",
        "gateway": gateway,
        "settings": {},
        "chain": chain,
        "disk": disk,
        "mode": mode,
        "payload": "1k",
        "answer": "20ms",
        "load": load,
        "driver": "oha",
        "baseline": f"direct.none.{where}",
        "verdict": "valid",
        "reason": None,
        "flags": (),
        "runs_wanted": 3,
        "runs_accepted": 3,
        "runs_attempted": 3,
        "runs": tuple(line(block, p50=base + extra, rps=achieved) for block in (1, 2, 3)),
        "offered_rps": load.offered_rps,
        "achieved_rps": spread_figure(achieved, achieved * 0.998, achieved),
        "baseline_distance_s": ABSENT if gateway == "direct" else spread_figure(190.0, 60.0, 400.0),
        "goodput_rps": Figure(value=achieved),
        "littles_rps": load.concurrency * 1000 / (base + extra) if load.concurrency > 1 else None,
        "request_count": 3 * load.request_count,
        "error_count": 0,
        "in_flight_max_count": 7 if load.has_schedule else load.concurrency,
        "drain_s": Figure(value=0.21) if gateway == "reference" else ABSENT,
        "undelivered_at_end_count": 3 if gateway == "reference" else None,
        "load_before": QUIET,
        "load_after": QUIET,
        "response_ms": response,
        "service_ms": response,
        "ttfb_ms": timing(20.2 + extra, 21.0 + extra, 23.0 + extra)
        if mode == "stream"
        else Absent(absent="not_reported_by_driver"),
        "shift_ms": shift if gateway != "direct" else Absent(absent="baseline"),
        "shift_with_rejected_ms": shift,
        "ttfb_shift_ms": timing(extra, extra + 0.8, extra + 2.8)
        if mode == "stream" and gateway != "direct"
        else Absent(absent="not_reported_by_driver" if mode == "plain" else "baseline"),
        "self_reported_ms": timing(4.1, 4.9, 6.0) if gateway == "litellm" else Absent(absent="not_self_reported"),
        "dispatch_lag_ms": timing(0.03, 0.09, 0.21),
        "release_lateness_ms": timing(0.4, 0.9, 1.2) if load.offered_rps else Absent(absent="no_schedule"),
        "rate_error_ratio": -0.0004 if load.offered_rps else None,
        "cpu_ms_per_request": Figure(value=0.82 if gateway == "reference" else 3.4)
        if gateway != "direct"
        else ABSENT,
        "admission_calls_per_request": Figure(value=3.0) if gateway == "reference" else ABSENT,
        "background_calls_per_request": Figure(value=1.2) if gateway == "reference" else ABSENT,
        "upstream_calls_per_request": Figure(value=1.0),
    } | over
    return CellSummary(**given)


PAYLOADS = {"1k": PayloadSpec("1k", 256, 1024), "8k": PayloadSpec("8k", 256, 8192)}
ANSWERS = {"20ms": AnswerSpec("20ms", 0.02, 16, 0.005)}


def plan(of: CellSummary) -> PlannedCell:
    """The plan behind a cell."""
    shared = ("gateway", "settings", "chain", "disk", "mode", "driver", "load")
    identity = CellIdentity(
        **{key: getattr(of, key) for key in shared}, payload=PAYLOADS[of.payload], answer=ANSWERS[of.answer]
    )
    return PlannedCell(cell=of.cell, identity=identity, baseline=of.baseline)


def summary(cells: list[CellSummary], *, grade: str = "ci", runs: int = 3, **over) -> Summary:
    """A campaign of those cells."""
    reference = {"id": "reference", "name": "Reference", "kind": "mock", "homepage": None, "license": "MIT"}
    litellm = {
        "id": "litellm", "name": "LiteLLM proxy", "kind": "product", "homepage": "https://docs.litellm.ai",
        "license": "MIT",
    }  # fmt: skip
    direct = {"id": "direct", "name": "direct", "kind": "baseline", "homepage": None, "license": None}
    payloads = {"1k": PAYLOADS["1k"]}
    answers = ANSWERS
    record = CampaignRecord(
        campaign="20261130T120000Z-x86_64-2c-8g-0123abcd",
        weighbridge_version="0.1.0",
        method_version=1,
        started_at="2026-11-30T12:00:00Z",
        title=over.pop("title", "What a gateway adds to every request"),
        command=over.pop("command", "invoke bench --matrix matrix.yaml"),
        grade=grade,
        runs=runs,
        seed=20261023,
        matrix_sha256=DIGEST,
        subject="reference",
        load_limit_per_cpu=None,
        git=GitFacts(commit="b35050794e1c", dirty=False),
        host=HOST,
        tools=(OHA,),
        gateways=tuple(
            GatewayFacts(**facts, recipe_sha256=DIGEST, tool=LITELLM if facts is litellm else None)
            for facts in (direct, reference, litellm)
        ),
        payloads=payloads,
        answers=answers,
        cells=tuple(plan(c) for c in cells),
        order=tuple(tuple(c.cell for c in cells) for _ in range(runs)),
        warnings=over.pop("warnings", ()),
    )
    gateways = tuple(
        GatewaySummary(**facts, label=label, version=version, sha256=DIGEST if version else None, unavailable=None)
        for facts, label, version in (
            (direct, None, None), (reference, "mock, not a product", "0.1.0"), (litellm, None, "1.108.7"),
        )
    )  # fmt: skip
    given = {
        "campaign": record.campaign,
        "method_version": 1,
        "grade": grade,
        "subject": "reference",
        "status": "complete",
        "host": HOST,
        "provenance": record,
        "payloads": payloads,
        "answers": answers,
        "gateways": gateways,
        "loaded_machine": False,
        "loaded_text": None,
        "runs_accepted": sum(c.runs_accepted for c in cells),
        "runs_rejected": sum(c.runs_attempted - c.runs_accepted for c in cells),
        "cells": tuple(cells),
    } | over
    return Summary(**given)


def whole() -> Summary:
    """Every kind of row: figures, few samples, saturated, not supported, errored, rejected runs, many clients."""
    loads = [rate(50), rate(150), clients(1), clients(10)]
    cells = [cell("direct", load, mode=mode) for mode in ("plain", "stream") for load in loads]
    for chain in ("none", "starter", "finance"):
        for mode in ("plain", "stream"):
            cells += [cell("reference", load, chain=chain, mode=mode) for load in loads]
            cells += [_litellm(load, chain, mode) for load in loads]
    return summary(cells)


def _litellm(load: Load, chain: str, mode: str) -> CellSummary:
    if chain == "finance":
        return without(
            "not_supported", "the recipe does not claim the chain finance", "litellm", load, chain=chain, mode=mode
        )
    if chain == "starter" and mode == "stream" and load.concurrency == 10:
        return without(
            "errored", "12 of 1,000 requests answered 500", "litellm", load, chain=chain, mode=mode, runs_attempted=6
        )
    if load.offered_rps == 150:
        served = "served 66 of 150 per second"
        return cell(
            "litellm", load, chain=chain, mode=mode, verdict="saturated",
            served_text=served, achieved_rps=spread_figure(66.2, 64.0, 67.9), in_flight_max_count=32,
            shift_ms=Absent(absent="saturated"), ttfb_shift_ms=Absent(absent="saturated"),
        )  # fmt: skip
    if load.is_serial and mode == "plain":
        return cell(
            "litellm", load, chain=chain, mode=mode, runs_attempted=4, flags=("baseline_limited", "few_samples"),
            shift_ms=timing(9.4, 12.2, -0.3, n=250, few=True), shift_with_rejected_ms=timing(9.6, 13.9, 20.1),
            rejected=(Rejected(reason=Reason.of("errors", "3 requests answered 500"), count=1),),
            runs=(
                line(1),
                line(2, accepted=False, verdict="errored", reason=Reason.of("errors"), p50=None, load_after=BUSY),
                line(2, attempt=2), line(3),
            ),
        )  # fmt: skip
    return cell("litellm", load, chain=chain, mode=mode)


def without(verdict: str, detail: str, gateway: str, load: Load, **over) -> CellSummary:
    """A cell without figures."""
    gone = Absent(absent=verdict)
    code = next(code for code, entry in REASONS.items() if entry.verdict == verdict)
    given = {
        "verdict": verdict,
        "reason": Reason.of("errors" if verdict == "errored" else code, detail),
        "runs_accepted": 0,
        "runs_attempted": 0,
        "runs": (),
        "achieved_rps": gone,
        "goodput_rps": gone,
        "littles_rps": None,
        "request_count": 0,
        "in_flight_max_count": None,
        "response_ms": gone,
        "service_ms": gone,
        "ttfb_ms": gone,
        "shift_ms": gone,
        "shift_with_rejected_ms": gone,
        "ttfb_shift_ms": gone,
        "self_reported_ms": gone,
        "dispatch_lag_ms": gone,
        "release_lateness_ms": gone,
        "rate_error_ratio": None,
        "load_before": None,
        "load_after": None,
        "drain_s": gone,
        "cpu_ms_per_request": gone,
        "admission_calls_per_request": gone,
        "background_calls_per_request": gone,
        "upstream_calls_per_request": gone,
    }
    return cell(gateway, load, **given | over)


def smoke() -> Summary:
    """One run of one cell and its baseline, on a machine that others loaded."""
    load = rate(20)
    one = {
        "runs_wanted": 1,
        "runs_accepted": 1,
        "runs_attempted": 1,
        "runs": (line(1, load_before=BUSY, load_after=BUSY),),
    }
    flags = {"flags": ("few_samples", "loaded_machine")}
    few = timing(2.5, 3.1, 4.4, n=160, few=True)
    cells = [cell("direct", load, **one), cell("reference", load, shift_ms=few, **one, **flags)]
    return summary(
        cells, grade="smoke", runs=1, loaded_machine=True, loaded_text="others took 1.4 cores before block 1",
        warnings=(
            CampaignWarning(
                code="requests_below_percentile",
                detail="rate 20: 160 requests are too few for p95 (200) and p99 (1,000)",
            ),
        ),
    )  # fmt: skip


HOSTILE = "<script>alert(1)</script> | `x` \x1b[31mred\x1b[0m\nline two **bold** [a](javascript:x) \u202eevil"


def hostile() -> Summary:
    """A gateway that responds with markup, table edges, terminal sequences and line breaks."""
    load = clients(1)
    cells = [
        cell("direct", load),
        without("errored", HOSTILE, "litellm", load, runs_attempted=1),
        cell(
            "litellm", load, chain=HOSTILE, buffering=HOSTILE, settings={HOSTILE: HOSTILE},
            runs_attempted=4,
            rejected=(Rejected(reason=Reason.of("errors", HOSTILE), count=1),),
        ),
    ]  # fmt: skip
    return summary(
        cells, title=HOSTILE, command=f"invoke bench {HOSTILE}", loaded_machine=True,
        warnings=(CampaignWarning(code="driver_replaced", detail=HOSTILE),),
        loaded_text=HOSTILE,
    )  # fmt: skip
