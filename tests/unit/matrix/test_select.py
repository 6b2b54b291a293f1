"""Patterns on cell ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.matrix_samples import cells
from weighbridge.errors import InputError
from weighbridge.matrix.select import select


def test_no_pattern_selects_everything(tmp_path: Path) -> None:
    """Without --only all cells are run, in their order."""
    found = cells(tmp_path)

    assert select(found, []) == found


def test_selection_adds_the_baseline_of_what_it_selects_and_nothing_else(tmp_path: Path) -> None:
    """One cell comes with one baseline, in the order of the cells."""
    picked = select(cells(tmp_path), ["beta.none.work.stream.clients-10"])

    assert [cell.id for cell in picked] == ["direct.none.work.stream.clients-10", "beta.none.work.stream.clients-10"]


def test_several_patterns_are_joined(tmp_path: Path) -> None:
    """A cell is run when any pattern matches, and once when two do."""
    picked = select(cells(tmp_path), ["beta.none.*.rate-*", "*.plain.rate-50"])

    assert len({cell.id for cell in picked}) == len(picked)
    assert {cell.baseline for cell in picked} <= {cell.id for cell in picked}
    assert "alpha.starter.work.plain.rate-50" in {cell.id for cell in picked}


def test_capitals_count(tmp_path: Path) -> None:
    """Patterns are matched the same way on every system."""
    with pytest.raises(InputError, match=r"Did you mean beta\.\*\?"):
        select(cells(tmp_path), ["Beta.*"])


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("betta.*", "beta.*"),
        ("beta.non.work.*", "beta.none.work.*"),
        ("beta.none.work.plane.rate-50", "beta.none.work.plain.rate-50"),
        ("*.none.work.steam.*", "*.none.work.stream.*"),
        ("beta", "beta.*"),
        ("rate-50", "*rate-50*"),
    ],
)
def test_a_pattern_that_matches_nothing_is_answered_with_one_that_does(
    tmp_path: Path, pattern: str, meant: str
) -> None:
    """The suggestion is a pattern that works when typed."""
    found = cells(tmp_path)
    with pytest.raises(InputError) as detected:
        select(found, [pattern])

    assert detected.value.suggestion == meant
    assert f"the pattern {pattern!r} matches no cell" in str(detected.value)
    assert select(found, [meant])


def test_a_hopeless_pattern_still_shows_what_ids_look_like(tmp_path: Path) -> None:
    """Without anything near, some ids are listed."""
    with pytest.raises(InputError, match=r"cell ids such as direct\.none\.work\.plain\.rate-50"):
        select(cells(tmp_path), ["???"])
