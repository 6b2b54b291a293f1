"""What a program of ours is made of: no module that it loads is left out of its digest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from weighbridge import resources
from weighbridge.load.drivers import DRIVERS, OF_ROLE
from weighbridge.rig.install.bundled import mocks_identity, script_facts
from weighbridge.rig.install.identity import FileIdentity, FileSet
from weighbridge.rig.install.import_closure import import_closure

PROGRAMS = {"probe": DRIVERS["probe"].program, "open_streams": OF_ROLE["open_streams"].program}
MODULES = {"probe": "weighbridge.load.probe.program", "open_streams": "weighbridge.load.probe.stream_opener"}
MOCKS = ("mocks.provider", "mocks.control_plane", "mocks.gateway", "mocks.gateway.faulty", "mocks.neighbour")

LOADED = """
import importlib, json, pathlib, sys
begun = set(sys.modules)  # what an environment loads into every Python is no part of a program
importlib.import_module(sys.argv[1])
files = [getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if name not in begun]
print(json.dumps([str(pathlib.Path(file).resolve()) for file in files if file]))
"""


def loaded_by(module: str) -> set[Path]:
    """Files in our folder that importing this module loads."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, module], cwd=resources.root(), capture_output=True, text=True, check=True
    )
    ours = {path for path in map(Path, json.loads(done.stdout)) if path.is_relative_to(resources.root())}
    assert ours
    return ours


def files_of(files: FileSet) -> set[Path]:
    """Every file of a set."""
    return {Path(path).resolve() for _, path in files.files()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_that_a_program_loads_is_in_its_closure(name: str) -> None:
    """No module of ours that is loaded by the probe or the stream opener is missing."""
    program = PROGRAMS[name]
    assert isinstance(program, Path)

    missing = loaded_by(f"{MODULES[name]}.__main__") - files_of(import_closure([program]))

    assert missing == set()


def test_all_that_a_mock_loads_is_in_the_mocks_closure() -> None:
    """The same for every mock that can be started."""
    known = files_of(mocks_identity().files)
    for module in MOCKS:
        assert loaded_by(module) - known == set(), module


@pytest.mark.parametrize("name", PROGRAMS)
def test_packages_of_others_are_in_it_whole(name: str) -> None:
    """The loop and the parser that time every answer count as well; Python's own library does not."""
    program = PROGRAMS[name]
    assert isinstance(program, Path)

    places = import_closure([program]).places

    assert {"uvloop", "httptools"} <= set(places)
    assert not {"json", "asyncio", "weighbridge.judge"} & set(places)


def project(folder: Path) -> Path:
    """A package whose program imports one module at its start, one late, one from beside it, and a whole package."""
    texts = {
        "ours/__init__.py": "",
        "ours/program/__init__.py": "",
        "ours/program/__main__.py": "from ours import first\nfrom . import beside\nimport ours.deep.module\n",
        "ours/program/beside.py": "",
        "ours/first.py": "def later():\n    from ours.second import name\n    return name\n",
        "ours/second.py": "from ours.deep import shown as name\n",
        "ours/deep/__init__.py": "shown = 1\n",
        "ours/deep/module.py": "import json, nowhere_at_all\n",
        "ours/stranger.py": "",
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "ours" / "program"


def test_a_change_of_any_file_that_is_imported_changes_the_digest(tmp_path: Path) -> None:
    """At the start, late, relative, through a package: each counts, and a module that nothing imports does not."""
    program = project(tmp_path)
    before = FileIdentity.read(import_closure([program]))
    assert sorted(before.states) == [
        "ours/__init__.py",
        "ours/deep/__init__.py",
        "ours/deep/module.py",
        "ours/first.py",
        "ours/program/__init__.py",
        "ours/program/__main__.py",
        "ours/program/beside.py",
        "ours/second.py",
    ]
    for name in before.states:
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(f"{text}# more\n")
        assert FileIdentity.read(import_closure([program])).sha256 != before.sha256, name
        (tmp_path / name).write_text(text)

    (tmp_path / "ours" / "stranger.py").write_text("# more\n")
    assert FileIdentity.read(import_closure([program])).sha256 == before.sha256


def test_a_script_of_ours_is_known_by_its_bytes(tmp_path: Path) -> None:
    """Another line in what wrk runs is another digest."""
    script = tmp_path / "schedule.lua"
    script.write_text("-- one\n")
    before = script_facts("wrk script", script)
    script.write_text("-- two\n")

    assert script_facts("wrk script", script).sha256 != before.sha256
