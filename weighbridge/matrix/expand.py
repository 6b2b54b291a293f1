"""Cells of a matrix: the product of its axes, the baseline, and what recipes do not claim.

Pure: matrix and catalogue go in, cells come out, always in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weighbridge.errors import InputError
from weighbridge.matrix.axes import baseline_id, cell_id, named_in
from weighbridge.matrix.calibration_check import check_calibration
from weighbridge.matrix.catalogue import Catalogue
from weighbridge.matrix.cells import BASELINE, Cell, LaneKey
from weighbridge.matrix.drivers import companion_of, driver_of
from weighbridge.matrix.load import LoadedMatrix
from weighbridge.matrix.loads import Load, Target
from weighbridge.matrix.model import GatewayEntry, Matrix
from weighbridge.matrix.recipe import Recipe
from weighbridge.matrix.requests import AnswerSpec, Mode, PayloadSpec
from weighbridge.matrix.select import matching_cells, unmatched, with_baselines
from weighbridge.matrix.suggest import listed, nearest


@dataclass(frozen=True)
class _ListedGateway:
    """A listed gateway with its recipe; the baseline comes first and has chain `none` only."""

    entry: GatewayEntry
    recipe: Recipe


@dataclass(frozen=True)
class _WithoutLane:
    """Everything of a cell but its lane."""

    mode: Mode
    payload: PayloadSpec
    answer: AnswerSpec
    load: Load
    driver: str
    pass_driver: str | None = None


def expand(loaded: LoadedMatrix, catalogue: Catalogue) -> tuple[Cell, ...]:
    """Every cell that the matrix selects, baselines first, ids unique.

    A cell that its recipe does not claim carries `not_supported`. Raises InputError, with the place in the
    matrix, for an unknown gateway, setting or driver, for a chain or mode that no listed gateway implements, and
    for patterns that select nothing.
    """
    gateways = _gateways(loaded, catalogue)
    _check_claims(loaded, gateways)
    check_calibration(loaded, catalogue)
    cells = tuple(_product(loaded, gateways))
    return _selected(loaded, cells)


def _gateways(loaded: LoadedMatrix, catalogue: Catalogue) -> list[_ListedGateway]:
    baseline = catalogue.get(BASELINE)
    if baseline is None:
        raise InputError(
            f"no recipe folder holds {BASELINE}", expected="expected the recipes that come with Weighbridge"
        )
    found = [_ListedGateway(GatewayEntry(id=BASELINE), baseline)]
    measured: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
    for number, entry in enumerate(loaded.matrix.gateways):
        if entry.id == BASELINE:
            continue
        recipe = catalogue.get(entry.id)
        if recipe is None:
            known = [name for name in catalogue.ids if name != BASELINE]
            raise InputError(
                f"no recipe for the gateway {entry.id!r}",
                place=loaded.place(("gateways", number)),
                expected=f"expected {listed(known)}, or a folder given by recipes: or --recipes",
                suggestion=nearest(entry.id, known),
            )
        _check_settings(loaded, number, entry, recipe)
        effective = (entry.id, tuple(sorted(recipe.settings_with(entry.settings).items())))
        if effective in measured:
            problem = f"{entry.name} is the same as {measured[effective]}, whose settings are the defaults"
            raise InputError(problem, place=loaded.place(("gateways", number)), expected="expected other settings")
        measured[effective] = entry.name
        found.append(_ListedGateway(entry, recipe))
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


def _check_claims(loaded: LoadedMatrix, gateways: Sequence[_ListedGateway]) -> None:
    """Each chain and mode is claimed by at least one listed gateway."""
    recipes = [gateway.recipe for gateway in gateways if gateway.recipe.id != BASELINE]
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


def _product(loaded: LoadedMatrix, gateways: Sequence[_ListedGateway]) -> Iterator[Cell]:
    matrix, named = loaded.matrix, named_in(loaded.matrix)
    windows = list(_windows(loaded))
    for gateway in gateways:
        chains = ("none",) if gateway.recipe.id == BASELINE else matrix.chains
        for chain in chains:
            for disk in matrix.disks:
                lane = LaneKey(gateway.entry.id, tuple(sorted(gateway.entry.settings.items())), chain, disk)
                for window in windows:
                    yield _cell(gateway.recipe, lane, window, named)


def _windows(loaded: LoadedMatrix) -> Iterator[_WithoutLane]:
    matrix = loaded.matrix
    companion = companion_of(matrix.driver, loaded.drivers)
    arrivals = loaded.drivers[driver_of("rate", matrix.driver, loaded.drivers)].arrivals
    for mode in matrix.modes:
        for payload_name, payload in matrix.payloads.items():
            for answer in _answers(matrix):
                target = Target(answer, answer == next(_answers(matrix)), mode, companion, arrivals)
                for load in matrix.loads.loads(target):
                    driver = driver_of(load.kind, matrix.driver, loaded.drivers)
                    behind = companion_of(driver, loaded.drivers)
                    yield _WithoutLane(mode, payload.spec(payload_name), answer, load, driver, behind)


def _answers(matrix: Matrix) -> Iterator[AnswerSpec]:
    return (answer.spec(name) for name, answer in matrix.answers.items())


def _cell(recipe: Recipe, lane: LaneKey, window: _WithoutLane, named: frozenset[str]) -> Cell:
    cell = Cell(
        id="",
        lane=lane,
        mode=window.mode,
        payload=window.payload,
        answer=window.answer,
        load=window.load,
        driver=window.driver,
        baseline="",
        not_supported=_not_claimed(recipe, lane.chain, window.mode),
        pass_driver=window.pass_driver,
    )
    return replace(cell, id=cell_id(cell, named), baseline=baseline_id(cell, named))


def _not_claimed(recipe: Recipe, chain: str, mode: Mode) -> str | None:
    if chain not in recipe.chains:
        return f"the recipe of {recipe.id} has no chain {chain}"
    if mode not in recipe.serves.modes:
        return f"the recipe of {recipe.id} does not serve the mode {mode}"
    return None


def _selected(loaded: LoadedMatrix, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Return what include and exclude leave, with its baselines."""
    matrix = loaded.matrix
    if not loaded.quick:
        # A quick run has fewer cells: there a pattern for the others may well match nothing.
        for key, patterns in (("include", matrix.include), ("exclude", matrix.exclude)):
            for number, pattern in enumerate(patterns):
                unmatched(cells, pattern, place=loaded.place((key, number)))
    kept = matching_cells(cells, matrix.include) if matrix.include else cells
    dropped = {cell.id for cell in matching_cells(cells, matrix.exclude)}
    kept = tuple(cell for cell in kept if cell.id not in dropped)
    measured = tuple(cell for cell in kept if not cell.is_baseline)
    if not measured and (not matrix.include or not kept):
        key = "exclude" if matrix.exclude else "include"
        problem = "leaves no cell of a gateway"
        raise InputError(
            problem, place=loaded.place(key), expected="expected patterns that leave something to measure"
        )
    return with_baselines(cells, kept if matrix.include else measured)
