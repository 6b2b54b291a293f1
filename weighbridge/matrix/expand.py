"""Cells of a matrix: the product of its axes, the floor, and what recipes do not claim.

Called by the tasks and the campaign. Pure: matrix and catalogue go in, cells come out, always in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weighbridge.errors import InputError
from weighbridge.matrix.calibration_check import check_calibration
from weighbridge.matrix.catalogue import Catalogue
from weighbridge.matrix.cells import (
    FLOOR,
    AnswerSpec,
    Cell,
    DriverName,
    HeldSpec,
    LaneKey,
    LoadSpec,
    Mode,
    PayloadSpec,
)
from weighbridge.matrix.load import LoadedMatrix
from weighbridge.matrix.model import ClientsLoad, GatewayEntry, Matrix, RateLoad, StreamsLoad
from weighbridge.matrix.recipe import Recipe
from weighbridge.matrix.ride_along import with_ride
from weighbridge.matrix.select import floor_id, matching_cells, unmatched, with_floors
from weighbridge.matrix.suggest import listed, nearest

# What an answer may take beyond the provider's own time before a cap on connections is felt (METHOD section 2).
GATEWAY_ALLOWANCE_S = 0.05
AUTO_CONNECTIONS_MIN = 32
# Streams are held by a program that comes with the probe, whatever drives the other loads.
HOLDER: DriverName = "probe"

__all__ = ["auto_connections", "expand", "floor_id"]


@dataclass(frozen=True)
class _Gateway:
    """A listed gateway with its recipe; the floor comes first and has chain `none` only."""

    entry: GatewayEntry
    recipe: Recipe


@dataclass(frozen=True)
class _Window:
    """Everything of a cell but its lane."""

    mode: Mode
    payload: PayloadSpec
    answer: AnswerSpec
    load: LoadSpec


def expand(loaded: LoadedMatrix, catalogue: Catalogue) -> tuple[Cell, ...]:
    """Every cell that the matrix selects, floors first, ids unique.

    A cell that its recipe does not claim carries `not_supported`. Raises InputError, with the place in the
    matrix, for an unknown gateway, setting or driver, for a chain or mode that no listed gateway implements, and
    for patterns that select nothing.
    """
    gateways = _gateways(loaded, catalogue)
    _check_claims(loaded, gateways)
    check_calibration(loaded, catalogue)
    cells = tuple(_product(loaded.matrix, gateways))
    return _selected(loaded, cells)


def auto_connections(rate_rps: float, answer: AnswerSpec, mode: Mode) -> int:
    """Connections that leave twice the room that a gateway needs which adds 50 ms to each answer."""
    expected_s = answer.provider_time_s(mode) + GATEWAY_ALLOWANCE_S
    return max(AUTO_CONNECTIONS_MIN, math.ceil(round(2 * rate_rps * expected_s, 6)))


def _gateways(loaded: LoadedMatrix, catalogue: Catalogue) -> list[_Gateway]:
    floor = catalogue.get(FLOOR)
    if floor is None:
        raise InputError(
            f"no recipe folder holds {FLOOR}", expected="expected the recipes that come with Weighbridge"
        )
    found = [_Gateway(GatewayEntry(id=FLOOR), floor)]
    weighed: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
    for number, entry in enumerate(loaded.matrix.gateways):
        if entry.id == FLOOR:
            continue
        recipe = catalogue.get(entry.id)
        if recipe is None:
            known = [name for name in catalogue.ids if name != FLOOR]
            raise InputError(
                f"no recipe for the gateway {entry.id!r}",
                place=loaded.place(("gateways", number)),
                expected=f"expected {listed(known)}, or a folder given by recipes: or --recipes",
                suggestion=nearest(entry.id, known),
            )
        _check_settings(loaded, number, entry, recipe)
        effective = (entry.id, tuple(sorted(recipe.settings_with(entry.settings).items())))
        if effective in weighed:
            problem = f"{entry.name} is the same as {weighed[effective]}, whose settings are the defaults"
            raise InputError(problem, place=loaded.place(("gateways", number)), expected="expected other settings")
        weighed[effective] = entry.name
        found.append(_Gateway(entry, recipe))
    return found


def _check_settings(loaded: LoadedMatrix, number: int, entry: GatewayEntry, recipe: Recipe) -> None:
    for name, value in entry.settings.items():
        place = loaded.place(("gateways", number, "settings", name))
        setting = recipe.settings.get(name)
        if setting is None:
            known = listed(recipe.settings) or "none: the recipe declares no settings"
            near = nearest(name, recipe.settings)
            problem = f"{entry.id} has no such setting"
            raise InputError(problem, place=place, expected=f"expected {known}", suggestion=near)
        if value not in setting.values:
            near = nearest(value, setting.values)
            expected = f"expected {listed(setting.values)}"
            raise InputError(f"{value!r} is not allowed", place=place, expected=expected, suggestion=near)


def _check_claims(loaded: LoadedMatrix, gateways: Sequence[_Gateway]) -> None:
    """Each chain and mode is claimed by at least one listed gateway."""
    recipes = [gateway.recipe for gateway in gateways if gateway.recipe.id != FLOOR]
    chains = sorted({chain for recipe in recipes for chain in recipe.chains})
    for number, chain in enumerate(loaded.matrix.chains):
        if chain not in chains:
            raise InputError(
                f"no listed gateway implements the chain {chain!r}",
                place=loaded.place(("chains", number)),
                expected=f"expected {listed(chains)}",
                suggestion=nearest(chain, chains),
            )
    for number, mode in enumerate(loaded.matrix.modes):
        if not any(mode in recipe.serves.modes for recipe in recipes):
            problem = f"no listed gateway serves the mode {mode}"
            raise InputError(
                problem, place=loaded.place(("modes", number)), expected="expected a mode that one serves"
            )


def _product(matrix: Matrix, gateways: Sequence[_Gateway]) -> Iterator[Cell]:
    windows = list(_windows(matrix))
    for gateway in gateways:
        chains = ("none",) if gateway.recipe.id == FLOOR else matrix.chains
        for chain in chains:
            for disk in matrix.disks:
                lane = LaneKey(gateway.entry.id, tuple(sorted(gateway.entry.settings.items())), chain, disk)
                for window in windows:
                    yield _cell(matrix, gateway.recipe, lane, window)


def _windows(matrix: Matrix) -> Iterator[_Window]:
    for mode in matrix.modes:
        for payload_name, payload in matrix.payloads.items():
            for answer_name, answer in matrix.answers.items():
                spec = answer.spec(answer_name)
                for load in _loads(matrix, spec, mode):
                    yield _Window(mode, payload.spec(payload_name), spec, load)


def _loads(matrix: Matrix, answer: AnswerSpec, mode: Mode) -> Iterator[LoadSpec]:
    if matrix.loads.rate is not None:
        for rate_rps in matrix.loads.rate.per_second:
            load = _rate_load(matrix.loads.rate, rate_rps, auto_connections(rate_rps, answer, mode))
            yield with_ride(load, matrix.driver, matrix.loads.rate.ride_along)
    if matrix.loads.clients is not None:
        for clients in matrix.loads.clients.counts:
            yield _clients_load(matrix.loads.clients, clients)
    # How held streams are answered is the load's own: another answer of the matrix would measure the same again.
    if matrix.loads.streams is not None and mode == "stream" and answer.name == next(iter(matrix.answers)):
        yield _streams_load(matrix.loads.streams, answer)


def _rate_load(load: RateLoad, rate_rps: float, auto: int) -> LoadSpec:
    return LoadSpec(
        kind="rate",
        rate_rps=rate_rps,
        clients=None,
        duration_s=load.duration_s,
        request_count=round(rate_rps * load.duration_s),
        connections=auto if load.connections is None else load.connections,
        warmup_count=load.warmup_count,
        timeout_s=load.timeout_s,
    )


def _clients_load(load: ClientsLoad, clients: int) -> LoadSpec:
    return LoadSpec(
        kind="clients",
        rate_rps=None,
        clients=clients,
        duration_s=None,
        request_count=load.request_count,
        connections=clients,
        warmup_count=load.warmup_count,
        timeout_s=load.timeout_s,
    )


def _streams_load(load: StreamsLoad, answer: AnswerSpec) -> LoadSpec:
    held = HeldSpec(load.held_counts, load.hold_s)
    return LoadSpec(
        kind="streams",
        rate_rps=None,
        clients=None,
        duration_s=None,
        request_count=held.most_count,
        connections=held.most_count,
        warmup_count=0,
        timeout_s=held.step_s(answer),
        held=held,
    )


def _cell(matrix: Matrix, recipe: Recipe, lane: LaneKey, window: _Window) -> Cell:
    varied = [f"payload={window.payload.name}"] if len(matrix.payloads) > 1 else []
    varied += [f"answer={window.answer.name}"] if len(matrix.answers) > 1 else []
    suffix = "".join(f"+{axis}" for axis in varied)
    return Cell(
        id=f"{lane.name}.{window.mode}.{window.load.name}{suffix}",
        lane=lane,
        mode=window.mode,
        payload=window.payload,
        answer=window.answer,
        load=window.load,
        driver=HOLDER if window.load.held else matrix.driver,
        not_supported=_not_claimed(recipe, lane.chain, window.mode),
    )


def _not_claimed(recipe: Recipe, chain: str, mode: Mode) -> str | None:
    if chain not in recipe.chains:
        return f"the recipe of {recipe.id} has no chain {chain}"
    if mode not in recipe.serves.modes:
        return f"the recipe of {recipe.id} does not serve the mode {mode}"
    return None


def _selected(loaded: LoadedMatrix, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """What include and exclude leave, with its floors."""
    matrix = loaded.matrix
    if not loaded.quick:
        # A quick run has fewer cells: there a pattern for the others may well match nothing.
        for key, patterns in (("include", matrix.include), ("exclude", matrix.exclude)):
            for number, pattern in enumerate(patterns):
                unmatched(cells, pattern, place=loaded.place((key, number)))
    kept = matching_cells(cells, matrix.include) if matrix.include else cells
    dropped = {cell.id for cell in matching_cells(cells, matrix.exclude)}
    kept = tuple(cell for cell in kept if cell.id not in dropped)
    weighed = tuple(cell for cell in kept if not cell.is_floor)
    if not weighed and (not matrix.include or not kept):
        key = "exclude" if matrix.exclude else "include"
        problem = "leaves no cell of a gateway"
        raise InputError(problem, place=loaded.place(key), expected="expected patterns that leave something to weigh")
    return with_floors(cells, kept if matrix.include else weighed)
