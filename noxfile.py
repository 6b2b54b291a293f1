#!/usr/bin/env python3
# /// script
# dependencies = ["nox>=2025.5.1"]
# ///
"""Sessions for developers and CI. A bare `nox` runs lint, types and tests; no session runs a benchmark."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_external_run = True
nox.options.default_venv_backend = "virtualenv"

UNIT = ("tests/unit", "tests/contract", "tests/golden")
COMPONENT = ("tests/component",)
PROJECT = nox.project.load_toml("pyproject.toml")


def _install(session: nox.Session, *groups: str) -> None:
    """Install the project in editable form with its dependency groups."""
    session.install("-e", ".", *(name for group in groups for name in PROJECT["dependency-groups"][group]))


def _pytest(session: nox.Session, markers: str, *options: str, within: Sequence[str]) -> None:
    """Run the tests with these markers below some folders; what is picked by hand need not be among them."""
    picked = session.posargs or within
    session.run("pytest", "-m", markers, *options, *picked, success_codes=[0, 5] if session.posargs else [0])


@nox.session
def lint(session: nox.Session) -> None:
    """Style, import rules and formatting."""
    _install(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Types, strict."""
    _install(session, "types")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Unit, contract and golden tests in parallel, then small campaigns one at a time; no tool from outside."""
    _install(session, "test")
    others = "not component and not campaign and not real and not browser and not unprivileged"
    _pytest(session, others, "-n", "2", within=UNIT)
    _pytest(session, "component", within=COMPONENT)


@nox.session(default=False)
def campaigns(session: nox.Session) -> None:
    """Run the longer campaigns one at a time, with stand-ins for the tools from outside."""
    _install(session, "test")
    _pytest(session, "campaign", within=COMPONENT)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Rewrite the parts of docs/ that are made from the code. `-- --check` only names stale ones."""
    _install(session)
    session.run("python", "docs/generate.py", *session.posargs)


@nox.session(default=False)
def real(session: nox.Session) -> None:
    """Run the tests with real tools: oha, wrk, LiteLLM. `-- --require-tools` turns a skip into a failure."""
    _install(session, "test")
    session.run("pytest", "-m", "real", *session.posargs)


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Test the rendered site in Chromium."""
    _install(session, "test")
    session.run("pytest", "-m", "browser", *session.posargs)


@nox.session(default=False)
def unprivileged(session: nox.Session) -> None:
    """Run a whole campaign as a user who is not root, from a copy of the tree."""
    _install(session, "test")
    session.run("pytest", "-m", "unprivileged", *session.posargs)


@nox.session(default=False)
def bench_self(session: nox.Session) -> None:
    """Weighbridge weighed by itself: ratios against other servers and clients, never a timed test."""
    _install(session, "bench")
    session.run("python", "-m", "benchmarks.run", *session.posargs)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Wheel and source archive in dist/."""
    session.install("build")
    shutil.rmtree(Path("dist"), ignore_errors=True)
    session.run("python", "-m", "build")
