"""From what a probe and the gateways of known delays recorded to the samples that `calibration` compares.

Rows are picked by the rule of every added time; a request without a recorded sleep is no row of its lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weighbridge.judge.calibration.joined_quantiles import Timed
from weighbridge.judge.calibration.known_delays import DelayBlock, LaneSamples
from weighbridge.judge.figures.added import added_to_end, added_to_first
from weighbridge.judge.figures.lateness import late_ns
from weighbridge.judge.figures.probe_figures import pick_rows
from weighbridge.judge.figures.row_masks import Mask
from weighbridge.judge.window import Trace
from weighbridge.record.truth_rows import DelayRows


@dataclass(frozen=True)
class MeasuredLane:
    """One lane of one block: its samples and, row by row, how long its gateway held each request."""

    samples: LaneSamples
    sleeps: Timed

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.sleeps)

    @property
    def net(self) -> LaneSamples:
        """The lane without what its gateway held: of the control the control."""
        mine = self.samples
        return LaneSamples(mine.added_ns - self.sleeps.ns, mine.total_ns - self.sleeps.ns, mine.late_turn_ns)


def timed_rows(facts: Trace) -> Mask:
    """Return the rows behind the added times of a window."""
    rows: Mask = pick_rows(facts).timed
    return rows


def good_rows(facts: Trace) -> Mask:
    """Return the rows behind the times of a window that need no stamp."""
    rows: Mask = pick_rows(facts).selected
    return rows


def lane_samples(facts: Trace, rows: Mask) -> LaneSamples:
    """Return the added and total time at the client of these rows: of streams to the first content."""
    requests = facts.requests
    is_plain = facts.mode == "plain"
    legs = added_to_end(requests, rows) if is_plain else added_to_first(requests, rows)
    sent_ns, until_ns = requests.sent_ns[rows], (requests.end_ns if is_plain else requests.first_content_ns)[rows]
    return LaneSamples(legs.added_ns, until_ns - sent_ns, late_ns(facts.late_turns, sent_ns, until_ns))


def measured_lane(facts: Trace, rows: Mask, recorded: DelayRows) -> MeasuredLane:
    """Return these rows with their recorded sleeps."""
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
    mine = order[found[has]]
    return MeasuredLane(lane_samples(facts, kept), Timed(recorded.slept_ns[mine], recorded.late_ns[mine]))


def burnt_ms(facts: Trace, recorded: DelayRows) -> float | None:
    """Return the mean CPU that the gateway recorded as burnt for a window's requests, ms; None without a record."""
    mine = np.isin(recorded.reference, facts.requests.reference) & (recorded.cpu_ns >= 0)
    return float(recorded.cpu_ns[mine].mean()) / 1e6 if mine.any() else None


def delay_block(block: int, lane: MeasuredLane, control: Sequence[MeasuredLane]) -> DelayBlock:
    """Put a delay beside the control of its block: all lanes of the control, as one."""
    nets = [one.net for one in control]
    return DelayBlock(
        block=block,
        lane=lane.samples,
        sleeps=lane.sleeps,
        control=LaneSamples(
            np.concatenate([net.added_ns for net in nets]),
            np.concatenate([net.total_ns for net in nets]),
            np.concatenate([net.late_turn_ns for net in nets]),
        ),
        control_late_ns=np.concatenate([one.sleeps.late_ns for one in control]),
    )
