"""Bookkeeping of the provider's stamps: whose they are, and what it means when they are not.

Absent or damaged stamps make a figure absent (`no_inband`); a reference that the provider saw twice is a retry. A
stamp is joined with the provider's records by reference: one of another request is a crossed response, one that is
older than its request, or that an earlier request had, is a response out of a cache, and either voids the cell. The
probe tells which stamps came through; whose they are is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from weighbridge.judge.figures.identity import owners_of
from weighbridge.judge.figures.row_masks import Mask
from weighbridge.record.figures import Absent
from weighbridge.record.probe_counts import StampCounts
from weighbridge.record.probe_tables import OK, STAMP_STATES, UNKNOWN, RequestTable
from weighbridge.record.provider_rows import ProviderRows

WHOLE, NO_STAMP, DAMAGED, STALE, REPEATED = (STAMP_STATES.index(name) for name in STAMP_STATES)
# Known here alone: they take the provider's records.
FOREIGN = len(STAMP_STATES)
CROSSED = FOREIGN + 1
# A stamp may be so much older than the request's first byte: the instant of a write is not known better.
SLACK_NS = 1_000_000
# With fewer whole stamps than this the rest is a selection, and no percentile of it stands for the lane.
WHOLE_STAMPS_SHARE = 0.99

States = npt.NDArray[np.int8]


def good_requests(requests: RequestTable) -> Mask:
    """Return the rows that were answered with a 2xx and, as the probe says, well."""
    mask: Mask = (requests.outcome == OK) & (requests.status >= 200) & (requests.status < 300)
    return mask


def stamp_states(requests: RequestTable, provider: ProviderRows | None = None) -> States:
    """Return each row's stamp state: an index into `STAMP_STATES`, or `FOREIGN` or `CROSSED`.

    Without the provider's records only times tell.
    """
    states = requests.stamp_state.astype(np.int8)
    told = np.isin(states, (WHOLE, STALE, REPEATED))
    no_times = told & ((requests.recv_ns == UNKNOWN) | (requests.send_ns < requests.recv_ns))
    states[no_times] = DAMAGED
    told &= ~no_times
    states[told] = WHOLE
    before = told & (requests.recv_ns < requests.sent_ns - SLACK_NS)
    # The provider had answered before this request was sent: nobody was open at the same time.
    is_old = told & (requests.send_ns < requests.sent_ns)
    own = np.ones(len(states), dtype=np.bool_)
    if provider is not None and len(provider):
        found = owners_of(requests, provider)
        own = found.own
        states[told & ~found.known] = FOREIGN
        states[told & found.known & ~own & (found.is_here | ~is_old)] = CROSSED
    states[before & np.isin(states, (WHOLE, FOREIGN))] = STALE
    again = _given_before(requests, told, own)
    states[again] = np.where(is_old[again], STALE, REPEATED)
    return states


def stamp_counts(requests: RequestTable, states: States, provider: ProviderRows | None = None) -> StampCounts:
    """Count the states over the good responses, and retries by the provider's records."""
    counted = np.bincount(states[good_requests(requests)], minlength=CROSSED + 1)
    return StampCounts(
        whole_count=int(counted[WHOLE]),
        absent_count=int(counted[NO_STAMP]),
        damaged_count=int(counted[DAMAGED]),
        stale_count=int(counted[STALE]),
        repeated_count=int(counted[REPEATED]),
        unknown_count=int(counted[FOREIGN]),
        crossed_count=int(counted[CROSSED]),
        retry_count=None if provider is None else retry_count(requests, provider),
    )


def retry_count(requests: RequestTable, provider: ProviderRows) -> int:
    """Count the calls beyond the first that the provider got for references of these requests."""
    mine = provider.reference[np.isin(provider.reference, requests.reference) & (provider.reference != UNKNOWN)]
    return int(len(mine) - len(np.unique(mine)))


def answer_count(counts: StampCounts) -> int:
    """Add up the good responses behind the counts."""
    return (
        counts.whole_count
        + counts.absent_count
        + counts.damaged_count
        + counts.stale_count
        + counts.repeated_count
        + counts.unknown_count
        + counts.crossed_count
    )


def cache_hits(counts: StampCounts) -> int:
    """Count the responses that no request of their own produced."""
    return counts.stale_count + counts.repeated_count


def missing(counts: StampCounts) -> Absent | None:
    """Return why there is no added time: fewer than 99 % of the good responses have a whole stamp.

    None when enough have, and when there is no good response at all: then the stamps are not what is missing.
    """
    total = answer_count(counts)
    if not total or counts.whole_count >= WHOLE_STAMPS_SHARE * total:
        return None
    if not counts.whole_count:
        return Absent(absent="no_inband")
    return Absent(absent="no_inband", detail=f"{counts.whole_count} of {total} responses have their stamp")


def added(parts: Sequence[StampCounts]) -> StampCounts:
    """Add the counts of several runs."""
    retries = [one.retry_count for one in parts if one.retry_count is not None]
    return StampCounts(
        whole_count=sum(one.whole_count for one in parts),
        absent_count=sum(one.absent_count for one in parts),
        damaged_count=sum(one.damaged_count for one in parts),
        stale_count=sum(one.stale_count for one in parts),
        repeated_count=sum(one.repeated_count for one in parts),
        unknown_count=sum(one.unknown_count for one in parts),
        crossed_count=sum(one.crossed_count for one in parts),
        retry_count=sum(retries) if retries else None,
    )


def _given_before(requests: RequestTable, among: Mask, own: Mask) -> Mask:
    """Mark the rows of `among` whose stamp another one has: its owner keeps it, else the first to have it read."""
    repeated = np.zeros(len(among), dtype=bool)
    ordered = np.sort(requests.recv_ns[among])
    if (ordered[1:] != ordered[:-1]).all():
        return repeated
    rows = np.flatnonzero(among)
    recv_ns, send_ns = requests.recv_ns[rows], requests.send_ns[rows]
    order = rows[np.lexsort((requests.end_ns[rows], ~own[rows], send_ns, recv_ns))]
    same = (np.diff(requests.recv_ns[order]) == 0) & (np.diff(requests.send_ns[order]) == 0)
    repeated[order[1:][same]] = True
    return repeated
