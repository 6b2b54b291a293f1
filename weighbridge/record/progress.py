"""How the walk tells its progress: one protocol, implemented by `publish`, handed in by the front door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Progress:
    """How far a campaign is: windows done of all, and the estimated time left."""

    done_count: int
    total_count: int
    remaining_s: float


class Listener(Protocol):
    """Hears what a campaign does. Between `window_opened` and `window_closed` it must not use the CPU."""

    def phase(self, text: str) -> None:
        """Tell that a step outside windows begins, such as `starting litellm`."""
        ...

    def started(self, campaign: str, progress: Progress) -> None:
        """Tell that a campaign begins."""
        ...

    def window_opened(self, cell: str, block: int, expected_s: float, progress: Progress) -> None:
        """Tell that a measured window begins: be silent until it is closed."""
        ...

    def window_closed(self, cell: str, block: int, outcome: str, progress: Progress) -> None:
        """Tell that it ended, with a short outcome such as `accepted` or `rejected: errors`."""
        ...

    def warning(self, text: str) -> None:
        """Tell something that the user should know now."""
        ...

    def ended(self, text: str) -> None:
        """Tell that the campaign ended."""
        ...
