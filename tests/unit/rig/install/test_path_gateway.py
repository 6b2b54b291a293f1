"""Gateways on PATH: the program, the environment that a script runs in, and the checkout that it comes from."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from weighbridge.matrix.catalogue import read_catalogue
from weighbridge.matrix.recipe import Recipe
from weighbridge.rig.install.path_gateway import find_path_gateway

RECIPE = """schema: weighbridge.gateway/1
name: Own
kind: product
artifact: {kind: path, program: own-gate}
start: {argv: ["{program}"]}
ready: {path: /, within: 5s}
serves: {path: /, modes: [plain]}
chains: {none: {}}
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """A recipe that takes own-gate from PATH."""
    folder = tmp_path / "recipes" / "own"
    folder.mkdir(parents=True)
    (folder / "gateway.yaml").write_text(RECIPE)
    found = read_catalogue([folder.parent]).get("own")
    assert found is not None
    return found


def program_at(path: Path, text: str) -> dict[str, str]:
    """Write a program; gives back an environment whose PATH has its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return {"PATH": f"{path.parent}:/usr/bin:/bin", "HOME": "/nowhere"}


def environment_at(folder: Path) -> Path:
    """A virtual environment with one package; gives back its site-packages."""
    packages = folder / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (packages / "gate.py").write_text("delay = 0\n")
    return packages


def test_a_binary_is_its_file(recipe: Recipe, tmp_path: Path) -> None:
    """A program alone is known by its own SHA-256; replaced behind a link, it is another."""
    environ = program_at(tmp_path / "v1" / "own-gate", "ELF one")
    program_at(tmp_path / "v2" / "own-gate", "ELF two")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "own-gate").symlink_to(tmp_path / "v1" / "own-gate")

    found = find_path_gateway(recipe, {**environ, "PATH": str(tmp_path / "bin")})

    assert found.facts.sha256 == hashlib.sha256(b"ELF one").hexdigest()
    assert found.facts.git is None
    assert found.identity is not None
    assert found.identity.changed() is None
    (tmp_path / "bin" / "own-gate").unlink()
    (tmp_path / "bin" / "own-gate").symlink_to(tmp_path / "v2" / "own-gate")
    assert found.identity.changed() == "own-gate was changed"


@pytest.mark.parametrize("place", ["inside", "by its first line"])
def test_a_script_is_the_environment_that_it_runs_in(recipe: Recipe, tmp_path: Path, place: str) -> None:
    """The eight lines of a console script are not the gateway: the modules of its environment count."""
    packages = environment_at(tmp_path / "venv")
    folder = tmp_path / "venv" / "bin" if place == "inside" else tmp_path / "bin"
    found = find_path_gateway(recipe, program_at(folder / "own-gate", f"#!{tmp_path}/venv/bin/python\nimport gate\n"))
    assert found.identity is not None
    assert found.identity.changed() is None

    (packages / "gate.py").write_text("delay = 1\n")

    assert found.identity.changed() == "env/lib/python3.11/site-packages/gate.py was changed"


def test_what_is_installed_in_place_counts_with_its_checkout(recipe: Recipe, tmp_path: Path) -> None:
    """A gateway under development: commit and dirty flag are told, and its modules belong to it."""
    packages = environment_at(tmp_path / "venv")
    checkout = tmp_path / "its code"
    checkout.mkdir()
    (checkout / "gateway.py").write_text("delay = 0\n")
    git = ("git", "-C", str(checkout), "-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *words], check=True)
    note = packages / "own_gate-1.0.dist-info" / "direct_url.json"
    note.parent.mkdir()
    note.write_text(json.dumps({"url": checkout.as_uri(), "dir_info": {"editable": True}}))
    environ = program_at(tmp_path / "venv" / "bin" / "own-gate", "#!/bin/sh\n")

    clean = find_path_gateway(recipe, environ)
    (checkout / "gateway.py").write_text("delay = 1\n")
    dirty = find_path_gateway(recipe, environ)

    assert clean.facts.git is not None
    assert dirty.facts.git is not None
    assert (clean.facts.git.dirty, dirty.facts.git.dirty) == (False, True)
    assert len(clean.facts.git.commit or "") == 40
    assert clean.facts.git.commit == dirty.facts.git.commit
    assert clean.facts.sha256 != dirty.facts.sha256
    assert clean.identity is not None
    assert clean.identity.changed() == "own_gate/gateway.py was changed"


def test_a_program_built_in_a_checkout_tells_its_commit(recipe: Recipe, tmp_path: Path) -> None:
    """A binary that lies in a checkout, as a build leaves it, is told with that checkout's commit."""
    environ = program_at(tmp_path / "code" / "target" / "own-gate", "ELF")
    git = ("git", "-C", str(tmp_path / "code"), "-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "first")):
        subprocess.run([*git, *words], check=True)

    facts = find_path_gateway(recipe, environ).facts

    assert facts.git is not None
    assert len(facts.git.commit or "") == 40
