"""Python gateways: an environment of their own, installed by uv from a hash-locked list, byte-compiled.

Byte code is compiled at the install, because a gateway that compiles itself at every start is slower to get ready by
a factor of two to five, and its first requests with it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import sys
from pathlib import Path

import uv

from weighbridge.errors import ToolMissing
from weighbridge.matrix.artifacts import PythonArtifact
from weighbridge.matrix.recipe import Recipe
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import (
    Installed,
    InstallMarker,
    Step,
    Workshop,
    being_built,
    exclusive,
    read_marker,
    run_step,
    write_marker,
)

_VENV_DEADLINE_S = 600.0
_SYNC_DEADLINE_S = 3600.0
# Raised when the way of installing changes, so that environments of the old way are not taken for new ones.
_WAY = "uv-1"


def find_python(recipe: Recipe, home: Path) -> Installed | None:
    """Return the environment of a Python gateway, None when it is not installed, or not whole."""
    folder = _folder(recipe, _artifact(recipe), home)
    marker = read_marker(folder)
    if marker is None or marker.program is None or marker.python is None:
        return None
    return Installed(program=folder / marker.program, python=folder / marker.python, facts=marker.tool)


def install_python(recipe: Recipe, home: Path, workshop: Workshop) -> Installed:
    """Return the environment of a Python gateway, installed unless it is there.

    Raises ToolMissing when it cannot be installed. That the list has hashes and pins what the recipe says was
    checked when the recipe was read; uv checks the hashes.
    """
    artifact = _artifact(recipe)
    if (installed := find_python(recipe, home)) is not None:
        return installed
    with exclusive(home, workshop.report):
        if (installed := find_python(recipe, home)) is not None:
            return installed
        count = recipe.files[artifact.requirements].count(b"==")
        workshop.report(f"installing {recipe.name} {artifact.version}: about {count} packages, checksums proved")
        folder = _folder(recipe, artifact, home)
        with being_built(folder) as part:
            _build(recipe, part, workshop, home / "logs" / f"install-{recipe.id}.log")
    installed = find_python(recipe, home)
    if installed is None:
        raise ToolMissing(f"{recipe.name} was installed but cannot be read back from {home.name}/: install it again")
    return installed


def _build(recipe: Recipe, part: Path, workshop: Workshop, log: Path) -> None:
    artifact = _artifact(recipe)
    lock = part / "requirements.lock"
    lock.write_bytes(recipe.files[artifact.requirements])
    program = str(workshop.uv or _own_uv())
    quiet = ("--color", "never", "--no-progress")
    # Relocatable: built beside its place and renamed into it, and it still runs when the whole folder is moved.
    make = (program, "venv", *quiet, "--relocatable", "--python", _interpreter(artifact), str(part / "env"))
    sync = (program, "pip", "sync", *quiet, "--require-hashes", "--compile-bytecode")
    where = ("--python", str(part / "env" / "bin" / "python"), str(lock))
    what = f"installing {recipe.name}"
    run_step(workshop, Step(f"{what}: making its environment", make, part, _VENV_DEADLINE_S), log)
    run_step(workshop, Step(f"{what}: installing its packages", (*sync, *where), part, _SYNC_DEADLINE_S), log)
    _commit(artifact, part, hashlib.sha256(lock.read_bytes()).hexdigest())


def _commit(artifact: PythonArtifact, part: Path, lock_sha256: str) -> None:
    found = _installed_version(part / "env", artifact.package)
    if found != artifact.version:
        raise ToolMissing(
            f"{artifact.package} {found or 'is absent'} in the environment that uv made; expected {artifact.version}"
        )
    script = part / "env" / "bin" / artifact.program
    if not script.is_file():
        raise ToolMissing(f"{artifact.package} {found} has no program {artifact.program}: mend `artifact.program`")
    facts = ToolFacts(name=artifact.package, version=found, sha256=lock_sha256, source="python")
    write_marker(part, InstallMarker(tool=facts, program=f"env/bin/{artifact.program}", python="env/bin/python"))


def _installed_version(environment: Path, package: str) -> str | None:
    paths = [str(path) for path in environment.glob("lib/python*/site-packages")]
    found = importlib.metadata.distributions(name=package, path=paths)
    return next((distribution.version for distribution in found), None)


def _artifact(recipe: Recipe) -> PythonArtifact:
    if not isinstance(recipe.artifact, PythonArtifact):
        raise TypeError(f"{recipe.id} is no Python gateway")
    return recipe.artifact


def _folder(recipe: Recipe, artifact: PythonArtifact, home: Path) -> Path:
    """Its place: named for what decides what is installed, so that a new note does not install it anew."""
    deciding = (_WAY, artifact.python, artifact.package, artifact.version, artifact.program, platform.machine())
    key = hashlib.sha256("\0".join(deciding).encode() + recipe.files[artifact.requirements]).hexdigest()
    return home / "gateways" / f"{recipe.id}-{key[:12]}"


def _interpreter(artifact: PythonArtifact) -> str:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return sys.executable if artifact.python == own else artifact.python


def _own_uv() -> Path:
    try:
        return Path(uv.find_uv_bin())
    except FileNotFoundError:
        raise ToolMissing(
            "uv, which comes with Weighbridge, has no program here: install Weighbridge again with pip"
        ) from None
