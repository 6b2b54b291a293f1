"""How each kind of load is worded on pages and in the terminal: one table, by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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


def _rates(loads: Sequence[Load]) -> str:
    return f"at {numbers.listed([numbers.short(load.size) for load in loads])} requests per second"


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
        caption="Open loop: requests arrive at a fixed rate whether or not earlier ones are answered. "
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
