"""What runs under a name: the files that make it up, digested in full, and what has become of them since.

A digest is made of the installed files themselves, never of a list that they were once installed from. Files are
looked at again by their stamps, and only one whose stamp differs is read again. `__pycache__` and what a recipe lists
under `writes` are left out.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from weighbridge.errors import ToolMissing
from weighbridge.matrix.written_files import matcher

# What a Python environment is called in names of its files; it is also its folder where it is installed by us.
ENVIRONMENT = "env"

_LEFT_OUT = frozenset({"__pycache__"})
_MODULES = (".py", ".pyd", ".so")


@dataclass(frozen=True)
class FileSet:
    """Files that make up one thing: files, and folders with all below them, each by the name it has in sentences.

    `writes` are patterns of what is left out, over those names. `sources` are folders that somebody works in: there
    only Python modules and libraries count, and hidden folders do not.
    """

    places: Mapping[str, Path]
    writes: tuple[str, ...] = ()
    sources: Mapping[str, Path] = field(default_factory=dict)

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield name and path of every file; a link to a folder counts as a file and is not followed."""
        is_written = matcher(self.writes)
        for name, place in self.places.items():
            for file in _below(name, str(place)) if place.is_dir() else [(name, str(place))]:
                if not is_written(file[0]):
                    yield file
        for name, folder in self.sources.items():
            for file in _below(name, str(folder), hidden_too=False):
                if file[0].endswith(_MODULES) and not is_written(file[0]):
                    yield file


@dataclass(frozen=True)
class FileState:
    """A file as it was read; `stamp` is size in bytes, mtime and ctime in ns, inode and device."""

    sha256: str
    stamp: tuple[int, ...]


@dataclass(frozen=True)
class FileIdentity:
    """The files that make up a gateway or a tool, as they were when they were digested."""

    files: FileSet
    states: Mapping[str, FileState] = field(repr=False)

    @classmethod
    def read(cls, files: FileSet) -> Self:
        """Digest every file. Raises ToolMissing for one that cannot be read."""
        return cls(files, _read(files, {}))

    @property
    def sha256(self) -> str:
        """SHA-256 over names and digests of all files, sorted; that of the file itself where there is one alone."""
        if len(self.states) == 1 and not any(place.is_dir() for place in self.files.places.values()):
            return next(iter(self.states.values())).sha256
        total = hashlib.sha256()
        for name in sorted(self.states):
            total.update(f"{len(name.encode())}:{name}:{self.states[name].sha256}\n".encode())
        return total.hexdigest()

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of each file, by name."""
        return {name: state.sha256 for name, state in sorted(self.states.items())}

    def changed(self) -> str | None:
        """Tell which file is no longer the one that was digested; None while all are.

        Reads a file again only where its stamp is another one. Raises ToolMissing for one that cannot be read.
        """
        now = _read(self.files, self.states)
        return None if now == self.states else difference(self.digests, FileIdentity(self.files, now).digests)


def facts_of(identity: FileIdentity) -> dict[str, Any]:
    """Return what is recorded of an identity: fields of ToolFacts."""
    return {"sha256": identity.sha256, "file_count": len(identity.states), "left_out": identity.files.writes}


def difference(then: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """Name the first file that differs, such as `a/b.py was changed (and 2 more files)`; None where none does."""
    told = [
        *(f"{name} was changed" for name in then if name in now and then[name] != now[name]),
        *(f"{name} is gone" for name in then if name not in now),
        *(f"{name} was added" for name in now if name not in then),
    ]
    return _first_of(told)


def _first_of(told: Sequence[str]) -> str | None:
    if not told:
        return None
    more = len(told) - 1
    return told[0] + (f" (and {more} more file{'s' if more > 1 else ''})" if more else "")


def _below(name: str, folder: str, *, hidden_too: bool = True) -> Iterator[tuple[str, str]]:
    """Yield name and path of every file below a folder that is called `name`."""
    left = [(f"{name}/", folder)]
    while left:
        prefix, folder = left.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    yield prefix + entry.name, entry.path
                elif entry.name not in _LEFT_OUT and (hidden_too or not entry.name.startswith(".")):
                    left.append((f"{prefix}{entry.name}/", entry.path))


def _read(files: FileSet, known: Mapping[str, FileState]) -> dict[str, FileState]:
    """Return the state of every file, that of a `known` one where its stamp is the same."""
    states = {}
    for name, path in files.files():
        try:
            states[name] = _state(path, known.get(name))
        except FileNotFoundError:
            continue  # gone between the listing and the look
        except OSError as error:
            raise ToolMissing(f"{name} cannot be digested: {error.strerror}") from None
    return states


def _state(path: str, known: FileState | None) -> FileState:
    """Return the state of a file; a link that leads nowhere or to a folder counts as the text of the link."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a Path for each of ten thousand files costs as much as the look
    except OSError:
        return _state_of_other(path)
    stamp = _stamp(found)
    if known is not None and known.stamp == stamp:
        return known
    if not stat.S_ISREG(found.st_mode):
        return _state_of_other(path)
    with Path(path).open("rb") as file:
        return FileState(hashlib.file_digest(file, "sha256").hexdigest(), stamp)


def _state_of_other(path: str) -> FileState:
    found = Path(path).lstat()
    text = f"link to {Path(path).readlink()}" if stat.S_ISLNK(found.st_mode) else "no file"
    return FileState(hashlib.sha256(text.encode()).hexdigest(), _stamp(found))


def _stamp(seen: os.stat_result) -> tuple[int, ...]:
    return seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_dev
