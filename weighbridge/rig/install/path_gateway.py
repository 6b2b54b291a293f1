"""A gateway that the user has installed: found on PATH, with its version, its digest and the checkout it is run from.

The digest covers the program's file, the virtual environment that it stands in or is run by, and the Python modules
and libraries of what is installed there in place (`pip install -e`). Shared libraries of the system are left out.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from weighbridge.errors import ToolMissing
from weighbridge.matrix.artifacts import PathArtifact
from weighbridge.matrix.recipe import Recipe
from weighbridge.record.host import GitFacts, ToolFacts
from weighbridge.rig.install.atomic_install import Installed
from weighbridge.rig.install.identity import ENVIRONMENT, FileIdentity, FileSet, facts_of
from weighbridge.rig.machine.host import read_git
from weighbridge.rig.machine.one_shot import ask

_LONGEST_FIRST_LINE = 4096


def find_path_gateway(recipe: Recipe, environ: Mapping[str, str]) -> Installed:
    """Return the program on PATH. Raises ToolMissing when it is not there."""
    artifact = recipe.artifact
    if not isinstance(artifact, PathArtifact):
        raise TypeError(recipe.id)
    path_env = environ.get("PATH", "")
    found = shutil.which(artifact.program, path=path_env)
    if found is None:
        raise ToolMissing(f"{recipe.name} needs the program {artifact.program} on PATH, and it is not there")
    program = Path(found)
    environment = _environment_of(program)
    in_place = {} if environment is None else dict(_installed_in_place(environment))
    places = {artifact.program: program} | ({} if environment is None else {ENVIRONMENT: environment})
    identity = FileIdentity.read(FileSet(places, recipe.writes, in_place))
    facts = ToolFacts(
        name=artifact.program,
        version=_reported_version(artifact, found, path_env),
        source="path",
        git=_checkout([*in_place.values()] if environment else [program.resolve().parent], environ),
        **facts_of(identity),
    )
    return Installed(program=program, python=Path(sys.executable), facts=facts, identity=identity)


def _environment_of(program: Path) -> Path | None:
    """Return the virtual environment that a script stands in, or whose Python its first line names."""
    places = [program.resolve()]
    with program.open("rb") as file:
        first = file.readline(_LONGEST_FIRST_LINE).decode("utf-8", "replace")
    if first.startswith("#!") and (words := first[2:].split()):
        places.append(Path(words[0]))
    folders = (place.parent.parent for place in places)
    return next((folder for folder in folders if (folder / "pyvenv.cfg").is_file()), None)


def _installed_in_place(environment: Path) -> Iterator[tuple[str, Path]]:
    """Yield the folder of each package that is imported from where it is developed, by its name."""
    for note in sorted(environment.glob("lib/python*/site-packages/*.dist-info/direct_url.json")):
        try:
            told = json.loads(note.read_bytes())
            is_editable, url = told["dir_info"]["editable"], urlsplit(told["url"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        folder = Path(unquote(url.path))
        if is_editable and url.scheme == "file" and folder.is_dir():
            yield note.parent.name.partition("-")[0], folder


def _checkout(folders: list[Path], environ: Mapping[str, str]) -> GitFacts | None:
    """Return the state of the first of these folders that lies in a checkout; None where none does."""
    states = (read_git(folder, environ) for folder in folders)
    return next((state for state in states if state.commit is not None), None)


def _reported_version(artifact: PathArtifact, program: str, path_env: str) -> str | None:
    if not artifact.version_argv:
        return None
    argv = [word.replace("{program}", program) for word in artifact.version_argv]
    said = ask(argv, env={"PATH": path_env, "LANG": "C.UTF-8"})
    match = re.search(r"\d+(?:\.\d+)+[\w.+-]*", said.stdout + said.stderr) if said else None
    return match.group(0) if match else None
