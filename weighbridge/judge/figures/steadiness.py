"""Whether a warm-up's times have become steady: time minus the provider's own, in the order of the requests.

The provider's time is a constant that hides what a lane adds: 2 ms that are still to go are a tenth of 20 ms, and
twice an added time of 1 ms.
"""

from __future__ import annotations

import numpy as np

from weighbridge.judge.figures import stamps
from weighbridge.judge.figures.added import added_to_end, added_to_first
from weighbridge.judge.stats.drift import LEAST_MOVED_MS, MOVED_SHARE, T_OF_SOME, Moved, Times, moved
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.record.probe_tables import UNKNOWN, RequestTable

# Below this share of whole stamps what is left is a selection; then the provider's known time is subtracted.
_WHOLE_SHARE = 0.99
_THREE = 3


def added_of_warm_up(requests: RequestTable, mode: Mode, answer: AnswerSpec) -> Times:
    """Return the added time of every good answer in ms (of a stream: to its first content), in the trace's order."""
    good = stamps.good_requests(requests)
    whole = good & (stamps.stamp_states(requests) == stamps.WHOLE)
    if np.count_nonzero(whole) >= _WHOLE_SHARE * np.count_nonzero(good):
        legs = (added_to_end if mode == "plain" else added_to_first)(requests, whole)
        return np.asarray(legs.added_ns / 1e6)
    until_ns = requests.end_ns if mode == "plain" else requests.first_content_ns
    known = good & (until_ns != UNKNOWN)
    waited_s = answer.provider_time_s("plain")
    return np.asarray((until_ns[known] - requests.sent_ns[known]) / 1e6 - waited_s * 1e3)


def may_still_move(times: Times) -> bool:
    """Tell whether a warm-up should go on: the last third of all times so far may differ from the third before.

    It does by more than its standard error, and by so much that as many requests again would move times by 5 % (and
    0.1 ms). Thirds of all, so that a fall has to be over for as long as it took. Too few times may hide anything.
    """
    found = _last_thirds(times)
    if found is None:
        return True
    moved_ms, least_ms = abs(found.last_ms - found.first_ms), max(LEAST_MOVED_MS, MOVED_SHARE * abs(found.first_ms))
    return abs(found.t) > 1 and _THREE * moved_ms > least_ms


def is_steady(times: Times) -> bool | None:
    """Tell whether the last third of a whole warm-up agrees with the third before, by the rule for windows.

    None where they are too few.
    """
    found = _last_thirds(times)
    return None if found is None else found.direction(T_OF_SOME) == 0


def _last_thirds(times: Times) -> Moved | None:
    third = len(times) // _THREE
    return moved(times[third : 2 * third], times[2 * third :])
