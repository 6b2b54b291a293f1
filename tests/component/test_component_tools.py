"""A load generator that is absent, too old or not built: what is said, and what drives in its place."""

from __future__ import annotations

import pytest

from tests.component.project import FAKES, Project

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

CARGO = f'''#!
"""A stand-in for cargo that installs the stand-in oha, or fails as `cargo.fail` beside it says."""
import pathlib, shutil, sys
here = pathlib.Path(__file__).parent
with (here / "cargo.txt").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if (here / "cargo.fail").exists():
    sys.exit("error: could not compile `oha`")
root = pathlib.Path(sys.argv[sys.argv.index("--root") + 1])
(root / "bin").mkdir(parents=True)
text = pathlib.Path({str(FAKES / "oha")!r}).read_text()
program = root / "bin" / "oha"
program.write_text("#!" + sys.executable + "\\n" + text.partition("\\n")[2])
program.chmod(0o755)
'''


def test_no_oha_and_no_cargo(project: Project) -> None:
    """An oha that was asked for and cannot be had is exit 2 and one sentence that says how to get it or cargo."""
    project.matrix()
    (project.bin / "oha").unlink()

    ran = project.invoke("bench", "--driver", "oha", path=str(project.bin))

    ran.ends_with(2)
    assert len(ran.sentences) == 1, ran.err
    assert "oha 1.14 or later is needed and was not found: put it on PATH" in ran.sentences[0]
    assert "cargo" in ran.sentences[0]
    assert not project.campaigns()


def test_an_old_oha_is_not_used(project: Project) -> None:
    """An oha whose correction is inverted is passed over with its version told, and no window is driven by it."""
    project.matrix()
    project.script(version="1.13.0")

    for words in ((), ("--no-install",)):
        ran = project.invoke("bench", "--driver", "oha", *words, path=str(project.bin))
        ran.ends_with(2)
        assert "the oha on PATH is version 1.13.0 and is not used" in ran.err
    assert not project.campaigns()


def test_the_probe_stands_in_where_oha_was_not_asked_for_by_name(project: Project) -> None:
    """Without a usable oha and without cargo the built-in probe drives, and it is said what was passed over."""
    project.matrix()
    project.script(version="1.13.0")

    ran = project.invoke("bench", "--only", "direct.none.work.plain.clients-2", path=str(project.bin))

    project.ends_well(ran)
    assert "the oha on PATH is version 1.13.0 and is not used" in ran.err
    assert "so the built-in probe drives" in ran.err
    assert {cell["driver"] for cell in project.cells().values()} == {"probe"}


def test_an_old_oha_is_replaced_by_our_own(project: Project) -> None:
    """With cargo a pinned oha is built once, said with time and size before, and found by what comes next."""
    project.matrix()
    project.script(version="1.13.0")
    project.add_program("cargo", CARGO)

    first = project.invoke("install", "--only", "oha")
    second = project.invoke("install", "--only", "oha")

    first.ends_with(0)
    second.ends_with(0)
    assert "minutes" in first.err
    assert "MB" in first.err
    assert "1.16.0" in first.out
    assert first.out == second.out
    calls = (project.bin / "cargo.txt").read_text().splitlines()
    assert len(calls) == 1
    assert calls[0].startswith("install oha --version 1.16.0 --locked --root ")


def test_a_build_that_fails_starts_clean_the_next_time(project: Project) -> None:
    """A failed build is exit 2 and names its log; nothing half-made is taken for a tool afterwards."""
    project.matrix()
    (project.bin / "oha").unlink()
    project.add_program("cargo", CARGO)
    broken = project.bin / "cargo.fail"
    broken.touch()
    path = str(project.bin)

    failed = project.invoke("install", "--only", "oha", path=path)
    broken.unlink()
    good = project.invoke("install", "--only", "oha", path=path)

    failed.ends_with(2)
    assert "install-oha.log" in failed.sentences[-1]
    assert "could not compile" in failed.err
    assert "could not compile" in (project.folder / ".weighbridge" / "logs" / "install-oha.log").read_text()
    good.ends_with(0)
    assert [path.name for path in (project.folder / ".weighbridge" / "tools").iterdir()] == ["oha-1.16.0-fast"]
