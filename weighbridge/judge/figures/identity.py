"""Whose a response is: the provider's records joined with those of the client by reference and by instant.

The provider's row that a stamp names says for which request it was made. A row without a reference, as behind a chain
that took it out of the prompt, tells nothing of that and counts as the request's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures.row_masks import Mask
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_tables import UNKNOWN, RequestTable
from weighbridge.record.provider_rows import ProviderRows


@dataclass(frozen=True)
class Owners:
    """Of each response: whether the provider knows its stamp, and whether it was made for this request.

    `is_here`: whether the request that it was made for is one of the table.
    """

    known: Mask
    own: Mask
    is_here: Mask


def owners_of(requests: RequestTable, provider: ProviderRows) -> Owners:
    """Return whose the responses of a table are, by the instant at which the provider received their request."""
    order = np.argsort(provider.recv_ns, kind="stable")
    recv_ns, reference = provider.recv_ns[order], provider.reference[order]
    first = np.searchsorted(recv_ns, requests.recv_ns, side="left")
    count = np.searchsorted(recv_ns, requests.recv_ns, side="right") - first
    known = (count > 0) & (requests.recv_ns != UNKNOWN)
    own, owner = ~known, np.full(len(known), UNKNOWN, dtype=np.int64)
    # Two requests may be received at one instant: any of them may be the one.
    for step in range(int(count.max(initial=0))):
        has = known & (count > step)
        owner[has] = reference[first[has] + step]
        own |= has & ((owner == requests.reference) | (owner == UNKNOWN))
    own |= requests.reference == UNKNOWN
    return Owners(known, own, np.isin(owner, requests.reference))


def provider_row_of(requests: RequestTable, provider: ProviderRows) -> Ints:
    """Return the row number of the provider's answer to each request, by its reference; `UNKNOWN` without one.

    Where a gateway called the provider again for a request, that is the call whose stamp came back, else the last.
    """
    found = np.full(len(requests), UNKNOWN, dtype=np.int64)
    order = np.argsort(provider.reference, kind="stable")
    reference = provider.reference[order]
    first = np.searchsorted(reference, requests.reference, side="left")
    count = np.searchsorted(reference, requests.reference, side="right") - first
    count[requests.reference == UNKNOWN] = 0
    for step in range(int(count.max(initial=0))):
        has = np.flatnonzero(count > step)
        row = order[first[has] + step]
        settled = (found[has] != UNKNOWN) & (provider.recv_ns[found[has]] == requests.recv_ns[has])
        found[has] = np.where(settled, found[has], row)
    return found
