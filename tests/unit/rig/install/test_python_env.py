"""Python gateways are installed by the real uv from a hash-locked list, whole or not at all.

The package is made here, so that no test needs a network.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import uv

from weighbridge.errors import InputError, ToolMissing
from weighbridge.matrix.catalogue import read_catalogue
from weighbridge.matrix.recipe import Recipe
from weighbridge.rig.install.atomic_install import FilesChanged, Installed, Workshop
from weighbridge.rig.install.gateway import find_gateway, obtain_gateway
from weighbridge.rig.install.python_env import find_python, install_python
from weighbridge.rig.processes.supervisor import Supervisor

RECIPE = """schema: weighbridge.gateway/1
name: Tiny
kind: product
artifact:
  kind: python
  requirements: requirements.lock
  python: "{minor}"
  package: Tiny_Gate
  version: "{version}"
  refused_versions: [6.6.6]
  program: {program}
start: {{argv: ["{{program}}"]}}
ready: {{path: /, within: 5s}}
serves: {{path: /, modes: [plain]}}
chains: {{none: {{}}}}
"""


def make_wheel(folder: Path, version: str = "1.0") -> str:
    """A wheel of `tiny-gate` with one program; gives back its SHA-256."""
    info = f"tiny_gate-{version}.dist-info"
    files = {
        "tiny_gate.py": "def main():\n    print('tiny')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tiny-gate\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntiny = tiny_gate:main\n",
    }

    def line(name: str, text: str) -> str:
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(text)}\n"

    files[f"{info}/RECORD"] = "".join(line(*item) for item in files.items()) + f"{info}/RECORD,,\n"
    wheel = folder / f"tiny_gate-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


class Bench:
    """A recipe folder, the wheel it pins, a home, and the real supervisor."""

    def __init__(self, tmp_path: Path, supervisor: Supervisor) -> None:
        self.wheels = tmp_path / "wheels"
        self.wheels.mkdir()
        self.folder = tmp_path / "recipes" / "tiny"
        self.folder.mkdir(parents=True)
        self.home = tmp_path / ".weighbridge"
        self.reported: list[str] = []
        # No network: the machine's own setting of where packages come from reaches uv through its environment.
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "UV_OFFLINE": "1",
            "UV_FIND_LINKS": str(self.wheels),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.shop = Workshop(supervisor, self.reported.append, self.environ)
        self.sha256 = make_wheel(self.wheels)

    def recipe(self, lock: str | None = None, version: str = "1.0", program: str = "tiny") -> Recipe:
        """The recipe, read from its folder."""
        minor = f"{sys.version_info.major}.{sys.version_info.minor}"
        (self.folder / "gateway.yaml").write_text(RECIPE.format(minor=minor, version=version, program=program))
        whole = f"tiny-gate==1.0 \\\n    --hash=sha256:{self.sha256}\n"
        (self.folder / "requirements.lock").write_text(whole if lock is None else lock)
        recipe = read_catalogue([self.folder.parent]).get("tiny")
        assert recipe is not None
        return recipe

    def remains(self) -> list[str]:
        """What lies in the folder of gateways."""
        place = self.home / "gateways"
        return sorted(entry.name for entry in place.iterdir()) if place.exists() else []


def is_running(pid: int) -> bool:
    """Whether a process is there and not only waits to be collected."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Everything that an install needs."""
    with Supervisor(tmp_path / "state", search_path=os.environ["PATH"]) as supervisor:
        yield Bench(tmp_path, supervisor)


def test_a_gateway_is_installed_byte_compiled_and_runs(bench: Bench) -> None:
    """Program, version and a digest of the files are there; byte code too, although the caller forbids it."""
    recipe = bench.recipe()
    installed = obtain_gateway(recipe, bench.home, bench.shop)
    assert installed.program is not None
    assert subprocess.run([installed.program], check=True, capture_output=True).stdout == b"tiny\n"
    assert (installed.facts.name, installed.facts.version, installed.facts.source) == ("Tiny_Gate", "1.0", "python")
    assert installed.identity is not None
    assert installed.facts.sha256 == installed.identity.sha256
    assert installed.facts.file_count == len(installed.identity.states)
    packages = installed.python.parent.parent / "lib"
    assert list(packages.rglob("tiny_gate.*.pyc"))
    assert find_gateway(recipe, bench.home, bench.environ) == installed


