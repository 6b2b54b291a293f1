"""How far behind its schedule a lane was when the schedule ended (METHOD section 2).

A lane with capacity μ below the rate R leaves (1 − μ ÷ R) of its n requests unanswered at the schedule's end, and
each third of the schedule waits longer than the one before, its quickest requests too. One slow answer, a freeze, or
a burst of arrivals near the end leaves a backlog as well, but lifts no 10th percentile of a third. So a lane that
did not keep its rate is told by both together: counts need no model of how neighbours in a queue depend on each
other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from weighbridge import quantiles
from weighbridge.judge.figures.row_masks import answered
from weighbridge.judge.window import Client
from weighbridge.record.arrays import Floats
from weighbridge.record.samples import SampleTable

BACKLOG_COUNT = 5
BACKLOG_SHARE_OF_ALL = 0.01
RISE_COUNT = 5
RISE_SHARE = 0.005
QUICK_SHARE = 0.10


@dataclass(frozen=True)
class Backlog:
    """Requests unanswered at the schedule's end, of how many, and how much later the quickest tenth was at the end.

    `rise_s` is the 10th percentile of the response in the last third of the schedule minus that in the first; None
    where one of them has no response.
    """

    unanswered_count: int
    scheduled_count: int
    rise_s: float | None

    @property
    def answered_share(self) -> float:
        """Share of the requests that were answered when the schedule ended."""
        return 1 - self.unanswered_count / self.scheduled_count

    @property
    def is_large(self) -> bool:
        """Whether it is at least 5 requests and 1 % of all."""
        return self.unanswered_count >= max(BACKLOG_COUNT, BACKLOG_SHARE_OF_ALL * self.scheduled_count)

    def is_saturated(self, rate_rps: float) -> bool:
        """Tell whether the lane never caught up: a large backlog, and a rise of 5 requests and 0.5 % of all."""
        least_s = max(RISE_COUNT, RISE_SHARE * self.scheduled_count) / rate_rps
        return self.is_large and self.rise_s is not None and self.rise_s >= least_s


def backlog(intended_s: Floats, done_s: Floats, rate_rps: float) -> Backlog | None:
    """Return the backlog of a schedule whose requests were done at `done_s` (NaN: never); None without a schedule.

    The schedule ends a slot behind its last start. What even the quickest request takes is granted: responses that
    are merely under way are no backlog, however long the provider takes.
    """
    known = np.isfinite(intended_s)
    order = np.argsort(intended_s[known], kind="stable")
    intended, done = intended_s[known][order], done_s[known][order]
    if not len(intended):
        return None
    taken = np.where(np.isfinite(done), done - intended, np.inf)
    quickest_s = float(taken.min())
    ends_s = float(intended[-1]) + 1 / rate_rps + (quickest_s if np.isfinite(quickest_s) else 0.0)
    third = len(taken) // 3
    first_s, last_s = _quick(taken[:third]), _quick(taken[len(taken) - third :])
    rise_s = None if first_s is None or last_s is None else last_s - first_s
    return Backlog(int(np.count_nonzero(intended + taken > ends_s)), len(taken), rise_s)


def answer_backlog(client: Client) -> Backlog | None:
    """Return the backlog of a client's answers; None where it has no rate or tells no intended starts."""
    samples, rate = client.samples, client.load.offered_rps
    if samples is None or rate is None:
        return None
    return backlog(samples.intended_s, _answered_at(samples), rate)


def together(parts: Iterable[Backlog]) -> Backlog:
    """Return the backlog of several clients of one lane, the leading one's first; the rise is that of the first."""
    first, *others = parts
    return Backlog(
        first.unanswered_count + sum(one.unanswered_count for one in others),
        first.scheduled_count + sum(one.scheduled_count for one in others),
        first.rise_s,
    )


def _answered_at(samples: SampleTable) -> Floats:
    return np.where(answered(samples), samples.end_s, np.nan)


def _quick(taken_s: Floats) -> float | None:
    """Return the 10th percentile of those that were done: what was never answered tells nothing of a queue."""
    done = taken_s[np.isfinite(taken_s)]
    return quantiles.percentile(np.sort(done).tolist(), QUICK_SHARE) if len(done) else None
