"""From what a probe and the gateways of known weights recorded to the samples that `calibration` compares.

Called by `campaign` for mixed blocks (one probe run over several lanes) and for weights in cells of their own. Rows
are picked by the rule of every added time; a request without a recorded sleep is no row of its lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weighbridge.judge.added import added_to_end, added_to_first
from weighbridge.judge.answers import Mask
from weighbridge.judge.calibration import LaneSamples
from weighbridge.judge.inband import pick_rows
from weighbridge.judge.inputs import InbandFacts
from weighbridge.record.inband import Ints, RequestTable
from weighbridge.record.weight_rows import WeightRows


@dataclass(frozen=True)
class WeighedLane:
    """One lane of one block: its samples and, row by row, how long its gateway held each request."""

    samples: LaneSamples
    slept_ns: Ints

    def __len__(self) -> int:
        """Number of requests."""
        return len(self.slept_ns)

    @property
    def net(self) -> LaneSamples:
        """The lane without what its gateway held: of the weight of nothing the tare."""
        return LaneSamples(self.samples.added_ns - self.slept_ns, self.samples.total_ns - self.slept_ns)


def timed_rows(facts: InbandFacts, trim_count: int) -> Mask:
    """Rows behind the added times of a window."""
    rows: Mask = pick_rows(facts, trim_count).timed
    return rows


def good_rows(facts: InbandFacts, trim_count: int) -> Mask:
    """Rows behind the times of a window that need no stamp."""
    rows: Mask = pick_rows(facts, trim_count).kept
    return rows


def lane_samples(facts: InbandFacts, rows: Mask) -> LaneSamples:
    """Added and total time at the client of these rows: of streams to the first content."""
    requests = facts.requests
    if facts.mode == "plain":
        return LaneSamples(added_to_end(requests, rows).added_ns, _since_sent(requests, rows, requests.end_ns))
    return LaneSamples(
        added_to_first(requests, rows).added_ns, _since_sent(requests, rows, requests.first_content_ns)
    )


def weighed_lane(facts: InbandFacts, rows: Mask, recorded: WeightRows) -> WeighedLane:
    """These rows with their recorded sleeps."""
    places = np.flatnonzero(rows)
    order = np.argsort(recorded.reference, kind="stable")
    known = recorded.reference[order]
    wanted = facts.requests.reference[places]
    found = np.searchsorted(known, wanted)
    inside = found < len(known)
    has = np.zeros(len(places), dtype=bool)
    has[inside] = known[found[inside]] == wanted[inside]
    kept = np.zeros(len(rows), dtype=bool)
    kept[places[has]] = True
    return WeighedLane(lane_samples(facts, kept), recorded.slept_ns[order[found[has]]])


def burnt_ms(facts: InbandFacts, recorded: WeightRows) -> float | None:
    """Mean CPU that the gateway recorded to have burnt for the requests of a window, ms; None without a record."""
    mine = np.isin(recorded.reference, facts.requests.reference) & (recorded.cpu_ns >= 0)
    return float(recorded.cpu_ns[mine].mean()) / 1e6 if mine.any() else None


def together(lanes: Sequence[LaneSamples]) -> LaneSamples:
    """Several lanes as one."""
    return LaneSamples(
        np.concatenate([lane.added_ns for lane in lanes]), np.concatenate([lane.total_ns for lane in lanes])
    )


def _since_sent(requests: RequestTable, rows: Mask, until_ns: Ints) -> Ints:
    total: Ints = until_ns[rows] - requests.sent_ns[rows]
    return total
