"""What may have been meant: the nearest of the words that would have been right.

Called wherever a key, an id or a word of the user is refused. Pure; it knows no axis by name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

# Below this similarity a suggestion confuses more than it helps.
CUTOFF = 0.55
# What words of earlier versions are called now; one word may have had two places.
RENAMED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ride_along": ("companion",),
        "weights": ("known_delays",),
        "surroundings": ("conditions",),
        "floors": ("baselines",),
        "floor": ("baseline",),
        "weight": ("control", "delay"),
    }
)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word nearest to `word`, empty when none is near; case does not count."""
    known = tuple(known)
    head, dash, rest = word.partition("-")
    renamed = next((now + dash + rest for now in RENAMED.get(head, ()) if now + dash + rest in known), "")
    if renamed:
        return renamed
    by_folded = {name.casefold(): name for name in sorted(known, reverse=True)}
    found = difflib.get_close_matches(word.casefold(), sorted(by_folded), n=1, cutoff=CUTOFF)
    return by_folded[found[0]] if found else ""


def several(word: str, known: Iterable[str], *, count: int = 3) -> tuple[str, ...]:
    """Up to `count` known words near to `word`, nearest first."""
    return tuple(difflib.get_close_matches(word, sorted(known), n=count, cutoff=0.4))


def listed(words: Iterable[str], *, last: str = "or") -> str:
    """Words as a sentence holds them: `a, b or c`."""
    names = list(words)
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
