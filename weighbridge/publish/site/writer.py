"""Putting a rendered site in its place: whole or not at all, and never over a file that is not ours.

Files are written into a temporary sibling and renamed. A list of our files (`weighbridge-site.json`) says what a
later call may replace and remove.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from weighbridge.errors import StoreError

LIST = "weighbridge-site.json"
_SCHEMA = "weighbridge.site/1"
_FRONT = "index.html"


def put(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files (path in the site → bytes) into `folder`; StoreError when one there is not ours or nothing fits."""
    try:
        folder = folder.resolve()
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder}: is not a folder; give another place for the site")
        with _sibling(folder) as fresh:
            _write(fresh, {**files, LIST: _list(files)})
            if folder.is_dir():
                _replace(fresh, folder, sorted(files))
            else:
                fresh.rename(folder)
    except OSError as error:
        raise StoreError(f"{folder}: the site could not be written ({error.strerror or error})") from error


@contextmanager
def _sibling(folder: Path) -> Iterator[Path]:
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=folder.parent))
    try:
        fresh.chmod(0o755)
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _list(files: Mapping[str, bytes] | list[str]) -> bytes:
    return (json.dumps({"schema": _SCHEMA, "files": sorted(files)}, indent=2) + "\n").encode()


def _replace(fresh: Path, folder: Path, names: list[str]) -> None:
    ours = _ours(folder)
    for name in names:
        if name not in ours and (folder / name).exists():
            raise StoreError(f"{folder / name}: was not made by Weighbridge; move it away or give another place")
    # The list first, with old and new names: a cut in the middle leaves nothing that a later call would not know.
    (fresh / "list").write_bytes(_list(sorted(ours | set(names))))
    (fresh / "list").replace(folder / LIST)
    for name in sorted(names, key=lambda name: name == _FRONT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).replace(folder / name)
    for name in sorted(ours - set(names)):
        (folder / name).unlink(missing_ok=True)
        _drop_empty((folder / name).parent, folder)
    (fresh / LIST).replace(folder / LIST)


def _ours(folder: Path) -> set[str]:
    try:
        read = json.loads((folder / LIST).read_bytes())
    except FileNotFoundError:
        return set()
    except ValueError as error:
        raise StoreError(f"{folder / LIST}: is damaged; remove the site's folder and render again") from error
    names = read.get("files") if isinstance(read, dict) else None
    if not isinstance(names, list):
        raise StoreError(f"{folder / LIST}: is damaged; remove the site's folder and render again")
    return {name for name in names if isinstance(name, str) and _inside(name, folder)}


def _inside(name: str, folder: Path) -> bool:
    path = PurePosixPath(name)
    plain = not path.is_absolute() and ".." not in path.parts and bool(path.parts)
    # A symlink in the way would lead a removal out of the site.
    return plain and os.path.realpath(folder / path.parent).startswith(str(folder))


def _drop_empty(parent: Path, folder: Path) -> None:
    if parent != folder and parent.is_dir() and not any(parent.iterdir()):
        parent.rmdir()
