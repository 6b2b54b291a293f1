"""The gateway that is named is the one that runs: what is patched is not measured under the old name."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from tests.component.project import FAKES, MATRIX, Project

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(300)]

LOADS = {"clients": {"counts": [1], "requests": 20, "warmup": 4, "timeout": "5s"}}
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
CELL = "tiny.none.work.plain.clients-1"

# What a gateway does to its own files at every start, before it serves.
TOUCHES = {
    "nothing": "",
    "byte code": "write(here / '__pycache__' / 'other.pyc', 'x')",
    "a cache": "write(here / 'tiny_cache' / 'table', str(os.getpid()))",
    "an update": "write(here / 'tiny_rules.py', f'rules = {os.getpid()}')",
}
START = """import os, pathlib, runpy, sys
here = pathlib.Path(__file__).parent
def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
def main():
    {touch}
    runpy.run_path(str(here / "tiny_server.py"), run_name="__main__")
"""
RECIPE = """schema: weighbridge.gateway/1
name: Tiny
kind: product
artifact:
  kind: python
  requirements: requirements.lock
  python: "{minor}"
  package: tiny-gate
  version: "1.0"
  program: tiny
config:
  - {{template: tiny.json.j2, target: tiny.json}}
start: {{argv: ["{{program}}", "{{port}}", "{{upstream_url}}", "{{config_dir}}/tiny.json"]}}
ready: {{path: /healthz, within: 20s}}
serves: {{path: /v1/chat/completions, modes: [plain], headers: {{authorization: "Bearer {{client_key}}"}}}}
chains: {{none: {{}}}}
writes: ["env/**/tiny_cache/**"]
"""


def wheel_at(folder: Path, touch: str) -> str:
    """Write a wheel of a gateway that hands every request on; gives back its SHA-256."""
    info = "tiny_gate-1.0.dist-info"
    files = {
        "tiny_gate.py": START.format(touch=TOUCHES[touch] or "pass"),
        "tiny_server.py": (FAKES / "passthrough").read_text(),
        "tiny_rules.py": "rules = 0\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-gate\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntiny = tiny_gate:main\n",
    }
    digests = {name: hashlib.sha256(text.encode()).digest() for name, text in files.items()}
    lines = [
        f"{name},sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()},{len(files[name])}\n"
        for name, digest in digests.items()
    ]
    files[f"{info}/RECORD"] = "".join(lines) + f"{info}/RECORD,,\n"
    folder.mkdir()
    wheel = folder / "tiny_gate-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def with_tiny(project: Project, monkeypatch: pytest.MonkeyPatch, touch: str = "nothing", runs: int = 1) -> Project:
    """Give the project a Python gateway of its own, which uv installs from a folder beside it."""
    sha256 = wheel_at(project.folder / "wheels", touch)
    recipe = project.folder / "recipes" / "tiny"
    recipe.mkdir(parents=True)
    (recipe / "gateway.yaml").write_text(RECIPE.format(minor=MINOR))
    (recipe / "requirements.lock").write_text(f"tiny-gate==1.0 --hash=sha256:{sha256}\n")
    shutil.copy(FAKES / "recipes" / "passthrough" / "passthrough.json.j2", recipe / "tiny.json.j2")
    project.matrix(
        subject="tiny", gateways=["tiny"], recipes=["recipes"], loads=LOADS, runs=runs, driver="probe",
        accept={**MATRIX["accept"], "attempts_per_run": 2},
    )  # fmt: skip
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(project.folder / "wheels"))
    return project


def packages(project: Project) -> Path:
    """Site-packages of the installed gateway."""
    return next((project.folder / ".weighbridge" / "gateways").glob("tiny-*/env/lib/python*/site-packages"))


def test_a_gateway_patched_between_install_and_bench_is_unavailable(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """check, bench and the page name the file; install makes it anew, and then it is measured with its digest."""
    with_tiny(project, monkeypatch)
    project.invoke("install", "--only", "tiny").ends_with(0)
    module = packages(project) / "tiny_server.py"
    module.write_text(module.read_text().replace("65536", "65535"))
    sentence = "Tiny is not what was installed: "
    named = "site-packages/tiny_server.py was changed; `invoke install --only tiny` makes it anew"

    checked = project.invoke("check")
    patched = project.invoke("bench")
    cell = project.cells()[CELL]
    again = project.invoke("install", "--only", "tiny")
    shutil.rmtree(project.results)
    good = project.invoke("bench")

    checked.ends_with(0)
    assert sentence in checked.out
    assert named in checked.out
    patched.ends_with(3)
    assert cell["verdict"] == "unavailable"
    assert sentence in cell["reason"]["detail"]
    assert named in cell["reason"]["detail"]
    again.ends_with(0)
    assert sentence in again.err
    good.ends_with(0)
    assert project.cells()[CELL]["verdict"] == "valid"
    tool = next(one for one in project.summary()["provenance"]["gateways"] if one["id"] == "tiny")["tool"]
    assert tool["left_out"] == ["env/**/tiny_cache/**"]
    assert (
        tool["sha256"] != hashlib.sha256((project.folder / "recipes/tiny/requirements.lock").read_bytes()).hexdigest()
    )
    page = (project.results / "site" / "index.md").read_text()
    assert f"SHA-256 {tool['sha256']} of {tool['file_count']} files" in page


def test_a_gateway_that_changes_between_two_starts_is_unavailable(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that updates itself is another gateway at its next start: nothing is opened, nothing is tried again."""
    with_tiny(project, monkeypatch, "an update", runs=2)

    ran = project.invoke("bench")

    ran.ends_with(3)
    cell = project.cells()[CELL]
    assert (cell["verdict"], cell["runs_accepted"], cell["runs_attempted"]) == ("unavailable", 1, 2)
    assert cell["reason"]["detail"].startswith("Tiny is not what it was when the campaign began: env/lib/python3.")
    assert cell["reason"]["detail"].endswith("/site-packages/tiny_rules.py was changed")
    assert cell["response_ms"] == {"absent": "unavailable", "detail": ""}
    assert project.cells()["direct.none.work.plain.clients-1"]["verdict"] == "valid"


@pytest.mark.parametrize("touch", ["byte code", "a cache"])
def test_what_is_written_at_a_start_and_may_be_changes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, touch: str
) -> None:
    """Byte code, and a cache that the recipe lists under `writes`, leave it the gateway that was installed."""
    with_tiny(project, monkeypatch, touch, runs=2)

    project.invoke("bench").ends_with(0)

    cell = project.cells()[CELL]
    assert (cell["verdict"], cell["runs_accepted"]) == ("valid", 2)


def test_a_program_on_path_that_is_replaced_in_mid_campaign_is_unavailable(project: Project) -> None:
    """A program that somebody installs anew while it is measured is named, and the baseline stays valid."""
    text = (FAKES / "passthrough").read_text()
    program = project.add_program(
        "passthrough", text.replace("port, upstream", "open(__file__, 'a').write('#')\nport, upstream", 1)
    )
    shutil.copytree(FAKES / "recipes", project.folder / "recipes")
    project.matrix(
        subject="passthrough", gateways=["passthrough"], recipes=["recipes"], loads=LOADS, runs=2, driver="probe"
    )

    project.invoke("bench").ends_with(3)

    cell = project.cells()["passthrough.none.work.plain.clients-1"]
    assert (cell["verdict"], cell["runs_accepted"]) == ("unavailable", 1)
    assert (
        cell["reason"]["detail"] == "Pass-through is not what it was when the campaign began: passthrough was changed"
    )
    assert str(program) not in json.dumps(project.summary())
    assert os.access(program, os.X_OK)
