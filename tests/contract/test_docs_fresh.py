"""Parts of the documentation that are made from the code say what the code says today."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generate import PARTS, main
from tests.contract.texts import CHECKOUT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Pages of the checkout, in a folder where they may be spoiled."""
    for page, _ in PARTS:
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text((CHECKOUT / page).read_text(encoding="utf-8"), encoding="utf-8")
    main([], root=tmp_path)
    return tmp_path


def test_generated_parts_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    """What stands between all markers is what the code makes."""
    code = main(["--check"])

    assert (code, capsys.readouterr().out) == (0, "")


def test_a_stale_part_is_named_and_left(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` ends with 1, names page and part, and writes nothing."""
    page = copy / "docs" / "commands.md"
    spoiled = page.read_text(encoding="utf-8").replace("### `invoke bench`", "### `invoke bnech`")
    page.write_text(spoiled, encoding="utf-8")
    capsys.readouterr()

    assert main(["--check"], root=copy) == 1
    assert capsys.readouterr().out.startswith("docs/commands.md: tasks is stale")
    assert page.read_text(encoding="utf-8") == spoiled


def test_a_stale_part_is_rewritten(copy: Path) -> None:
    """Without a flag the page becomes what it was, outside of the markers as well."""
    page = copy / "docs" / "commands.md"
    whole = page.read_text(encoding="utf-8")
    page.write_text(whole.replace("### `invoke bench`", "### `invoke bnech`"), encoding="utf-8")

    assert main([], root=copy) == 0
    assert page.read_text(encoding="utf-8") == whole


def test_a_lost_marker_is_an_error(copy: Path) -> None:
    """A page without a marker is not taken for a fresh one."""
    page = copy / "docs" / "commands.md"
    page.write_text(page.read_text(encoding="utf-8").replace("<!-- end generated: tasks -->", ""), encoding="utf-8")

    with pytest.raises(ValueError, match="the markers of tasks"):
        main(["--check"], root=copy)
