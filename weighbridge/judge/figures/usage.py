"""Token usage as responses tell it, against what the provider sent: plain, and on the last chunk of a stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weighbridge.judge.figures.identity import provider_row_of
from weighbridge.judge.figures.row_masks import Mask
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_counts import UsageCounts
from weighbridge.record.probe_tables import UNKNOWN, RequestTable
from weighbridge.record.provider_rows import ProviderRows


def usage_counts(requests: RequestTable, rows: Mask, provider: ProviderRows) -> UsageCounts | None:
    """Count how the responses that `rows` picks tell the usage; None where the provider knows none of them."""
    place = provider_row_of(requests, provider)
    mine = np.flatnonzero(rows & (place != UNKNOWN))
    if not len(mine):
        return None
    sent = _columns(provider.prompt_token_count[place[mine]], provider.completion_token_count[place[mine]])
    told = _columns(requests.prompt_token_count[mine], requests.completion_token_count[mine])
    told[:, 2] = requests.total_token_count[mine]
    is_missing = (told == UNKNOWN).all(axis=1)
    was_asked = (sent[:, :2] != UNKNOWN).all(axis=1)
    is_same = was_asked & (told == sent).all(axis=1)
    differs = np.flatnonzero(was_asked & ~is_missing & ~is_same)
    return UsageCounts(
        response_count=len(mine),
        same_count=int(np.count_nonzero(is_same)),
        differing_count=len(differs),
        missing_count=int(np.count_nonzero(is_missing)),
        own_count=int(np.count_nonzero(~was_asked & ~is_missing)),
        example=_example(told[differs[0]], sent[differs[0]]) if len(differs) else "",
    )


def added(parts: Sequence[UsageCounts]) -> UsageCounts:
    """Add the counts of several runs."""
    return UsageCounts(
        response_count=sum(one.response_count for one in parts),
        same_count=sum(one.same_count for one in parts),
        differing_count=sum(one.differing_count for one in parts),
        missing_count=sum(one.missing_count for one in parts),
        own_count=sum(one.own_count for one in parts),
        example=next((one.example for one in parts if one.example), ""),
    )


def _columns(prompt: Ints, completion: Ints) -> Ints:
    return np.stack([prompt, completion, prompt + completion], axis=1)


def _example(told: Ints, sent: Ints) -> str:
    """Return the first difference: `prompt 50 + completion 17 = 67 instead of 50 + 16 = 66`."""
    prompt, completion, total = ("none" if number == UNKNOWN else str(number) for number in told.tolist())
    return f"prompt {prompt} + completion {completion} = {total} instead of {sent[0]} + {sent[1]} = {sent[2]}"
