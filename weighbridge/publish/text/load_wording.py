"""How each kind of load is worded on pages and in the terminal: one table, by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weighbridge.matrix.arrivals import Arrivals
from weighbridge.matrix.loads import LOADS, Load
from weighbridge.publish.text import numbers
from weighbridge.publish.text.wording import BOUND_TEXT
from weighbridge.record.summary import CellSummary


@dataclass(frozen=True)
class LoadWords:
    """Wording of one kind of load.

    `text` names one load, `together` all of a campaign in a sentence; `how` and `preposition` stand before them;
    `heading` and `caption` are those of a page's table, `terminal` that of a table in the terminal, where `head` and
    `size` are the column that tells loads of the kind apart.
    """

    text: Callable[[Load], str]
    together: Callable[[Sequence[Load]], str]
    preposition: str
    how: str
    heading: str
    caption: str
    terminal: str
    head: tuple[str, str]
    size: Callable[[Load], str]


# How the requests of a rate were spaced, as a row says it, and what that means under a table.
_SPACED: Mapping[Arrivals, str] = {
    "poisson": "at random",
    "dithered": "dithered: shows little queueing",
    "even": "evenly spaced: shows no queueing",
}
_SPACED_TEXT: Mapping[Arrivals, str] = {
    "poisson": "Requests come at random (Poisson, exact in number), as users do, so waiting for each other is part "
    "of every time.",
    "dithered": "Requests are dithered, one at a random point of each slot: they hardly meet, so a gateway that "
    "works off one at a time shows little of its queue.",
    "even": "Requests are evenly spaced: they do not meet, so a gateway that works off one at a time shows no queue "
    "until it is saturated.",
}
_BESIDE_TEXT: Mapping[Arrivals, str] = {
    "poisson": "The added time beside them is that of the probe's own requests, which come at random in the same "
    "seconds.",
    "dithered": "The added time beside them is that of the probe's own requests, dithered in the same seconds.",
    "even": "The added time beside them is that of the probe's own requests, evenly spaced in the same seconds.",
}


def _rates(loads: Sequence[Load]) -> str:
    spaced = dict.fromkeys(_SPACED[load.arrivals].partition(":")[0] for load in loads if load.arrivals is not None)
    rates = numbers.listed([numbers.short(load.size) for load in loads])
    return f"at {rates} requests per second ({numbers.listed(list(spaced))})"


def _clients(loads: Sequence[Load]) -> str:
    word = "client" if all(load.is_serial for load in loads) else "clients"
    return f"with {numbers.listed([numbers.count(load.concurrency) for load in loads])} {word}"


LOAD_WORDS: Mapping[str, LoadWords] = {
    "rate": LoadWords(
        text=lambda load: f"{numbers.short(load.size)}/s",
        together=_rates,
        preposition="At",
        how="open loop",
        heading="Open loop (fixed arrival rate)",
        caption="Open loop: requests arrive at a given rate whether or not earlier ones are answered. "
        "Response time counts from the intended start.",
        terminal="open loop (fixed arrival rate)",
        head=("offered", "/s"),
        size=lambda load: numbers.short(load.size),
    ),
    "clients": LoadWords(
        text=lambda load: numbers.plural(load.concurrency, "client"),
        together=_clients,
        preposition="With",
        how="closed loop",
        heading="Closed loop (fixed concurrency)",
        caption=f"Closed loop: each client sends its next request when it has its response. {BOUND_TEXT}",
        terminal="closed loop (fixed concurrency; more than one client: bounded by the throughput)",
        head=("", "clients"),
        size=lambda load: numbers.count(load.concurrency),
    ),
    "streams": LoadWords(
        text=lambda load: numbers.plural(load.connections, "open stream"),
        together=lambda loads: f"with up to {numbers.count(loads[-1].connections)} open streams",
        preposition="With",
        how="with open streams",
        heading="With open streams",
        caption="Streams are opened and stay open, more at each step.",
        terminal="with open streams",
        head=("", "streams"),
        size=lambda load: numbers.count(load.connections),
    ),
}


def load_text(load: Load) -> str:
    """Return `50/s`, `10 clients` or `100 open streams`."""
    return LOAD_WORDS[load.kind].text(load)


def arrivals_text(load: Load) -> str:
    """Return how a rate was spaced, as a row says it: `evenly spaced: shows no queueing`; else nothing."""
    return "" if load.arrivals is None else _SPACED[load.arrivals]


def arrivals_words(load: Load) -> str:
    """Return the words of a matrix for the spacing of a rate: `poisson`, `even, probe poisson`; else nothing."""
    beside = "" if load.companion is None else f", {load.companion.driver} {load.companion.arrivals}"
    return "" if load.arrivals is None else f"{load.arrivals}{beside}"


def arrivals_sentences(loads: Sequence[Load]) -> tuple[str, ...]:
    """Return what the spacing of the requests means, and that of the probe beside a driver."""
    own = dict.fromkeys(load.arrivals for load in loads if load.arrivals is not None)
    beside = dict.fromkeys(load.companion.arrivals for load in loads if load.companion is not None)
    return (*(_SPACED_TEXT[one] for one in own), *(_BESIDE_TEXT[one] for one in beside))


def by_arrivals(cells: Sequence[CellSummary]) -> tuple[list[CellSummary], ...]:
    """Return the cells in groups of the same arrivals: what was spaced differently never shares a column."""
    found: dict[tuple[Arrivals | None, Arrivals | None], list[CellSummary]] = {}
    for cell in cells:
        beside = cell.load.companion
        found.setdefault((cell.load.arrivals, None if beside is None else beside.arrivals), []).append(cell)
    return tuple(found.values())


def by_kind(cells: Sequence[CellSummary]) -> dict[str, list[CellSummary]]:
    """Return the cells of each kind of load that has times, in the order of tables; kinds without a cell too."""
    timed = [kind for kind, load in LOADS.items() if load.measures_times]
    return {kind: [cell for cell in cells if cell.load.kind == kind] for kind in timed}


def loads_text(loads: Sequence[Load]) -> str:
    """Return all loads of a campaign in words: `at 20 and 50 requests per second and with 1 client`."""
    found: dict[str, dict[str, Load]] = {kind: {} for kind in LOAD_WORDS}
    for load in loads:
        found[load.kind][load.name] = load
    reported = ((LOAD_WORDS[kind], sorted(mine.values(), key=lambda load: load.size)) for kind, mine in found.items())
    return " and ".join(words.together(mine) for words, mine in reported if mine)
