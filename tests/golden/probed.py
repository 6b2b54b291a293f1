"""Small summaries made by hand: what a probe measures, cost readings, and lines through payloads."""

from __future__ import annotations

from tests.golden.campaigns import PAYLOADS, cell, clients, rate, spread_figure, summary, timing
from weighbridge.matrix.loads import Load
from weighbridge.record.campaign import CpuPlanFacts
from weighbridge.record.coded import CampaignWarning
from weighbridge.record.figures import Absent, Figure, Interval
from weighbridge.record.probe_counts import Bunching, Fidelity, StampCounts
from weighbridge.record.summary import CellSummary, Slope, Summary

BUNCHING = Bunching(
    pair_count=45_000, coalesced_count=9, bunched_count=45, stream_count=3000, buffered_stream_count=0,
    buffered_gaps=1.0, period_ms=75.0,
)  # fmt: skip
STAMPS = StampCounts(
    whole_count=4400, absent_count=0, damaged_count=0, stale_count=0, repeated_count=0, unknown_count=0, retry_count=0
)


def fidelity(level: str = "events", **over) -> Fidelity:
    """All responses unchanged; `over` replaces counts."""
    counts = (
        "answer_count", "events_equal_count", "json_whole_count", "text_whole_count", "sequence_whole_count",
    )  # fmt: skip
    none = ("missing_chunk_count", "repeated_chunk_count", "reordered_chunk_count", "damaged_chunk_count")
    return Fidelity(level=level, **(dict.fromkeys(counts, 3000) | dict.fromkeys(none, 0) | over))


def seen(of: CellSummary, **over) -> CellSummary:
    """The same cell as the probe and the cost readings see it."""
    own = {"direct": 0.11, "reference": 0.62}.get(of.gateway, 7.8)
    added = timing(own, own * 1.4, own * 2.1, spread=own / 20)
    lead = {"added_ms": added} if of.mode == "plain" else {
        "added_first_ms": added, "added_total_ms": timing(own + 0.09, own * 1.5, own * 2.2, spread=own / 18),
        "ttft_ms": timing(20.1 + own, 20.2 + own * 1.4, 20.4 + own * 2.1), "gap_ms": timing(5.0, 5.2, 5.9),
        "forwarding_ms": timing(0.06, 0.14, 0.3), "gap_distortion_ms": timing(0.02, 0.1, 0.2),
        "buffering": "passed through", "bunching": BUNCHING, "coalesced_ratio": Figure(value=0.0002),
        "stall_count": spread_figure(0.0, 0.0, 1.0), "end_marker_ratio": Figure(value=1.0),
    }  # fmt: skip
    cost = {} if of.gateway == "direct" else {
        "cpu_ms_per_request": spread_figure(own * 1.3, own * 1.28, own * 1.36), "cpu_from": ("cgroup2",),
        "cpu_uncertainty_ms": Figure(value=own * 0.05), "cpu_idle_cores": Figure(value=0.0031),
        "cpu_slope_ms": Figure(value=own * 1.1), "busy_ratio": Figure(value=min(0.95, own / 8)),
        "rss_idle_bytes": Figure(value=27 * 2**20), "rss_peak_bytes": Figure(value=31 * 2**20),
        "rss_peak_from": ("window",), "rss_after_bytes": Figure(value=30 * 2**20),
        "pss_idle_bytes": Figure(value=15.5 * 2**20), "pss_after_bytes": Figure(value=16 * 2**20),
        "context_switches_per_request": Figure(value=23.2), "flushes_per_request": Figure(value=4.1),
        "flush_idle_rps": Figure(value=0.5),
    }  # fmt: skip
    claim = (
        {"self_reported_difference_ms": timing(own - 4.1, own - 4.0, own - 3.1)} if of.gateway == "litellm" else {}
    )
    same = {
        "driver": "probe", "request_path_ms": timing(own * 0.6, own * 0.8, own), "stamps": STAMPS,
        "late_turn_count": 1, "late_response_count": 3,
        "response_path_ms": timing(own * 0.4, own * 0.6, own), "fidelity": fidelity(),
        "added_with_rejected_ms": added,
    }  # fmt: skip
    return of.model_copy(update=lead | cost | claim | same | over)


def probed() -> Summary:
    """What the probe measures: added time, legs, streams, claims and cost; one lane loses its stamps, one buffers."""
    loads = [rate(50), rate(150), clients(1), clients(10)]
    cells = []
    for gateway in ("direct", "reference", "litellm"):
        for mode in ("plain", "stream"):
            cells += [seen(cell(gateway, load, mode=mode)) for load in loads]
    cells += [
        cell(
            "litellm",
            rate(150),
            chain="starter",
            verdict="saturated",
            served_text="served 66 of 150 per second",
            achieved_rps=spread_figure(66.2, 64.0, 67.9),
        )
    ]
    cells += [_stampless(load) for load in loads]
    cells += [_buffering(load) for load in loads]
    plan = CpuPlanFacts(gateway=(2, 3, 6, 7), mocks=(1,), driver=(0,))
    text = "oha is not there, so the built-in probe drives; `invoke install` builds oha"
    made = summary(cells, warnings=(CampaignWarning(code="driver_replaced", detail=text),))
    return made.model_copy(update={"provenance": made.provenance.model_copy(update={"cpu_plan": plan})})


def _stampless(load: Load) -> CellSummary:
    gone = Absent(absent="no_inband")
    lost = STAMPS.model_copy(update={"whole_count": 0, "absent_count": 4400})
    names = ("added_ms", "request_path_ms", "response_path_ms", "fidelity", "added_with_rejected_ms")
    return seen(
        cell("reference", load, chain="starter"), stamps=lost, flags=("no_inband",), **dict.fromkeys(names, gone)
    )


def _buffering(load: Load) -> CellSummary:
    buffered = BUNCHING.model_copy(
        update={"bunched_count": 44_000, "coalesced_count": 44_000, "buffered_stream_count": 3000}
    )
    wrong = fidelity("differs", sequence_whole_count=2998, missing_chunk_count=2)
    return seen(
        cell("reference", load, chain="starter", mode="stream"), bunching=buffered,
        buffering="held until complete",
        coalesced_ratio=Figure(value=44 / 45), fidelity=wrong, stall_count=spread_figure(2.0, 0.0, 7.0),
        end_marker_ratio=Figure(value=0.9993), flags=("stalls",),
    )  # fmt: skip


def sloped() -> Summary:
    """Two payloads and two responses, with the lines through them."""
    load = rate(50)
    payloads = PAYLOADS
    cells = [
        seen(cell(gateway, load, payload=name, cell=f"{gateway}.none.work.plain.rate-50+payload={name}"))
        for name in payloads
        for gateway in ("direct", "reference")
    ]
    lines = tuple(
        Slope(
            cells=tuple(c.cell for c in cells if c.gateway == gateway), gateway=gateway, axis="payload_kib",
            figure="added_ms", slope_ms=slope, interval_ms=Interval(low=slope * 0.9, high=slope * 1.1, kind="range"),
            intercept_ms=0.5,
            residual_ms=0.0, baseline_slope_ms=baseline, block_count=3, point_count=6,
        )
        for gateway, slope, baseline in (("direct", 0.004, None), ("reference", 0.031, 0.004))
    )  # fmt: skip
    return summary(cells, payloads=payloads, slopes=lines)
