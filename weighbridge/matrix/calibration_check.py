"""Whether a calibration can be done: its recipe has the delays and faults that the matrix names.

Pure; it raises and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.errors import InputError
from weighbridge.matrix.calibration import CONTROL, DELAY_BY_HEADER, SETTING, Calibration
from weighbridge.matrix.catalogue import Catalogue
from weighbridge.matrix.load import LoadedMatrix
from weighbridge.matrix.suggest import listed, nearest
from weighbridge.matrix.yamltext import KeyPath


def check_calibration(loaded: LoadedMatrix, catalogue: Catalogue) -> None:
    """Nothing when the calibration of a matrix can be done, or when it asks for none; else InputError."""
    spec = loaded.matrix.calibration
    if spec is None:
        return
    recipe = catalogue.get(spec.recipe)
    if recipe is None or SETTING not in recipe.settings:
        raise InputError(
            f"no recipe {spec.recipe!r} with a setting {SETTING}",
            place=loaded.place(("calibration", "recipe")),
            expected="expected a gateway of known delays",
            suggestion=nearest(spec.recipe, catalogue.ids),
        )
    if spec.recipe not in (entry.id for entry in loaded.matrix.gateways):
        raise InputError(
            f"{spec.recipe} is not listed under gateways",
            place=loaded.place(("calibration", "recipe")),
            expected=f"expected {spec.recipe} among them, for its lanes are started from what is installed",
        )
    known = recipe.settings[SETTING].values
    for path, value in _named(spec):
        if value not in known:
            raise InputError(
                f"{value!r} is no {SETTING} of {spec.recipe}",
                place=loaded.place(("calibration", *path)),
                expected=f"expected {listed(known)}",
                suggestion=nearest(value, known),
            )
    if spec.modes and DELAY_BY_HEADER not in known:
        problem = f"{spec.recipe} has no {SETTING} {DELAY_BY_HEADER}, in which mixed blocks are measured"
        raise InputError(
            problem, place=loaded.place(("calibration", "recipe")), expected="expected a recipe that has"
        )
    if CONTROL not in known or CONTROL in spec.known_delays:
        problem = f"{CONTROL} is the control: the recipe has it, and it is no delay of its own"
        place = loaded.place(("calibration", "known_delays"))
        raise InputError(problem, place=place, expected="expected other delays")


def _named(spec: Calibration) -> Iterator[tuple[KeyPath, str]]:
    for key in ("known_delays", "two_valued", "faults"):
        yield from (((key, number), value) for number, value in enumerate(getattr(spec, key)))
    if spec.burn is not None:
        yield ("burn", "delay"), spec.burn.delay
