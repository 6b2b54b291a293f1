"""How gateways, loads and responses are named, and in which order they stand. Built once from a summary.

The label of a mock is part of its name here, so that no view can leave it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weighbridge.matrix.axes import AXES, Axis, varied
from weighbridge.matrix.cells import BASELINE
from weighbridge.matrix.loads import LOADS
from weighbridge.matrix.requests import AnswerSpec
from weighbridge.publish.text import numbers
from weighbridge.publish.text.load_wording import load_text
from weighbridge.publish.text.sanitise import plain
from weighbridge.record.summary import MOCK_LABEL, CellSummary, GatewaySummary, Summary

_MODES = ("plain", "stream")
# What readers call the modes of a matrix.
MODE_TEXT = {"plain": "non-streaming", "stream": "streaming"}
# Axes that are named where a campaign varies them.
_LISTED = tuple(axis for axis in AXES if axis.listed is not None)


def chain_text(chain: str) -> str:
    """Return a chain as readers meet it: `no policies`, or `chain starter`."""
    return "no policies" if chain == "none" else f"chain {plain(chain, limit=40)}"


@dataclass(frozen=True)
class Names:
    """Names and orders of one campaign; `varies` are the axes in which its cells differ.

    `sweeps` are the names of payloads and of answers, in the order in which the matrix lists them; `digits`
    says how its figures are written.
    """

    gateways: Mapping[str, GatewaySummary]
    chains: tuple[str, ...]
    disks: tuple[str, ...]
    answers: Mapping[str, AnswerSpec]
    varies: frozenset[str]
    sweeps: Mapping[str, tuple[str, ...]]
    digits: numbers.Digits

    @property
    def varies_disk(self) -> bool:
        """Whether the campaign compares disks, so that tables need the column."""
        return len(self.disks) > 1

    def gateway(self, gateway: str) -> str:
        """Return the name for people, without its label."""
        known = self.gateways.get(gateway)
        return plain(known.name if known else gateway, limit=60)

    def label(self, gateway: str) -> str:
        """Return the words that must stand beside the name; empty for most."""
        known = self.gateways.get(gateway)
        if known is None:
            return MOCK_LABEL if gateway == "reference" else ""
        if known.kind == "mock":
            return plain(known.label or MOCK_LABEL, limit=60)
        label = plain(known.label or "", limit=60)
        return "" if label in self.gateway(gateway) else label

    def full(self, gateway: str, settings: Mapping[str, str] | None = None) -> str:
        """Return the name with settings and label: `LiteLLM proxy [workers=2]`, `Reference (mock, not a product)`."""
        text = self.gateway(gateway)
        if settings:
            text += f" [{settings_text(settings)}]"
        label = self.label(gateway)
        return f"{text} ({label})" if label else text

    def section(self, cell: CellSummary) -> str:
        """Return what all cells of a table's section were asked to do: `no policies · non-streaming`."""
        return f"{chain_text(cell.chain)} · {MODE_TEXT[cell.mode]}"

    def beside_load(self, cell: CellSummary) -> tuple[tuple[str, str], ...]:
        """Return heading and text of what rows of a section differ in beside the load: disk, payload, answer."""
        disk = (("Disk", plain(cell.disk, limit=40)),) if self.varies_disk else ()
        swept = ((axis.name.capitalize(), plain(axis.read(cell), limit=40)) for axis in self._swept)
        return (*disk, *swept)

    @property
    def headings_beside_load(self) -> tuple[str, ...]:
        """The headings of these."""
        return (*(("Disk",) if self.varies_disk else ()), *(axis.name.capitalize() for axis in self._swept))

    @property
    def _swept(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in _LISTED if axis.name in self.varies)

    def work(self, cell: CellSummary) -> str:
        """Return what a cell was asked to do, without gateway and load: `no policies · non-streaming`."""
        return f"{self.policy(cell)} · {MODE_TEXT[cell.mode]}"

    def policy(self, cell: CellSummary) -> str:
        """Return the chain, with the axes such as payload and answer that the matrix varies."""
        more = (f"{axis.name} {plain(axis.read(cell), limit=40)}" for axis in self._swept)
        return " · ".join([chain_text(cell.chain), *more])

    def where(self, cell: CellSummary) -> str:
        """Return everything but the gateway: `no policies · non-streaming · 50/s`, and the disk if several."""
        disk = f" · disk {plain(cell.disk, limit=40)}" if self.varies_disk else ""
        return f"{self.work(cell)} · {load_text(cell.load)}{disk}"

    def section_order(self, cell: CellSummary) -> tuple[int, int]:
        """Return the sort key of a section: chain and mode."""
        return (_index(self.chains, cell.chain), _MODES.index(cell.mode))

    def order(self, cell: CellSummary) -> tuple[int, int, tuple[int, ...]]:
        """Return the sort key of what a cell was asked to do: chain, mode, and axes such as payload and answer."""
        return (*self.section_order(cell), self._along_sweeps(cell))

    def place(self, cell: CellSummary) -> tuple[int, float, int, tuple[int, ...]]:
        """Return the sort key inside a section: the kind of load, then the load, the disk, and payload and answer."""
        kind, disk = tuple(LOADS).index(cell.load.kind), _index(self.disks, cell.disk)
        return (kind, cell.load.size, disk, self._along_sweeps(cell))

    def _along_sweeps(self, cell: CellSummary) -> tuple[int, ...]:
        return tuple(_index(self.sweeps[axis.name], axis.read(cell)) for axis in _LISTED)

    def rank(self, cell: CellSummary) -> tuple[int, str]:
        """Return the sort key of gateways at one load: the order of the matrix, baseline first."""
        return (_index(tuple(self.gateways), cell.gateway), settings_text(cell.settings))


def names_of(summary: Summary) -> Names:
    """Return the names and orders of a campaign; chains, disks and sweeps keep the order of the matrix."""
    measured = [cell for cell in summary.cells if not is_baseline(cell)] or list(summary.cells)
    return Names(
        gateways={gateway.id: gateway for gateway in summary.gateways},
        chains=_unique(cell.chain for cell in measured),
        disks=_unique(cell.disk for cell in measured),
        answers=summary.answers,
        varies=varied(summary.cells),
        digits=numbers.digits_of(summary.grade),
        sweeps={axis.name: _unique(map(axis.read, measured)) for axis in _LISTED},
    )


def is_baseline(cell: CellSummary) -> bool:
    """Tell whether a cell is of the lane without a gateway."""
    return cell.gateway == BASELINE


def has_open_streams(cell: CellSummary) -> bool:
    """Tell whether a cell is of a load that holds streams: it has memory, and no times."""
    return not cell.load.measures_times


def timed(summary: Summary) -> Summary:
    """Return the summary without the cells of open streams, for views of times and rates."""
    return summary.changed(cells=tuple(cell for cell in summary.cells if not has_open_streams(cell)))


def settings_text(settings: Mapping[str, str]) -> str:
    """Return the settings as `workers=2, log=off`; empty without settings."""
    return ", ".join(f"{plain(key, limit=40)}={plain(value, limit=40)}" for key, value in sorted(settings.items()))


def answer_text(answer: AnswerSpec, mode: str) -> str:
    """Return what the mock provider does: `answers after 20 ms`."""
    delay = numbers.duration(answer.delay_s)
    if mode == "plain":
        return f"responds after {delay}"
    gap = numbers.duration(answer.gap_s)
    return f"sends the first of {answer.chunk_count} chunks after {delay}, then one every {gap}"


def _index(known: tuple[str, ...], name: str) -> int:
    return known.index(name) if name in known else len(known)


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
