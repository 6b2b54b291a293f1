"""The calibration of a matrix: what it may name, what is refused where, and what it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.examples.matrix_samples import ROOT
from weighbridge import resources
from weighbridge.errors import InputError
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.calibration import CONTROL, Calibration
from weighbridge.matrix.catalogue import read_catalogue
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import read_matrix

SHIPPED = ROOT / "calibration.yaml"


def changed(folder: Path, **changes: object) -> Path:
    """The shipped calibration with keys of its section replaced; None takes one away."""
    document = yaml.safe_load(SHIPPED.read_text())
    document["calibration"] = {
        key: value for key, value in {**document["calibration"], **changes}.items() if value is not None
    }
    path = folder / "calibration.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def cells_of(path: Path):
    """Cells of a matrix with the shipped recipes."""
    return expand(read_matrix(path, TRAITS), read_catalogue([resources.gateways()]))


@pytest.mark.parametrize("quick", [False, True])
def test_the_shipped_calibration_weighs_what_it_should(quick: bool) -> None:
    """All delays, both modes, quiet and busy, all injected faults, all drivers; an A/A pair among the cells."""
    matrix = read_matrix(SHIPPED, TRAITS, quick=quick).matrix
    spec = matrix.calibration
    assert spec is not None
    assert spec.known_delays == ("delay-1ms", "delay-3ms", "delay-10ms", "delay-two-valued", "delay-slow")
    assert spec.modes == ("plain", "stream")
    for mode in spec.modes:
        load = spec.mixed(mode)
        assert load is not None
        assert {"quiet", "busy"} <= set(load.conditions)
    assert {fault.split("-")[0] for fault in spec.faults} == {"buffer", "coalesce", "drop", "error500", "stall"}
    assert spec.baselines is not None
    assert spec.baselines.drivers == ("oha", "wrk", "probe")
    controls = [entry for entry in matrix.gateways if entry.settings.get("delay", CONTROL) == CONTROL]
    assert len(controls) == 2


def test_the_full_one_is_no_provisional_one() -> None:
    """Blocks and requests of the shipped file are those that a certificate needs, with room for those left out."""
    spec = read_matrix(SHIPPED, TRAITS).matrix.calibration
    assert spec is not None
    for load in (spec.plain, spec.stream):
        assert load is not None
        assert (load.block_count >= 3, load.lane_count >= 540) == (True, True)


def test_it_fits_the_time_that_is_promised() -> None:
    """By its own estimate the calibration alone takes under sixteen minutes, the quick one under three and a half."""
    full, quick = (read_matrix(SHIPPED, TRAITS, quick=quick).matrix.calibration for quick in (False, True))
    assert full is not None
    assert quick is not None
    assert quick.estimated_s < 210 < full.estimated_s < 960
    assert quick.window_count < full.window_count


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"known_delays": ["delay-3s"]}, "known_delays[0]", "did you mean delay-3ms"),
        ({"known_delays": [CONTROL]}, "known_delays", "control"),
        ({"faults": ["buffer", "bufer"]}, "faults[1]", "did you mean buffer"),
        ({"recipe": "reference"}, "recipe", "no recipe 'reference' with a setting delay"),
        ({"burn": {"delay": "burn-9ms"}}, "burn.delay", "did you mean burn-2ms"),
    ],
)
def test_what_the_recipe_does_not_have_is_refused_where_it_stands(
    tmp_path: Path, changes: dict[str, object], key: str, words: str
) -> None:
    """The sentence names file, line and key, and the nearest thing that exists."""
    with pytest.raises(InputError) as detected:
        cells_of(changed(tmp_path, **changes))
    message = str(detected.value)
    assert f"calibration.{key}" in message
    assert words.lower() in message.lower()


def test_the_recipe_must_be_listed(tmp_path: Path) -> None:
    """A gateway that is not installed for the campaign cannot be started by its calibration."""
    path = changed(tmp_path)
    document = yaml.safe_load(path.read_text())
    document |= {"gateways": ["reference"], "subject": "reference"}
    del document["quick"]
    path.write_text(yaml.safe_dump(document, sort_keys=False))

    with pytest.raises(InputError, match="control is not listed under gateways"):
        cells_of(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"plain": {"per_second": 0}},
        {"plain": {"per_second": 290, "blocks": 0}},
        {"stream": {"per_second": 97, "conditions": ["calm"]}},
        {"neighbour": {"share": 2}},
        {"jitter": "2s"},
        {"baselines": {"drivers": ["ab"]}},
        {"wheights": []},
    ],
)
def test_absurd_values_are_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    """Strict like the rest of a matrix: limits, words and keys."""
    with pytest.raises(InputError, match="calibration"):
        read_matrix(changed(tmp_path, **changes), TRAITS)


def test_modes_can_be_left_out() -> None:
    """Without mixed blocks nothing of them is planned."""
    spec = Calibration.model_validate({"faults": ()})

    assert (spec.modes, spec.window_count) == ((), 1)


@pytest.mark.parametrize(
    ("then", "now"),
    [("weights", "known_delays"), ("surroundings", "conditions"), ("floors", "baselines"), ("weight", "delay")],
)
def test_words_of_earlier_versions_are_refused_with_those_of_today(tmp_path: Path, then: str, now: str) -> None:
    """A key or a setting that has another name now is no unknown word: the sentence says what it is called."""
    text = SHIPPED.read_text(encoding="utf-8")
    before = f"{now}: "
    assert before in text
    path = tmp_path / "calibration.yaml"
    path.write_text(text.replace(before, f"{then}: ", 1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"Did you mean {now}\?"):
        cells_of(path)


def test_a_value_of_earlier_versions_is_refused_with_that_of_today(tmp_path: Path) -> None:
    """Values of the setting were called after the setting."""
    path = tmp_path / "calibration.yaml"
    path.write_text(SHIPPED.read_text(encoding="utf-8").replace("delay-3ms", "weight-3ms", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"Did you mean delay-3ms\?"):
        cells_of(path)


def test_the_recipe_of_earlier_versions_is_refused_with_that_of_today(tmp_path: Path) -> None:
    """`weight` was the name of the recipe."""
    text = SHIPPED.read_text(encoding="utf-8").replace("control", "weight")
    path = tmp_path / "calibration.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"Did you mean control\?"):
        cells_of(path)
