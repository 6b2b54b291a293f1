"""Progress on stderr while a campaign runs: cells done, time left, what is being done.

Implements the walk's listener without importing it: the protocol is met by shape. Inside a measured window it is
silent: the live line is taken down before the window opens and comes back after it, and no thread refreshes it.
"""

from __future__ import annotations

import re
import time
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.record.progress import Progress

# Where no terminal shows one moving line, a step that only counts on is told again after this time.
_AGAIN_S = 15.0
_DIGIT_RUN = re.compile(r"\d+")


class ConsoleListener:
    """Tells progress on a stream; a context manager, so that the terminal is left as it was found."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, markup=False, emoji=False, highlight=False, soft_wrap=True)
        self._live: Live | None = None
        self._progress: Progress | None = None
        self._last_step = ""
        self._last_printed_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._quiet()

    def phase(self, text: str) -> None:
        """Tell that a step outside windows begins."""
        shown = plain(text, limit=300)
        if self._console.is_terminal:
            self._move(shown)
            return
        step = _DIGIT_RUN.sub("#", shown)
        if step == self._last_step and time.monotonic() - self._last_printed_s < _AGAIN_S:
            return
        self._last_step, self._last_printed_s = step, time.monotonic()
        self._say(shown)

    def started(self, campaign: str, progress: Progress) -> None:
        """Tell that a campaign begins."""
        self._progress = progress
        self._say(
            f"{plain(campaign, limit=200)}: {numbers.plural(progress.total_count, 'window')}, about "
            f"{numbers.duration(progress.remaining_s)}"
        )

    def window_opened(self, cell: str, block: int, expected_s: float, progress: Progress) -> None:
        """Tell that a measured window begins, then be silent until it is closed."""
        self._progress = progress
        self._quiet()
        self._say(
            f"[{progress.done_count + 1}/{progress.total_count}] {plain(cell, limit=200)}, block {block}: about "
            f"{numbers.duration(expected_s)}; {numbers.duration(progress.remaining_s)} left"
        )

    def window_closed(self, cell: str, block: int, outcome: str, progress: Progress) -> None:
        """Tell how a window ended."""
        self._progress = progress
        self._say(
            f"[{progress.done_count}/{progress.total_count}] {plain(cell, limit=200)}, block {block}: "
            f"{plain(outcome, limit=300)}"
        )

    def warning(self, text: str) -> None:
        """Tell something that the user should know now."""
        self._say(f"warning: {plain(text, limit=1000)}")

    def ended(self, text: str) -> None:
        """Tell that the campaign ended."""
        self._quiet()
        self._say(plain(text, limit=1000))

    def _say(self, line: str) -> None:
        self._console.print(Text(line))

    def _move(self, step: str) -> None:
        progress = self._progress
        left = (
            f"  {progress.done_count} of {numbers.plural(progress.total_count, 'window')} done, "
            f"{numbers.duration(progress.remaining_s)} left"
            if progress
            else ""
        )
        # The moving line must fit: a wrapped one leaves its rest behind.
        line = Text(step + left, no_wrap=True, overflow="ellipsis")
        if self._live is None:
            # Without its own refreshing: that thread lives on for a moment after `stop`, into the window.
            self._live = Live(line, console=self._console, auto_refresh=False, transient=True)
            self._live.start(refresh=True)
        else:
            self._live.update(line, refresh=True)

    def _quiet(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
