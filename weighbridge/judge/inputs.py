"""What judgement is made from beside the window itself, and what comes out of it. Holds no rule of its own."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.judge.window import Window
from weighbridge.matrix.loads import Load
from weighbridge.matrix.requests import Mode
from weighbridge.record.coded import Reason
from weighbridge.record.codes import Verdict
from weighbridge.record.measured import RunFigures
from weighbridge.record.run import Evidence


@dataclass(frozen=True)
class Attempted:
    """All that one attempt is judged by; no field holds an overhead, so no rule can look at one.

    `window` is None where none was opened; `figures` also where it timed nothing, as with open streams.
    `load_limit` is the highest one-minute load allowed at both ends (None: off); `doubled_achieved_rps` is what one
    more window with twice the connections achieved, where there was one; `gate_text` says why the machine was not
    idle before the block, `is_unsteady` that times were still moving when the warm-up was over.
    """

    load: Load
    mode: Mode
    is_baseline: bool
    window: Window | None = None
    figures: RunFigures | None = None
    failure: Reason | None = None
    load_limit: float | None = None
    evidence: tuple[Evidence, ...] = ()
    is_unsteady: bool = False
    doubled_achieved_rps: float | None = None
    gate_text: str | None = None


@dataclass(frozen=True)
class Judgement:
    """What one attempt is worth; a saturated run is accepted and has no reason.

    `needs_more_connections`: one more window with more connections would tell whose limit the rate was.
    """

    accepted: bool
    verdict: Verdict
    reason: Reason | None
    flags: tuple[str, ...]
    needs_more_connections: bool = False
