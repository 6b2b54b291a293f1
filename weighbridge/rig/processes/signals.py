"""INT, TERM and HUP: the first one stops us in good order, later ones wait, a third INT ends us at once.

It must not stop children itself: that is done by whoever started them while `Interrupted` goes up.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from weighbridge.errors import Interrupted

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LAST_INT_COUNT = 3


class StopSignals:
    """Turns the first of INT, TERM and HUP into `Interrupted` in the main thread, for the length of a `with` block.

    `received` lists every signal so far. HUP stays ignored where it was ignored before (nohup). The third INT ends
    the process with 130 on the spot; the guardian then stops what is left.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self._depth = 0
        self._is_raised = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> StopSignals:
        for number in STOP_SIGNALS:
            if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            self._before[number] = signal.signal(number, self.handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal.signal gave us
        if kind is None and self.received:
            # Raised in a destructor or callback, where Python swallows exceptions: it must not be lost.
            raise Interrupted(self.received[0])

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Nothing; raises Interrupted for the first signal, unless a deferred step runs."""
        self.received.append(number)
        if self.received.count(signal.SIGINT) >= _LAST_INT_COUNT:
            os._exit(128 + signal.SIGINT)
        if self._depth == 0:
            self.raise_first()

    def raise_first(self) -> None:
        """Nothing; raises Interrupted once, when a signal has come and was not raised yet."""
        if self.received and not self._is_raised:
            self._is_raised = True
            raise Interrupted(self.received[0])

    @contextmanager
    def defer(self) -> Iterator[None]:
        """Note signals in a block without raising them; the first is raised at its end. Blocks may nest."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self.raise_first()


@contextmanager
def deferred() -> Iterator[None]:
    """Keep INT, TERM and HUP from cutting a block: they are raised at its end.

    Held back in our own handler and not by the thread's signal mask: a child would inherit the mask and never see
    its stop signal, and the kernel gives a masked signal to any other thread anyway. Where no `StopSignals` is in
    force, the block changes nothing.
    """
    active = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    if not isinstance(active, StopSignals):
        yield
        return
    with active.defer():
        yield
