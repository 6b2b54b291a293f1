"""The clean environment of a child, and the throw-away folders that it needs.

Nothing of the caller's environment gets in but the search path: variables such as `PYTHONDONTWRITEBYTECODE` or
`MALLOC_*` change what is measured.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from weighbridge.errors import StoreError
from weighbridge.rig.tree.process_tree import TAG_VARIABLE

_OUTPUT_LIMIT_BYTES = 256 * 1024 * 1024
_PRIVATE = 0o600


class Scratch:
    """Folders under `root`, one for each child, removed with it."""

    def __init__(self, root: Path, search_path: str) -> None:
        self._root = root
        self._search_path = search_path

    def environment(self, tag: str, declared: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment of a child: PATH, HOME, LANG, TMPDIR, what is declared, and our tag.

        What is declared may replace the first four, never the tag.
        """
        base = {
            "PATH": self._search_path,
            "HOME": str(self.folder(tag, "home")),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.folder(tag, "tmp")),
        }
        return {**base, **declared, TAG_VARIABLE: tag}

    def folder(self, tag: str, name: str) -> Path:
        """Return a folder of that child's own, made when it is not there. Raises StoreError when that fails."""
        folder = self._of(tag) / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        return folder

    def remove(self, tag: str) -> None:
        """Remove that child's folders."""
        shutil.rmtree(self._of(tag), ignore_errors=True)

    def remove_all(self) -> None:
        """Remove every child's folders."""
        shutil.rmtree(self._root, ignore_errors=True)

    def _of(self, tag: str) -> Path:
        return self._root / tag.rpartition(".")[2]


def write_private(path: Path, data: bytes) -> None:
    """Write a file of `data` that only its owner may read. Raises StoreError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=_PRIVATE)
        path.write_bytes(data)
    except OSError as error:
        raise unwritable(path, error) from error


def read_output(path: Path) -> bytes:
    """Return what a program printed, up to 256 MiB; empty when the file has gone."""
    try:
        with path.open("rb") as file:
            return file.read(_OUTPUT_LIMIT_BYTES)
    except OSError:
        return b""


def unwritable(path: Path, error: OSError) -> StoreError:
    """Return the error that says why a file of ours cannot be written and what to do."""
    return StoreError(f"{path} cannot be written: {error.strerror or error}; make room, or make the folder writable.")
