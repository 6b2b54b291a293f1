"""Python gateways: an environment of their own, installed by uv from a hash-locked list, byte-compiled.

Every file is digested when it is installed, and compared with that whenever the environment is looked for.
Byte code is compiled at the install, because a gateway that compiles itself at every start is slower to get ready by
a factor of two to five, and its first requests with it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path

import uv

from weighbridge.errors import ToolMissing
from weighbridge.matrix.artifacts import PythonArtifact
from weighbridge.matrix.recipe import Recipe
from weighbridge.matrix.written_files import matcher
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import (
    FilesChanged,
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
from weighbridge.rig.install.identity import ENVIRONMENT, FileIdentity, FileSet, difference, facts_of

_VENV_DEADLINE_S = 600.0
_SYNC_DEADLINE_S = 3600.0
# Raised when the way of installing changes, so that environments of the old way are not taken for new ones.
_WAY = "uv-2"


def find_python(recipe: Recipe, home: Path) -> Installed | None:
    """Return the environment of a Python gateway, None when it is not installed, or not whole.

    Reads every file of it. Raises FilesChanged where one is not what was installed.
    """
    folder = _folder(recipe, _artifact(recipe), home)
    marker = read_marker(folder)
    if marker is None or marker.program is None or marker.python is None:
        return None
    identity = FileIdentity.read(FileSet({ENVIRONMENT: folder / ENVIRONMENT}, recipe.writes))
    is_written = matcher(recipe.writes)
    then = {name: digest for name, digest in marker.files.items() if not is_written(name)}
    found = difference(then, identity.digests)
    if found is not None:
        raise FilesChanged(
            f"{recipe.name} is not what was installed: {found}; `invoke install --only {recipe.id}` makes it anew, "
            "and what it writes itself belongs under `writes` of its recipe"
        )
    return Installed(
        program=folder / marker.program,
        python=folder / marker.python,
        facts=marker.tool.changed(**facts_of(identity)),
        identity=identity,
    )


def install_python(recipe: Recipe, home: Path, workshop: Workshop) -> Installed:
    """Return the environment of a Python gateway, installed unless it is there.

    Raises ToolMissing when it cannot be installed, FilesChanged where it was changed since and is not to be mended.
    That the list has hashes and pins what the recipe says was checked when the recipe was read; uv checks the hashes.
    """
    artifact = _artifact(recipe)
    if (installed := _whole(recipe, home, workshop)) is not None:
        return installed
    with exclusive(home, workshop.report):
        if (installed := _whole(recipe, home, workshop)) is not None:
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


def _whole(recipe: Recipe, home: Path, workshop: Workshop) -> Installed | None:
    """Return what is installed; None where it is to be installed, anew if it was changed and is to be mended."""
    try:
        return find_python(recipe, home)
    except FilesChanged as error:
        if not workshop.mends:
            raise
        workshop.report(str(error).partition(";")[0])
        return None


def _build(recipe: Recipe, part: Path, workshop: Workshop, log: Path) -> None:
    artifact = _artifact(recipe)
    lock = part / "requirements.lock"
    lock.write_bytes(recipe.files[artifact.requirements])
    program = str(workshop.uv or _own_uv())
    quiet = ("--color", "never", "--no-progress")
    # Relocatable: built beside its place and renamed into it, and it still runs when the whole folder is moved.
    make = (program, "venv", *quiet, "--relocatable", "--python", _interpreter(artifact), str(part / ENVIRONMENT))
    # Copies: a file that is linked to uv's cache changes with every other environment that has it.
    sync = (program, "pip", "sync", *quiet, "--require-hashes", "--compile-bytecode", "--link-mode", "copy")
    where = ("--python", str(part / ENVIRONMENT / "bin" / "python"), str(lock))
    what = f"installing {recipe.name}"
    run_step(workshop, Step(f"{what}: making its environment", make, part, _VENV_DEADLINE_S), log)
    run_step(workshop, Step(f"{what}: installing its packages", (*sync, *where), part, _SYNC_DEADLINE_S), log)
    _commit(artifact, part, FileIdentity.read(FileSet({ENVIRONMENT: part / ENVIRONMENT})))


def _commit(artifact: PythonArtifact, part: Path, identity: FileIdentity) -> None:
    packages = [str(path) for path in (part / ENVIRONMENT).glob("lib/python*/site-packages")]
    found = next((one.version for one in distributions(name=artifact.package, path=packages)), None)
    if found != artifact.version:
        raise ToolMissing(
            f"{artifact.package} {found or 'is absent'} in the environment that uv made; expected {artifact.version}"
        )
    if (strange := _strange_file(part, packages, identity.digests)) is not None:
        raise ToolMissing(f"{strange} is not the file of its package: run `uv cache clean`, then install again")
    script = part / ENVIRONMENT / "bin" / artifact.program
    if not script.is_file():
        raise ToolMissing(f"{artifact.package} {found} has no program {artifact.program}: mend `artifact.program`")
    marker = InstallMarker(
        tool=ToolFacts(name=artifact.package, version=found, source="python", **facts_of(identity)),
        program=f"{ENVIRONMENT}/bin/{artifact.program}",
        python=f"{ENVIRONMENT}/bin/python",
        files=identity.digests,
    )
    write_marker(part, marker)


def _strange_file(part: Path, packages: Sequence[str], digests: Mapping[str, str]) -> str | None:
    """Name a file that is not what its package lists: uv takes unpacked files of its cache as they are there."""
    for one in distributions(path=list(packages)):
        for file in one.files or ():
            if file.hash is None or file.hash.mode != "sha256":
                continue
            name = os.path.relpath(str(one.locate_file(file)), part)
            if digests.get(name) != base64.urlsafe_b64decode(f"{file.hash.value}=").hex():
                return name
    return None


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
