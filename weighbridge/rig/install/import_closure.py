"""What a program of ours is made of: its modules, all that they import, and the packages of others among it.

Imports are followed in the syntax trees, without importing anything. The standard library is left out: Python itself
is a tool of every campaign.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from weighbridge.rig.install.identity import FileSet


def import_closure(programs: Iterable[Path]) -> FileSet:
    """Return the files of these programs, each a Python file or a folder of them, with what they import.

    All lie in packages of one folder. Modules that are imported by any line count, those of other projects with
    their whole package.
    """
    left = [file for program in programs for file in _python_files(program)]
    root = _root_of(left[0])
    ours: dict[str, Path] = {}
    others: dict[str, Path] = {}
    while left:
        file = left.pop()
        name = file.relative_to(root).as_posix()
        if name in ours:
            continue
        ours[name] = file
        for module in _imported(file, root):
            found = list(_modules(module, root))
            left += found
            if not found:
                others |= _package_of(module.partition(".")[0])
    return FileSet({**ours, **others})


def _python_files(program: Path) -> list[Path]:
    return sorted(program.rglob("*.py")) if program.is_dir() else [program]


def _root_of(file: Path) -> Path:
    """Return the folder that holds the outermost package of a file."""
    folder = file.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def _imported(file: Path, root: Path) -> Iterator[str]:
    """Yield the absolute name of every module that a file may import, and of each name that may be a module."""
    inside = file.relative_to(root).parent.parts
    for node in ast.walk(ast.parse(file.read_bytes(), file.name)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(inside[: len(inside) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (package, node.module) if part)
            yield module
            yield from (f"{module}.{one.name}" for one in node.names)


def _modules(module: str, root: Path) -> Iterator[Path]:
    """Yield the files that importing a module of ours runs: its own and those of the packages above it."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:count])
        for file in (place / "__init__.py", place.with_suffix(".py")):
            if file.is_file():
                yield file


def _package_of(name: str) -> dict[str, Path]:
    """Return where a package of another project lies, by its name; nothing for the standard library."""
    if name in sys.stdlib_module_names:
        return {}
    spec = importlib.util.find_spec(name)
    if spec is None:
        return {}
    places = list(spec.submodule_search_locations or ())
    place = Path(places[0]) if places else Path(spec.origin) if spec.origin else None
    return {} if place is None else {name: place}
