"""Who may import whom, where import-linter does not look: mocks, the front door, single modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.contract.texts import Text, hold, offenders, sources

BOTH = ("weighbridge", "mocks")


def foreign_imports(source: Text) -> Iterator[str]:
    """Yield imports of the package by a mock, and of a mock by the package."""
    other = "weighbridge" if source.name.startswith("mocks/") else "mocks"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            if name.partition(".")[0] == other:
                yield source.at(node.lineno, f"imports {name}")


def environment_reads(source: Text) -> Iterator[str]:
    """Yield readings of the environment outside the front door."""
    if source.name.startswith("weighbridge/tasks/"):
        return
    for node in ast.walk(source.tree):
        if _of_os(node, "environ", "environb", "getenv"):
            yield source.at(node.lineno, "reads the environment")


def shells(source: Text) -> Iterator[str]:
    """Yield whatever goes through a shell."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.keyword) and node.arg == "shell":
            if not isinstance(node.value, ast.Constant) or node.value.value is not False:
                yield source.at(node.value.lineno, "runs a shell")
        elif _of_os(node, "system", "popen"):
            yield source.at(node.lineno, "runs a shell")


def _of_os(node: ast.AST, *names: str) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "os" and any(one.name in names for one in node.names)
    return (
        isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    )


def test_mocks_and_package_never_import_each_other() -> None:
    """Mocks are met over HTTP only."""
    hold(foreign_imports, sources(*BOTH))


def test_environment_is_read_in_tasks_only() -> None:
    """`os.environ` appears in the front door alone; everything else is told."""
    hold(environment_reads, sources(*BOTH))


def test_no_shell() -> None:
    """Nothing is run through a shell."""
    hold(shells, sources(*BOTH))


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (foreign_imports, "mocks/x.py", "import weighbridge.units"),
        (foreign_imports, "weighbridge/rig/x.py", "from mocks.wire import duetimes"),
        (environment_reads, "weighbridge/rig/x.py", "import os\nhome = os.environ['HOME']"),
        (environment_reads, "weighbridge/rig/x.py", "from os import getenv"),
        (shells, "weighbridge/rig/x.py", "subprocess.run('ls', shell=True)"),
        (shells, "mocks/x.py", "subprocess.run('ls', shell=wanted)"),
        (shells, "mocks/x.py", "os.system('ls')"),
    ],
)
def test_an_offence_is_found_with_its_place(rule, name: str, text: str) -> None:
    """Each rule names file and line of what breaks it."""
    (found,) = offenders(rule, [Text(name, text)])

    assert found.startswith(f"{name}:{text.count(chr(10)) + 1}: ")


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (foreign_imports, "mocks/x.py", "from mocks.wire import duetimes\nimport mocks_of_others"),
        (environment_reads, "weighbridge/tasks/x.py", "import os\nhome = os.environ['HOME']"),
        (shells, "mocks/x.py", "subprocess.run(['ls'], shell=False)\nself.system()"),
    ],
)
def test_what_is_allowed_is_no_offence(rule, name: str, text: str) -> None:
    """The rules let pass what only looks alike."""
    assert offenders(rule, [Text(name, text)]) == []


def test_a_rule_that_looks_at_nothing_fails() -> None:
    """A folder that moved away does not make its rules hold."""
    assert offenders(shells, [])
