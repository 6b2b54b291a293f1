"""The site's folder: whole or not at all, and never over a file that is not ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.campaigns import cell, rate, smoke, summary
from weighbridge.errors import StoreError
from weighbridge.publish.site import writer
from weighbridge.publish.site.site import render


def names(of: Path) -> set[str]:
    """Files below a folder."""
    return {str(path.relative_to(of)) for path in of.rglob("*") if path.is_file()}


def test_a_site_is_rendered_and_rendered_again(tmp_path: Path) -> None:
    """The first call makes the folder, the second replaces it with the same bytes; nothing else is left about."""
    out = tmp_path / "results" / "site"
    front = render(smoke(), out)
    before = {name: (out / name).read_bytes() for name in names(out)}
    assert render([smoke()], out) == front == out / "index.html"
    assert {name: (out / name).read_bytes() for name in names(out)} == before
    assert set(before) == {"index.html", "index.md", "charts/c1-chart-1.svg", "weighbridge-site.json"}
    assert [p.name for p in out.parent.iterdir()] == ["site"]


def test_our_old_files_go_and_others_stay(tmp_path: Path) -> None:
    """A chart that is no longer drawn is removed; a file that somebody put there stays."""
    render(smoke(), tmp_path / "site")
    (tmp_path / "site" / "CNAME").write_text("mine")
    render(summary([cell("direct", rate(20))]), tmp_path / "site")
    assert names(tmp_path / "site") == {"index.html", "index.md", "weighbridge-site.json", "CNAME"}
    assert not (tmp_path / "site" / "charts").exists()


def test_a_file_that_is_not_ours_is_not_replaced(tmp_path: Path) -> None:
    """Somebody's index.html stops the rendering with a sentence that names it, and nothing is changed."""
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(StoreError, match=r"index\.html: was not made by Weighbridge"):
        render(smoke(), tmp_path)
    assert (tmp_path / "index.html").read_text() == "mine"
    assert names(tmp_path) == {"index.html"}


def test_a_list_that_points_outside_removes_nothing(tmp_path: Path) -> None:
    """A file list that was tampered with cannot reach beyond the site."""
    out = tmp_path / "site"
    out.mkdir()
    (tmp_path / "precious").write_text("x")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "precious").write_text("x")
    (out / "door").symlink_to(tmp_path / "away")
    listed = {"files": ["../precious", "/etc/hostname", "door/precious", "", 3]}
    (out / writer.LIST).write_text(json.dumps(listed))
    writer.put({"index.html": b"x"}, out)
    assert (tmp_path / "precious").exists()
    assert (tmp_path / "away" / "precious").exists()


def test_a_damaged_list_is_told(tmp_path: Path) -> None:
    """Without a readable list nobody knows what is ours: a sentence, no guess."""
    (tmp_path / writer.LIST).write_text("{")
    with pytest.raises(StoreError, match="damaged"):
        writer.put({"index.html": b"x"}, tmp_path)


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    """A file where the folder should be is a sentence, not a traceback."""
    (tmp_path / "site").write_text("x")
    with pytest.raises(StoreError, match="is not a folder"):
        render(smoke(), tmp_path / "site")


def test_a_full_disk_is_told_and_leaves_the_old_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When nothing fits the old site stays whole and no temporary folder is left."""
    out = tmp_path / "site"
    render(smoke(), out)
    before = {name: (out / name).read_bytes() for name in names(out)}

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StoreError, match="No space left on device"):
        render(summary([cell("direct", rate(20))]), out)
    monkeypatch.undo()
    assert {name: (out / name).read_bytes() for name in names(out)} == before
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_two_versions_of_the_method_share_no_page(tmp_path: Path) -> None:
    """Campaigns of two method versions are refused."""
    for other in (2, "2-unfinished"):
        later = smoke().model_copy(update={"method_version": other})
        with pytest.raises(StoreError, match=f"method versions 1, {other}"):
            render([smoke(), later], tmp_path / "site")
    with pytest.raises(StoreError, match="no campaign"):
        render([], tmp_path / "site")