def test_a_second_install_is_a_look_at_the_files(bench: Bench) -> None:
    """Nothing is called any more: a uv that only fails does no harm."""
    recipe = bench.recipe()
    first = install_python(recipe, bench.home, bench.shop)
    broken = Workshop(bench.shop.runner, bench.reported.append, bench.environ, uv=Path("/bin/false"))
    count = len(bench.reported)
    assert install_python(recipe, bench.home, broken) == first
    assert len(bench.reported) == count


def test_a_new_note_does_not_install_anew_and_a_new_list_does(bench: Bench) -> None:
    """The place is named for what decides what is installed, not for the whole folder."""
    first = install_python(bench.recipe(), bench.home, bench.shop)
    (bench.folder / "NOTES.md").write_text("A note.")
    assert install_python(bench.recipe(), bench.home, bench.shop) == first
    lock = f"# made anew\ntiny-gate==1.0 --hash=sha256:{bench.sha256}\n"
    assert install_python(bench.recipe(lock), bench.home, bench.shop).program != first.program


def site_packages(installed: Installed) -> Path:
    """Where the packages of an environment lie."""
    return next(installed.python.parent.parent.glob("lib/python*/site-packages"))


def test_a_patched_file_makes_it_another_gateway(bench: Bench) -> None:
    """One changed module, and it is found no more by any way but the one that was asked to make it anew."""
    recipe = bench.recipe()
    module = site_packages(install_python(recipe, bench.home, bench.shop)) / "tiny_gate.py"
    good = module.read_text()
    module.write_text(good.replace("tiny", "tidy"))

    for look in (
        lambda: find_gateway(recipe, bench.home, bench.environ),
        lambda: obtain_gateway(recipe, bench.home, bench.shop),
    ):
        with pytest.raises(FilesChanged) as detected:
            look()
        sentence = str(detected.value)
        assert sentence.startswith("Tiny is not what was installed: env/lib/python3.")
        assert "/site-packages/tiny_gate.py was changed; `invoke install --only tiny` makes it anew" in sentence
        assert str(bench.home) not in sentence

    obtain_gateway(recipe, bench.home, replace(bench.shop, mends=True))
    assert module.read_text() == good
    assert find_gateway(recipe, bench.home, bench.environ).identity is not None


def test_byte_code_and_what_the_recipe_says_it_writes_are_no_change(bench: Bench) -> None:
    """A module compiled anew and a cache that the gateway fills leave it the gateway that was installed."""
    recipe = bench.recipe()
    before = install_python(recipe, bench.home, bench.shop)
    packages = site_packages(before)
    next(packages.rglob("tiny_gate.*.pyc")).write_bytes(b"other")
    assert find_python(recipe, bench.home) == before

    (packages / "tiny_cache").mkdir()
    (packages / "tiny_cache" / "table").write_text("1")
    with pytest.raises(FilesChanged, match="tiny_cache/table was added"):
        find_python(recipe, bench.home)
    with (bench.folder / "gateway.yaml").open("a") as file:
        file.write('writes: ["env/**/tiny_cache/**"]\n')
    known = read_catalogue([bench.folder.parent]).get("tiny")
    assert known is not None
    found = find_python(known, bench.home)
    assert found is not None
    assert found.facts.sha256 == before.facts.sha256
    assert found.facts.left_out == ("env/**/tiny_cache/**",)


