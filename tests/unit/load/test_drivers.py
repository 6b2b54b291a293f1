"""Drivers as one dictionary: everything that is needed of one follows from its entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.matrix_samples import cells, loaded
from weighbridge.errors import InputError
from weighbridge.load.contract.formats import Found
from weighbridge.load.drivers import DRIVERS, STAMP_READER, TRAITS
from weighbridge.load.read import EVERY_FORMAT
from weighbridge.matrix.drivers import companion_of, driver_of
from weighbridge.matrix.loads import LOADS
from weighbridge.matrix.suggest import listed
from weighbridge.rig.install.toolbox import BUILT


def test_every_driver_has_a_program() -> None:
    """It comes with us, is known on PATH, or is built by us."""
    assert {name for name, driver in DRIVERS.items() if driver.program is None} == BUILT.keys()


@pytest.mark.parametrize("asked", DRIVERS)
def test_every_kind_of_load_has_a_driver(asked: str) -> None:
    """Whatever a matrix asks for, each kind is driven by one that can, and by the asked one where it can."""
    for kind in LOADS:
        found = driver_of(kind, asked, TRAITS)
        assert kind in TRAITS[found].loads
        assert found == asked or kind not in TRAITS[asked].loads


@pytest.mark.parametrize("asked", DRIVERS)
def test_a_driver_that_sees_no_inband_has_a_companion_that_does(asked: str) -> None:
    """Beside itself the driver of stamps needs none."""
    assert companion_of(asked, TRAITS) == (None if asked == STAMP_READER else STAMP_READER)


def test_no_two_formats_have_one_name() -> None:
    """A file is of one format; the formats of every driver are known to `invoke read`."""
    names = [one.name for one in EVERY_FORMAT.formats]

    assert len(names) == len(set(names))
    assert all(Found(one).notes == () for one in EVERY_FORMAT.formats)
    assert {one.name for driver in DRIVERS.values() for one in driver.formats.formats} == set(names)


def test_a_matrix_may_name_every_driver_and_no_other(tmp_path: Path) -> None:
    """Cells carry the asked driver; an unknown one is refused where it stands, with the nearest name."""
    for name in DRIVERS:
        driven = cells(tmp_path, ("runs: 3", f"runs: 3\ndriver: {name}"))
        assert {cell.driver for cell in driven} == {name}
    with pytest.raises(InputError) as detected:
        loaded(tmp_path, ("runs: 3", "runs: 3\ndriver: prob"))

    message = str(detected.value)
    assert f":15:9: driver: 'prob' is not known; expected {listed(DRIVERS)}. Did you mean probe?" in message


def test_a_driver_that_a_quick_run_asks_for_is_checked_in_every_reading(tmp_path: Path) -> None:
    """A fault in `quick:` is found without asking for it."""
    with pytest.raises(InputError, match=r"quick.driver: 'whale' is not known"):
        loaded(tmp_path, ("runs: 3", "runs: 3\nquick: {driver: whale}"))
