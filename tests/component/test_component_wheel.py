"""The wheel, installed where nothing else is: a foreign project measures a gateway of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import uv

from tests.component.project import (
    CHECKOUT,
    FAKES,
    MATRIX,
    Project,
    Ran,
    names_of_this_machine,
    stored_bytes,
)

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(400)]

CELLS = [
    f"{gateway}.none.work.{mode}.clients-2" for gateway in ("direct", "passthrough") for mode in ("plain", "stream")
]
IMPORTED = "import weighbridge; print(weighbridge.__file__)"


def _uv(*words: str) -> None:
    done = subprocess.run([uv.find_uv_bin(), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the wheel in it, and nothing but what the wheel asks for."""
    folder = tmp_path_factory.mktemp("wheel")
    _uv("build", "--quiet", "--wheel", "--out-dir", str(folder / "dist"), str(CHECKOUT))
    _uv("venv", "--quiet", str(folder / "venv"))
    wheels = list((folder / "dist").glob("*.whl"))
    assert len(wheels) == 1
    _uv("pip", "install", "--quiet", "--python", str(folder / "venv"), str(wheels[0]))
    return folder / "venv"


@pytest.fixture(scope="module")
def measured(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ran]:
    """A campaign of a foreign folder with its own recipe, matrix and program."""
    project = Project(tmp_path_factory.mktemp("foreign") / "project")
    project.python = str(environment / "bin" / "python")
    project.add_program("passthrough", (FAKES / "passthrough").read_text())
    shutil.copytree(FAKES / "recipes", project.folder / "gateways")
    project.matrix(
        subject="passthrough",
        gateways=["passthrough"],
        recipes=["gateways"],
        modes=["plain", "stream"],
        loads={"clients": MATRIX["loads"]["clients"]},
        accept={**MATRIX["accept"], "attempts_per_run": 3},
    )
    ran = project.invoke("bench")
    project.assert_nothing_left()
    return project, ran


def test_the_package_is_the_wheels(measured: tuple[Project, Ran], environment: Path) -> None:
    """What is run is the installed package with mocks and templates inside, not the checkout."""
    project, _ = measured
    ran_python = subprocess.run(
        [project.python, "-I", "-c", IMPORTED], cwd=project.folder, capture_output=True, text=True, check=True
    )
    package = Path(ran_python.stdout.strip()).parent
    assert package.is_relative_to(environment)
    assert (package / "_data" / "mocks" / "provider" / "__main__.py").is_file()
    assert (package / "_data" / "templates" / "gateways" / "direct" / "gateway.yaml").is_file()


def test_a_foreign_gateway_is_weighed(measured: tuple[Project, Ran]) -> None:
    """With two lines of Python and a recipe of its own, a gateway that we never saw is valid in both modes."""
    project, ran = measured
    project.ends_well(ran)
    assert len((project.folder / "tasks.py").read_text().split("\n\n")) == 2
    assert sorted(project.cells()) == sorted(CELLS)
    page = Path(re.findall(r"^Page: +(.+)$", ran.out, re.MULTILINE)[-1])
    assert "Pass-through" in page.read_text()


def test_the_recipe_is_kept_with_the_campaign(measured: tuple[Project, Ran]) -> None:
    """The recipe that was used lies in the campaign, byte for byte."""
    project, _ = measured
    kept = dict(stored_bytes(project.campaign / "gateways" / "passthrough"))
    assert kept == dict(stored_bytes(FAKES / "recipes" / "passthrough"))


def test_what_a_gateway_prints_is_kept_without_secrets(measured: tuple[Project, Ran]) -> None:
    """A gateway that prints its keys and folders into its log does not get them into records or pages."""
    project, _ = measured
    folder = project.attempt("passthrough.none.work.plain.clients-2")
    log = (folder / "gateway-log-tail.txt").read_text()
    assert "Bearer [secret]" in log
    assert '"provider_key": "[secret]", "machine_token": "[secret]"' in log
    assert (
        '"provider_key": "[secret]", "machine_token": "[secret]"' in (folder / "config/passthrough.json").read_text()
    )
    key = re.compile(rb"sk-[0-9a-f]{16}|vdt_[0-9a-f]{16}")
    needles = [os.fsencode(project.folder), *(name.encode() for name in names_of_this_machine())]
    found = [
        (name, needle)
        for name, data in stored_bytes(project.results)
        for needle in [*key.findall(data), *needles]
        if needle in data
    ]
    assert not found
