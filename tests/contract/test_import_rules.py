"""The import rules as the lint session holds them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

import pytest

from tests.contract.texts import CHECKOUT


def test_lint_session_runs_the_import_rules() -> None:
    """The session that holds the rules has not lost them."""
    lint = re.search(r"(?ms)^def lint\(.*?(?=^@nox)", (CHECKOUT / "noxfile.py").read_text(encoding="utf-8"))

    assert lint is not None
    assert '"lint-imports"' in lint[0]


def test_import_rules_hold() -> None:
    """No room imports one that it must not, by the very contracts of the lint session."""
    if importlib.util.find_spec("importlinter") is None:
        pytest.skip("import-linter is not installed here; the lint session runs it")
    program = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    ran = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"], cwd=CHECKOUT, capture_output=True, check=False, text=True
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 broken" in ran.stdout
