"""A small certificate that tests of pages, campaigns and exit codes share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from tests.examples.judge_examples import campaign
from weighbridge.judge.calibration.certificate import CertificateOrigin, Findings, certify
from weighbridge.judge.calibration.joined_quantiles import Timed
from weighbridge.judge.calibration.known_delays import DelayBlock, KnownDelay, LaneSamples, aa_pair, measure
from weighbridge.record.campaign import CampaignRecord
from weighbridge.record.certificate import Certificate, DriverBaseline, FaultResult

US, MS = 1_000, 1_000_000
MADE_AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def lane(seed: int, count: int = 700, *, slept_ns: int = 0, error_ns: int = 0) -> LaneSamples:
    """Added times of a hop of about 0.3 ms behind a sleep, and times at the client of 20 ms more."""
    hop = np.random.default_rng(seed).normal(300 * US, 10 * US, count).astype(np.int64)
    added = hop + slept_ns + error_ns
    return LaneSamples(added, added + 20 * MS, np.zeros_like(added))


def constant(count: int, slept_ns: int) -> Timed:
    """Requests that were all held for the same time, and released on time."""
    return Timed(np.full(count, slept_ns, dtype=np.int64), np.zeros(count, dtype=np.int64))


def delay(*, error_ns: int = 0, blocks: int = 3) -> KnownDelay:
    """A delay of 3 ms in some blocks; `error_ns` is a fault of the measurement."""
    return KnownDelay(
        "delay-3ms",
        "plain",
        "mixed",
        "quiet",
        tuple(
            DelayBlock(
                number,
                lane(number, slept_ns=3 * MS, error_ns=error_ns),
                constant(700, 3 * MS),
                lane(100 + number, 1400),
                constant(1400, 0).late_ns,
            )
            for number in range(1, blocks + 1)
        ),
    )


def certificate(record: CampaignRecord | None = None, *, made_at: datetime = MADE_AT, **changes: Any) -> Certificate:
    """Certificate of a campaign: one delay, a fault, baselines; it passes unless `changes` say otherwise."""
    found = record or campaign()
    error_ns, detected = changes.pop("error_ns", 0), changes.pop("detected", True)
    findings = Findings(
        known_delays=measure(delay(error_ns=error_ns)),
        faults=(FaultResult(fault="buffer", detected=detected, by="buffering verdict" if detected else None),),
        baselines=(
            DriverBaseline(driver="probe", p50_ms=0.141, p99_ms=0.305, rate_rps=290.0),
            DriverBaseline(driver="wrk", p50_ms=None, p99_ms=None, absent="wrk is not on PATH"),
        ),
        resolution=aa_pair([(lane(1), lane(2)), (lane(3), lane(4)), (lane(5), lane(6))], "plain", "mixed"),
    )
    origin = CertificateOrigin(
        found.campaign, made_at, found.method_version, found.weighbridge_version, found.host, found.tools
    )
    return certify(origin, findings, is_quick=changes.pop("is_quick", False))
