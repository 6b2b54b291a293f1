"""Who may import whom, where import-linter does not look: mocks, the front door, single modules."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*CHECKOUT.glob("weighbridge/**/*.py"), *CHECKOUT.glob("mocks/**/*.py")])


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def _of(names: set[str], package: str) -> set[str]:
    return {name for name in names if name == package or name.startswith(package + ".")}


def test_there_is_something_to_check() -> None:
    """The rules below look at real files."""
    assert len(SOURCES) > 30


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_mocks_and_package_never_import_each_other(path: Path) -> None:
    """Mocks are met over HTTP only."""
    other = "weighbridge" if "mocks" in path.relative_to(CHECKOUT).parts[:1] else "mocks"

    assert not _of(_imports(path), other)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_environment_is_read_at_the_front_door_only(path: Path) -> None:
    """`os.environ` appears in the front door alone; everything else is told."""
    if path.is_relative_to(CHECKOUT / "weighbridge" / "tasks"):
        return
    uses = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in ("environ", "getenv", "environb")
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    ]

    assert not uses, f"{path}: reads the environment in lines {uses}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_no_shell(path: Path) -> None:
    """Nothing is run through a shell."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword) and node.arg == "shell":
            assert isinstance(node.value, ast.Constant), f"{path}:{node.value.lineno}"
            assert node.value.value is False, f"{path}:{node.value.lineno}"
        if isinstance(node, ast.Attribute):
            assert (
                node.attr not in ("system", "popen") or not isinstance(node.value, ast.Name) or node.value.id != "os"
            )
