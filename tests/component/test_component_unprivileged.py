"""A whole campaign by a user who is not root: nothing needs privileges, nothing is written elsewhere.

Run as root, the test borrows the user `nobody`, gives it the wheel in an environment that it can read, and a folder
of its own; run as anybody else, that user is the one.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import uv

from tests.component.project import CHECKOUT, Project, Ran

pytestmark = [pytest.mark.unprivileged, pytest.mark.timeout(400)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may enter; pytest's own is closed to them."""
    made = Path(tempfile.mkdtemp(prefix="weighbridge-unprivileged-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def user() -> str:
    """Name of a user without privileges."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    try:
        return pwd.getpwnam("nobody").pw_name
    except KeyError:
        pytest.skip("there is no user nobody to borrow")


def _uv(folder: Path, *words: str) -> None:
    environ = {**os.environ, "UV_PYTHON_INSTALL_DIR": str(folder / "python")}
    done = subprocess.run([uv.find_uv_bin(), *words], capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def project(folder: Path, user: str) -> Project:
    """A project of that user with the wheel in an environment beside it."""
    python = shutil.which("python3.11", path="/usr/bin:/usr/local/bin:/opt/bin")
    if python is None:
        pytest.skip("there is no system Python 3.11 that another user may run")
    _uv(folder, "build", "--quiet", "--wheel", "--out-dir", str(folder / "dist"), str(CHECKOUT))
    _uv(folder, "venv", "--quiet", "--python", python, str(folder / "venv"))
    wheel = next((folder / "dist").glob("*.whl"))
    _uv(folder, "pip", "install", "--quiet", "--link-mode", "copy", "--python", str(folder / "venv"), str(wheel))
    made = Project(folder / "project")
    made.python = str(folder / "venv" / "bin" / "python")
    oha = made.bin / "oha"
    oha.write_text(f"#!{made.python}\n" + oha.read_text().partition("\n")[2])
    made.matrix()
    account = pwd.getpwnam(user)
    if os.geteuid() == 0:
        for path in (made.folder, *made.folder.rglob("*")):
            os.chown(path, account.pw_uid, account.pw_gid)
    return made


def _as(user: str, project: Project, *words: str) -> Ran:
    account = pwd.getpwnam(user)
    borrowed = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        [project.python, "-m", "invoke", *words],
        cwd=project.folder,
        env={"PATH": f"{project.bin}:/usr/bin:/bin", "HOME": str(project.folder), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        **borrowed,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_a_campaign_needs_no_privileges(project: Project, user: str) -> None:
    """Every cell of the mock gateway and the baseline is valid, whoever runs it, and nothing is left behind."""
    ran = _as(user, project, "bench")

    project.ends_well(ran)
    project.assert_nothing_left()
    owners = {path.stat().st_uid for path in project.results.rglob("*")}
    assert owners == {pwd.getpwnam(user).pw_uid}


def test_a_folder_that_may_not_be_written_is_one_sentence(project: Project, user: str) -> None:
    """A results folder of somebody else ends with exit 2 and a sentence that names it, before anything starts."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder that the user may not write")
    closed = project.folder.parent / "closed"
    closed.mkdir(mode=0o755)

    ran = _as(user, project, "bench", "--out", str(closed / "results"))

    ran.ends_with(2)
    assert str(closed / "results") in ran.sentences[-1]
