"""A matrix file as a checked document that knows where everything in it stands.

It reads the file and looks whether its folders exist; it starts nothing and knows no gateway.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weighbridge.errors import InputError, Place
from weighbridge.matrix.consistency import check_matrix
from weighbridge.matrix.drivers import Drivers
from weighbridge.matrix.estimate import Waits
from weighbridge.matrix.explain import validated, written_path
from weighbridge.matrix.model import IDLE_LOOK_S, QUICK_IDLE_LOOK_S, RUNS_LIMIT, Matrix
from weighbridge.matrix.suggest import listed, nearest
from weighbridge.matrix.yamltext import KeyPath, YamlText, read_yaml

# What a quick run may not replace: they belong to the file.
_FIXED = ("schema", "quick", "recipes")
DEFAULT_STATE = Path(".weighbridge") / "state"


@dataclass(frozen=True)
class LoadedMatrix:
    """A matrix with the file it came from, byte for byte."""

    path: Path
    text: bytes = field(repr=False)
    matrix: Matrix
    source: YamlText = field(repr=False)
    drivers: Drivers = field(repr=False)
    # Key paths that were written below `quick:`.
    origin: Mapping[KeyPath, KeyPath] = field(default_factory=dict, repr=False)
    quick: bool = False

    @property
    def sha256(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.text).hexdigest()

    @property
    def folder(self) -> Path:
        """Folder that paths of the matrix are read from."""
        return self.path.parent

    @property
    def idle_look_s(self) -> float:
        """Seconds that idle use is looked at before and after each visit."""
        asked_s = self.matrix.idle.gateway_s
        if asked_s is None:
            return QUICK_IDLE_LOOK_S if self.quick else IDLE_LOOK_S
        return asked_s

    @property
    def waits(self) -> Waits:
        """What is waited for beside windows."""
        return Waits(self.matrix.idle.quiet_s, self.idle_look_s, self.matrix.warmup)

    def place(self, keypath: str | KeyPath) -> Place:
        """Where a key path such as `loads.rate.per_second[2]` stands; its nearest parent where it is a default."""
        path = parsed_path(keypath) if isinstance(keypath, str) else keypath
        return self.source.place(written_path(path, self.origin))

    def state_folder(self, disk: str) -> Path:
        """Folder of a disk: the existing one that the matrix names, or `.weighbridge/state` beside it."""
        return _state_folder(self.folder, self.matrix.disks[disk].path)

    def recipe_folders(self) -> tuple[Path, ...]:
        """Folders of `recipes:`."""
        return tuple((self.folder / name).resolve() for name in self.matrix.recipes)

    def override(self, *, runs: int | None = None, driver: str | None = None) -> LoadedMatrix:
        """Return the same matrix with what `--runs` and `--driver` replace; InputError for what they may not be."""
        changes: dict[str, object] = {}
        if runs is not None:
            if not 1 <= runs <= RUNS_LIMIT:
                raise InputError(f"--runs: {runs:,} is out of range", expected=f"expected 1 to {RUNS_LIMIT:,}")
            changes["runs"] = runs
        if driver is not None:
            if driver not in self.drivers:
                expected = f"expected {listed(self.drivers)}"
                near = nearest(driver, self.drivers)
                raise InputError(f"--driver: {driver!r} cannot be selected", expected=expected, suggestion=near)
            changes["driver"] = driver
        return replace(self, matrix=self.matrix.model_copy(update=changes))


def read_matrix(path: Path, drivers: Drivers, *, quick: bool = False) -> LoadedMatrix:
    """Read the matrix in the file `path`, with what its `quick:` section replaces when `quick` is asked for.

    `drivers` are those that it may name. Both readings are always checked, so that a fault in `quick:` is found by
    any command. Raises InputError with file, line, column and key path.
    """
    text = _bytes(path)
    source = read_yaml(path, text)
    data = source.data
    if not isinstance(data, dict):
        problem = "is empty" if data is None else "is no mapping"
        raise InputError(
            problem, place=Place(path, 1, 1), expected="expected keys such as schema, gateways and loads"
        )
    full = LoadedMatrix(path, text, validated(Matrix, data, source, context=drivers), source, drivers)
    check_matrix(full.matrix, full.place)
    _check_folders(full)
    if "quick" not in data:
        if quick:
            expected = "expected keys that a quick run replaces, such as quick: {runs: 1, grade: smoke}"
            raise InputError("is missing", place=Place(path, key="quick"), expected=expected)
        return full
    merged, origin = _merged(data, source)
    found = validated(Matrix, merged, source, origin=origin, context=drivers)
    small = LoadedMatrix(path, text, found, source, drivers, origin, quick=True)
    check_matrix(small.matrix, small.place)
    _check_folders(small)
    return small if quick else full


def parsed_path(keypath: str) -> KeyPath:
    """Parts of a key path as people write it."""
    return tuple(
        int(number) if number else name for name, number in re.findall(r"([^.\[\]]+)(?![^\[]*\])|\[(\d+)\]", keypath)
    )


def _merged(data: dict[str, Any], source: YamlText) -> tuple[dict[str, Any], dict[KeyPath, KeyPath]]:
    """Return the data of the quick run, and which of its key paths were written below `quick:`."""
    merged = {key: value for key, value in data.items() if key != "quick"}
    origin: dict[KeyPath, KeyPath] = {}
    known = [field.alias or name for name, field in Matrix.model_fields.items()]
    replaceable = [key for key in known if key not in _FIXED]
    for key, value in data["quick"].items():
        if key not in known:
            raise InputError(
                "is no known key",
                place=source.place(("quick", key), at_key=True),
                expected=f"expected {listed(replaceable)}",
                suggestion=nearest(key, replaceable),
            )
        if key in _FIXED:
            place = source.place(("quick", key), at_key=True)
            raise InputError(
                "cannot be replaced by a quick run", place=place, expected="expected it outside of quick"
            )
        if key == "loads" and isinstance(value, dict) and isinstance(data.get("loads"), dict):
            merged["loads"] = _merged_loads(data["loads"], value, origin)
            continue
        merged[key] = value
        origin[(key,)] = ("quick", key)
    return merged, origin


def _merged_loads(base: dict[str, Any], quick: dict[str, Any], origin: dict[KeyPath, KeyPath]) -> dict[str, Any]:
    loads = dict(base)
    for kind, value in quick.items():
        if isinstance(value, dict) and isinstance(base.get(kind), dict):
            loads[kind] = base[kind] | value
            origin.update({("loads", kind, key): ("quick", "loads", kind, key) for key in value})
        else:
            loads[kind] = value
            origin["loads", kind] = ("quick", "loads", kind)
    return loads


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        near = _near_file(path)
        expected = "expected a matrix file; another one is given by --matrix FILE"
        raise InputError("does not exist", place=Place(path), expected=expected, suggestion=near) from None
    except IsADirectoryError:
        raise InputError("is a folder", place=Place(path), expected="expected a matrix file") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot be read ({reason})", place=Place(path), expected="expected a matrix file") from None


def _near_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix in {".yaml", ".yml"}]
    except OSError:
        return ""
    near = nearest(path.name, names)
    return str(path.parent / near) if near else ""


def _state_folder(folder: Path, path: str | None) -> Path:
    return (folder / (DEFAULT_STATE if path is None else Path(path))).resolve()


def _check_folders(loaded: LoadedMatrix) -> None:
    """Disks and recipe folders exist, and no two disks are one."""
    seen: dict[Path, str] = {}
    for name, disk in loaded.matrix.disks.items():
        folder = loaded.state_folder(name)
        keypath = ("disks", name, "path") if disk.path is not None else ("disks", name)
        if disk.path is not None and not folder.is_dir():
            _refuse_folder(folder, disk.path, loaded.place(keypath))
        if folder in seen:
            problem = f"is the same folder as the disk {seen[folder]}"
            raise InputError(problem, place=loaded.place(keypath), expected="expected a folder on another disk")
        seen[folder] = name
    for number, name in enumerate(loaded.matrix.recipes):
        if not (loaded.folder / name).is_dir():
            _refuse_folder(loaded.folder / name, name, loaded.place(("recipes", number)))


def _refuse_folder(folder: Path, written: str, place: Place) -> None:
    problem = f"{written!r} is a file" if folder.exists() else f"{written!r} does not exist"
    expected = "expected an existing folder (paths are read from the matrix file's folder"
    expected += "; ~ is not expanded)" if written.startswith("~") else ")"
    try:
        near = nearest(folder.name, [entry.name for entry in folder.parent.iterdir() if entry.is_dir()])
    except OSError:
        near = ""
    suggestion = str(Path(written).parent / near) if near and near != folder.name else ""
    raise InputError(problem, place=place, expected=expected, suggestion=suggestion)