def test_a_file_that_is_not_its_packages_own_is_not_installed(bench: Bench, tmp_path: Path) -> None:
    """Unpacked files in uv's cache may have been changed by whoever links to them: the package's own list decides."""
    dirty = tmp_path / "dirty-uv"
    dirty.write_text(
        f'#!/bin/sh\n"{uv.find_uv_bin()}" "$@" || exit\n[ "$1" = venv ] && exit\n'
        'while [ "$1" != --python ]; do shift; done\n'
        'find "$(dirname "$2")/../lib" -name tiny_gate.py -exec sed -i s/tiny/tidy/ {} +\n'
    )
    dirty.chmod(0o755)

    with pytest.raises(ToolMissing, match=r"site-packages/tiny_gate\.py is not the file of its package"):
        install_python(bench.recipe(), bench.home, replace(bench.shop, uv=dirty))
    assert bench.remains() == []


def test_nothing_that_is_installed_is_linked_to_a_cache(bench: Bench) -> None:
    """A file that another environment shares could be changed from there."""
    installed = install_python(bench.recipe(), bench.home, bench.shop)

    assert (site_packages(installed) / "tiny_gate.py").stat().st_nlink == 1


def test_it_still_runs_when_the_whole_folder_is_moved(bench: Bench) -> None:
    """A checkout that is moved keeps its gateways."""
    recipe = bench.recipe()
    install_python(recipe, bench.home, bench.shop)
    moved = bench.home.with_name("elsewhere")
    bench.home.rename(moved)
    installed = find_python(recipe, moved)
    assert installed is not None
    assert installed.program is not None
    assert subprocess.run([installed.program], check=True, capture_output=True).stdout == b"tiny\n"


def test_a_package_that_is_not_the_pinned_one_is_refused(bench: Bench) -> None:
    """A wheel whose digest differs is not installed, and nothing is left."""
    lock = f"tiny-gate==1.0 --hash=sha256:{'0' * 64}\n"
    with pytest.raises(ToolMissing, match="installing its packages ended with exit code"):
        install_python(bench.recipe(lock), bench.home, bench.shop)
    assert bench.remains() == []
    assert "sha256" in (bench.home / "logs" / "install-tiny.log").read_text()


@pytest.mark.parametrize("lock", ["tiny-gate==1.0\n", "tiny-gate==6.6.6 --hash=sha256:00\n", "other==1.0\n"])
def test_a_list_that_is_not_what_the_recipe_says_never_gets_here(bench: Bench, lock: str) -> None:
    """No hashes, a withdrawn version, another package: the recipe is refused when it is read."""
    with pytest.raises(InputError, match=r"artifact\."):
        bench.recipe(lock)


def test_a_recipe_that_names_no_program_of_the_package_is_told_so(bench: Bench) -> None:
    """The package is there, the program is not: the sentence names the key to mend."""
    with pytest.raises(ToolMissing, match=r"no program tinny: mend `artifact\.program`"):
        install_python(bench.recipe(program="tinny"), bench.home, bench.shop)
    assert bench.remains() == []


def test_another_version_than_pinned_is_not_installed(bench: Bench, tmp_path: Path) -> None:
    """What lies in the environment is looked at, whatever uv says it did."""
    make_wheel(bench.wheels, "2.0")
    other = tmp_path / "other-uv"
    other.write_text(
        f'#!/bin/sh\n[ "$1" = venv ] && exec "{uv.find_uv_bin()}" "$@"\n'
        f'while [ "$1" != --python ]; do shift; done\n"{uv.find_uv_bin()}" pip install --python "$2" tiny-gate==2.0\n'
    )
    other.chmod(0o755)
    shop = Workshop(bench.shop.runner, bench.reported.append, bench.environ, uv=other)
    with pytest.raises(ToolMissing, match=r"Tiny_Gate 2\.0 in the environment that uv made; expected 1\.0"):
        install_python(bench.recipe(), bench.home, shop)
    assert bench.remains() == []


