"""How a gateway is had: nothing to get, a mock of ours, a Python environment, a program on PATH.

Called by the walk before the first block and by `install`. A gateway that cannot be had raises ToolMissing with
a sentence that holds no path and no address: the walk records it and marks the cells `unavailable`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import version as version_of_package
from pathlib import Path

from weighbridge import resources
from weighbridge.errors import ToolMissing
from weighbridge.matrix.recipe import MocksArtifact, NoArtifact, PathArtifact, PythonArtifact, Recipe
from weighbridge.record.host import ToolFacts
from weighbridge.rig.asking import ask
from weighbridge.rig.installing import Installed, Workshop, sha256_of
from weighbridge.rig.python_tool import find_python, install_python


def obtain_gateway(recipe: Recipe, home: Path, workshop: Workshop) -> Installed:
    """The gateway of a recipe, installed when it can be and is not there yet.

    Raises ToolMissing when it cannot be had.
    """
    if isinstance(recipe.artifact, PythonArtifact):
        return install_python(recipe, home, workshop)
    return _present(recipe, home, workshop.path_env)


def find_gateway(recipe: Recipe, home: Path, environ: Mapping[str, str]) -> Installed:
    """The gateway of a recipe as it is there; installs nothing. ToolMissing when it is not there."""
    return _present(recipe, home, environ.get("PATH", ""))


def _present(recipe: Recipe, home: Path, path_env: str) -> Installed:
    match recipe.artifact:
        case NoArtifact():
            return _bundled(ToolFacts(name=recipe.id, version=None, sha256=None, source="bundled"))
        case MocksArtifact():
            sha256 = digest_of_programs(resources.root() / "mocks")
            own_version = version_of_package("weighbridge")
            return _bundled(ToolFacts(name=recipe.id, version=own_version, sha256=sha256, source="bundled"))
        case PathArtifact() as artifact:
            return _on_path(recipe, artifact, path_env)
        case PythonArtifact():
            installed = find_python(recipe, home)
    if installed is None:
        raise ToolMissing(f"{recipe.name} is not installed: run `invoke install --only {recipe.id}`")
    return installed


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


def _on_path(recipe: Recipe, artifact: PathArtifact, path_env: str) -> Installed:
    found = shutil.which(artifact.program, path=path_env)
    if found is None:
        raise ToolMissing(f"{recipe.name} needs the program {artifact.program} on PATH, and it is not there")
    version = _said_version(artifact, found, path_env)
    facts = ToolFacts(name=artifact.program, version=version, sha256=sha256_of(Path(found)), source="path")
    return Installed(program=Path(found), python=Path(sys.executable), facts=facts)


def _said_version(artifact: PathArtifact, program: str, path_env: str) -> str | None:
    if not artifact.version_argv:
        return None
    argv = [word.replace("{program}", program) for word in artifact.version_argv]
    said = ask(argv, env={"PATH": path_env, "LANG": "C.UTF-8"})
    match = re.search(r"\d+(?:\.\d+)+[\w.+-]*", said.stdout + said.stderr) if said else None
    return match.group(0) if match else None
