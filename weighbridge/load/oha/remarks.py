"""Flags and notes of an oha report: what a reader of its numbers must know beside them.

A flag is a code, a note a phrase; neither changes a count.
"""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.load.oha.argv import OhaArguments
from weighbridge.load.oha.correction import Correction
from weighbridge.load.oha.samples import OhaSamples
from weighbridge.load.oha.totals import OhaTotals
from weighbridge.load.oha.verdict import OhaCounts
from weighbridge.load.reports.failures import DEADLINE_ABORT
from weighbridge.record.load_report import CLIENT_LIMITS

# A send rate that falls short by more than this is not kept.
_KEPT_RATE_SHARE = 0.99
# With one request at a time it is the client that makes arrivals wait.
_ONE_AT_A_TIME = 1


@dataclass(frozen=True)
class Remarks:
    """All that flags and notes are made of."""

    totals: OhaTotals
    counts: OhaCounts
    arguments: OhaArguments | None
    correction: Correction
    samples: OhaSamples | None
    samples_mismatch: bool = False
    version_mismatch: bool = False

    @property
    def aborted_count(self) -> int:
        """Workers that were cancelled at the deadline."""
        return (self.totals.errors or {}).get(DEADLINE_ABORT, 0)

    @property
    def offered_rps(self) -> float | None:
        """Rate that was asked for."""
        return self.arguments.rate_rps if self.arguments is not None else None

    @property
    def rate_missed(self) -> bool:
        """Whether the samples show that requests left more slowly than asked for."""
        sent = self.samples.sent_rps if self.samples is not None else None
        return self.offered_rps is not None and sent is not None and sent < _KEPT_RATE_SHARE * self.offered_rps

    def flags(self) -> tuple[str, ...]:
        """Codes, in a fixed order."""
        mixed = 0 < self.counts.success_count < self.counts.answered_count
        is_limited = any((self.counts.failed_by_class or {}).get(name) for name in CLIENT_LIMITS)
        cap = self.arguments.in_flight_cap_count if self.arguments is not None else None
        known = {
            "non_2xx_mixed": mixed,
            "saturated": self.rate_missed,
            "client_limited": is_limited or (self.rate_missed and cap == _ONE_AT_A_TIME),
            "unverified_correction": not self.correction.proven,
            "samples_mismatch": self.samples_mismatch,
            "version_mismatch": self.version_mismatch,
        }
        return tuple(name for name, holds in known.items() if holds)

    def notes(self) -> tuple[str, ...]:
        """Phrases, in a fixed order."""
        found = [self.correction.note or ""]
        if self.aborted_count:
            found.append(f"workers aborted at the deadline: {self.aborted_count}, idle or busy; no failed requests")
        limited = self.totals.by_status.get("429", 0)
        if limited:
            found.append(f"{limited} responses were 429: rate limited")
        if self.counts.failed_by_class is None and self.counts.unresolved_count:
            missing = self.counts.unresolved_count
            found.append(f"{missing} scheduled requests failed or were cut off: samples do not tell which")
        if self.rate_missed and self.samples is not None and self.samples.sent_rps is not None:
            found.append(f"requests left at {self.samples.sent_rps:.1f} of {self.offered_rps:g} per second")
        if self.samples is not None and self.samples.intended_from == "order":
            found.append("scheduled times are taken from the order of starts")
        if self.samples_mismatch:
            found.append("the samples given are of another run and were left out")
        if self.version_mismatch:
            found.append("the version given does not write reports of this form")
        return tuple(note for note in found if note)
