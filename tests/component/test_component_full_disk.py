"""A disk that gets full in the middle of a campaign: a small file system of its own, filled after the first run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.component.project import MATRIX, Project, wait_for

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(240)]

Mount = Callable[[Path], Path]


@pytest.fixture
def small_disk() -> Iterator[Mount]:
    """Mounts a file system of 24 MiB on a new folder; unmounted when the test is over."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted: list[Path] = []

    def mount(folder: Path) -> Path:
        folder.mkdir(parents=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


def _fill(folder: Path) -> Path:
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast


@pytest.mark.parametrize("what", ["results", "project"])
def test_no_space_left(tmp_path: Path, small_disk: Mount, what: str) -> None:
    """A full disk ends the campaign with exit 3 and a way out; the runs committed before it are whole.

    With room again the same command works. Once only the results lie on that disk, once the project.
    """
    if what == "project":
        disk = small_disk(tmp_path / "disk")
        project = Project(disk / "project", reported=tmp_path)
    else:
        project = Project(tmp_path / "project")
        disk = small_disk(project.results)
    project.matrix(
        accept={**MATRIX["accept"], "attempts_per_run": 2},
        loads={"rate": {"per_second": [20, 21], "duration": "1s", "warmup": 4, "connections": 8}},
    )
    began = project.begin("bench")
    try:
        wait_for(lambda: any(project.results.rglob("run.json")), 60, began.err.read_text)
        ballast = _fill(disk)
        code = began.process.wait(60)
    finally:
        began.kill()

    stderr = began.err.read_text()
    ballast.unlink()
    assert code == 3, stderr
    assert "Traceback" not in stderr
    assert "no space left where " in stderr
    assert "free some space and run the same command again" in stderr
    project.assert_nothing_left()
    campaign = project.campaign
    runs = list((campaign / "cells").glob("*/b01/run.json"))
    assert runs
    assert not list(campaign.rglob(".partial*"))
    finished = project.finished()
    assert (finished["status"], finished["exit_code"], finished["accepted_count"]) == ("failed", 3, len(runs))
    project.invoke("show", campaign.name).ends_with(0)
    valid = [cell["cell"] for cell in project.cells().values() if cell["verdict"] == "valid"]
    assert sorted(valid) == sorted(path.parents[1].name for path in runs)

    if what == "project":
        ran = project.invoke("bench", "--only", "direct.none.work.plain.rate-20")
        project.ends_well(ran, project.campaigns()[-1])
