"""Obtain a gateway: nothing to get, a mock of ours, a Python environment, a program on PATH.

A gateway that cannot be had raises ToolMissing with
a sentence that holds no path and no address: the walk records it and marks the cells `unavailable`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version as version_of_package
from pathlib import Path
from types import MappingProxyType

from weighbridge import resources
from weighbridge.errors import ToolMissing
from weighbridge.matrix.artifacts import PathArtifact
from weighbridge.matrix.recipe import Recipe
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import Installed, Workshop, sha256_of
from weighbridge.rig.install.python_env import find_python, install_python
from weighbridge.rig.machine.one_shot import ask


@dataclass(frozen=True)
class Installer:
    """How the gateways of one kind of artifact are found as they are there, and installed where they can be.

    `find` is given the recipe, our home and PATH; None: not installed. Both may raise ToolMissing.
    """

    find: Callable[[Recipe, Path, str], Installed | None]
    install: Callable[[Recipe, Path, Workshop], Installed] | None = None


def obtain_gateway(recipe: Recipe, home: Path, workshop: Workshop) -> Installed:
    """Return the gateway of a recipe, installed when it can be and is not there yet.

    Raises ToolMissing when it cannot be had.
    """
    install = INSTALLERS[recipe.artifact.kind].install
    return install(recipe, home, workshop) if install else _present(recipe, home, workshop.path_env)


def find_gateway(recipe: Recipe, home: Path, environ: Mapping[str, str]) -> Installed:
    """Return the gateway of a recipe as it is there; ToolMissing when it is not there."""
    return _present(recipe, home, environ.get("PATH", ""))


def _present(recipe: Recipe, home: Path, path_env: str) -> Installed:
    installed = INSTALLERS[recipe.artifact.kind].find(recipe, home, path_env)
    if installed is None:
        raise ToolMissing(f"{recipe.name} is not installed: run `invoke install --only {recipe.id}`")
    return installed


def _nothing(recipe: Recipe, _home: Path, _path_env: str) -> Installed:
    return _bundled(ToolFacts(name=recipe.id, version=None, sha256=None, source="bundled"))


def _mocks(recipe: Recipe, _home: Path, _path_env: str) -> Installed:
    sha256 = digest_of_programs(resources.root() / "mocks")
    own_version = version_of_package("weighbridge")
    return _bundled(ToolFacts(name=recipe.id, version=own_version, sha256=sha256, source="bundled"))


def digest_of_programs(folder: Path) -> str:
    """SHA-256 over the sorted relative paths and bytes of the Python files of a folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        data = path.read_bytes()
        total.update(f"{path.relative_to(folder).as_posix()}:{len(data)}:".encode())
        total.update(data)
    return total.hexdigest()


def _bundled(facts: ToolFacts) -> Installed:
    return Installed(program=None, python=Path(sys.executable), facts=facts)


def _on_path(recipe: Recipe, _home: Path, path_env: str) -> Installed:
    artifact = recipe.artifact
    if not isinstance(artifact, PathArtifact):
        raise TypeError(recipe.id)
    found = shutil.which(artifact.program, path=path_env)
    if found is None:
        raise ToolMissing(f"{recipe.name} needs the program {artifact.program} on PATH, and it is not there")
    version = _reported_version(artifact, found, path_env)
    facts = ToolFacts(name=artifact.program, version=version, sha256=sha256_of(Path(found)), source="path")
    return Installed(program=Path(found), python=Path(sys.executable), facts=facts)


def _reported_version(artifact: PathArtifact, program: str, path_env: str) -> str | None:
    if not artifact.version_argv:
        return None
    argv = [word.replace("{program}", program) for word in artifact.version_argv]
    output = ask(argv, env={"PATH": path_env, "LANG": "C.UTF-8"})
    match = re.search(r"\d+(?:\.\d+)+[\w.+-]*", output.stdout + output.stderr) if output else None
    return match.group(0) if match else None


# By the kind of artifact, as in `matrix.artifacts`.
INSTALLERS: Mapping[str, Installer] = MappingProxyType(
    {
        "none": Installer(_nothing),
        "mocks": Installer(_mocks),
        "python": Installer(lambda recipe, home, _path_env: find_python(recipe, home), install_python),
        "path": Installer(_on_path),
    }
)