def test_an_uninstalled_gateway_is_not_found(bench: Bench) -> None:
    """To look does not install; the sentence says what does."""
    with pytest.raises(ToolMissing, match="invoke install --only tiny"):
        find_gateway(bench.recipe(), bench.home, bench.environ)


def test_an_environment_whose_python_is_gone_is_made_anew(bench: Bench) -> None:
    """The system's Python was removed: the environment's link leads nowhere, so it does not count."""
    recipe = bench.recipe()
    installed = install_python(recipe, bench.home, bench.shop)
    installed.python.unlink()
    installed.python.symlink_to("/nowhere/python3")
    assert find_python(recipe, bench.home) is None
    assert install_python(recipe, bench.home, bench.shop).python.exists()


def test_an_install_that_is_killed_in_the_middle_starts_clean(bench: Bench, tmp_path: Path) -> None:
    """KILL while uv works: no half environment is taken for one, the next install is whole, no remains stay."""
    recipe = bench.recipe()
    reached = tmp_path / "reached"
    slow = tmp_path / "slow-uv"
    # Does its work and then never ends, as one that is killed just before it would have ended.
    slow.write_text(
        f'#!/bin/sh\n"{uv.find_uv_bin()}" "$@" || exit\n[ "$1" = venv ] && exit\necho $$ > {reached}\nexec sleep 99\n'
    )
    slow.chmod(0o755)
    code = (
        "import sys, os; from pathlib import Path\n"
        "from weighbridge.matrix.catalogue import read_catalogue\n"
        "from weighbridge.rig.install.atomic_install import Workshop\n"
        "from weighbridge.rig.install.python_env import install_python\n"
        "from weighbridge.rig.processes.supervisor import Supervisor\n"
        "recipes, home, state, slow = map(Path, sys.argv[1:])\n"
        "with Supervisor(state, search_path=os.environ['PATH']) as supervisor:\n"
        "    shop = Workshop(supervisor, print, os.environ, uv=slow)\n"
        "    install_python(read_catalogue([recipes]).get('tiny'), home, shop)\n"
    )
    places = (bench.folder.parent, bench.home, tmp_path / "killed", slow)
    victim = subprocess.Popen([sys.executable, "-c", code, *map(str, places)], env=bench.environ)
    deadline = time.monotonic() + 60
    while not (reached.exists() and reached.read_text()):
        assert victim.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    victim.kill()
    victim.wait()
    assert find_python(recipe, bench.home) is None
    assert any(name.endswith(".part") for name in bench.remains())
    installed = install_python(recipe, bench.home, bench.shop)
    assert bench.remains() == [installed.python.parent.parent.parent.name]
    while is_running(int(reached.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.02)  # the victim's guardian is at work


def test_a_program_on_path_is_found_with_its_version(bench: Bench, tmp_path: Path) -> None:
    """A gateway of the user's own: version as it says it, digest of its file; absent, a sentence names it."""
    folder = tmp_path / "recipes" / "own"
    folder.mkdir()
    text = RECIPE.format(minor="3.11", version="1", program="own-gate")
    head, _, tail = text.partition("artifact:\n")
    start = tail.index("start:")
    artifact = 'artifact: {kind: path, program: own-gate, version_argv: ["{program}", --version]}\n'
    (folder / "gateway.yaml").write_text(head + artifact + tail[start:])
    shutil.rmtree(bench.folder)
    recipe = read_catalogue([folder.parent]).get("own")
    assert recipe is not None
    with pytest.raises(ToolMissing, match="own-gate on PATH"):
        obtain_gateway(recipe, bench.home, bench.shop)
    program = tmp_path / "bin" / "own-gate"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho own-gate v2.5.1-rc1\n")
    program.chmod(0o755)
    found = find_gateway(recipe, bench.home, {"PATH": f"{program.parent}:/usr/bin:/bin"})
    assert found.program == program
    assert found.facts.version == "2.5.1-rc1"
    assert found.facts.sha256 == hashlib.sha256(program.read_bytes()).hexdigest()
