"""What the documentation promises: commands, links, examples, words and lists agree with the code."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from tests.contract.doc_tables import command_line
from tests.contract.texts import CHECKOUT, PAGES, anchors, fences, links, prose
from weighbridge import METHOD_VERSION
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.binding import names
from weighbridge.matrix.catalogue import read_catalogue, read_recipe
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import read_matrix
from weighbridge.record.samples import SampleTable

TWO_COMMANDS = [
    "    python3 -m venv .venv && . .venv/bin/activate && pip install -e . && invoke bench --quick",
    "    . .venv/bin/activate && pip install nox && nox",
]
GATEWAYS = CHECKOUT / "templates" / "gateways"
# Flags of other programs that the pages speak of.
FOREIGN_FLAGS = {"--require-tools", "--update-golden", "--update-docs", "--generate-hashes", "--help", "--list"}


def page_name(path: Path) -> str:
    """Path of a page in the checkout."""
    return str(path.relative_to(CHECKOUT))


def flags_of(task: str) -> set[str]:
    """Flags that a task takes."""
    return {flag.names[0] for flag in command_line()[task].flags}


def wrong_commands(text: str) -> list[str]:
    """Invocations in a text that name a task or a flag that does not exist."""
    found = []
    for call in re.findall(r"(?:^|[`\s(])invoke ([a-z]+(?: [^`\n#&|)]*)?)", text):
        words = call.split()
        if words[0] not in command_line():
            found.append(call)
            continue
        given = {word.split("=")[0] for word in words[1:] if word.startswith("--")}
        found += [f"{words[0]} {flag}" for flag in sorted(given - flags_of(words[0]) - FOREIGN_FLAGS)]
    return found


def crowded(text: str) -> list[int]:
    """Numbers of the lines of prose that hold more than one sentence."""
    bare = ((number, re.sub(r"`[^`]*`", "code", re.sub(r"^\d+\. ", "", line))) for number, line in prose(text))
    return [number for number, line in bare if re.search(r"[.!?] [A-Z*]", line)]


def test_readme_has_the_two_commands_alone_in_indented_blocks() -> None:
    """Each command is one line, indented by four spaces, and nothing else in the README is indented so."""
    text = re.sub(r"(?ms)^```.*?^```$", "", (CHECKOUT / "README.md").read_text(encoding="utf-8"))

    assert [line for line in text.splitlines() if line.startswith("    ")] == TWO_COMMANDS
    for command in TWO_COMMANDS:
        assert f"\n\n{command}\n\n" in text


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_on_pages_exist(page: Path) -> None:
    """Every `invoke TASK --flag` on a page names a task, and flags of that very task."""
    assert wrong_commands(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("text", ["`invoke bnech`", "`invoke show --quick`", "\ninvoke bench --matrx x.yaml\n"])
def test_a_wrong_command_is_found(text: str) -> None:
    """A task or a flag that does not exist is noticed."""
    assert wrong_commands(text)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_flags_on_pages_exist(page: Path) -> None:
    """A flag in backticks belongs to some task, or is known to be another program's."""
    known = set().union(*(flags_of(task) for task in command_line())) | FOREIGN_FLAGS
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`(--[a-z-]+)[` =]", text))

    if page.name == "NOTES.md":
        return
    assert named <= known


def test_commands_page_lists_every_task_and_flag() -> None:
    """The page of commands has every task with every flag of it, and no other."""
    text = (CHECKOUT / "docs" / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"(?ms)^### `invoke ([a-z]+)[^\n]*\n(.*?)(?=^##|\Z)", text))

    assert set(sections) == set(command_line())
    for task, section in sections.items():
        assert set(re.findall(r"(?m)^\| `(--[a-z-]+)`", section)) == flags_of(task)


def test_every_flag_has_help() -> None:
    """No flag is left unexplained or short, and first lines of tasks have less than 60 characters."""
    for name, task in command_line().items():
        assert len(task.first_line) < 60, name
        assert all(flag.help for flag in task.flags), name
        assert all(len(word) > len("--x") for flag in task.flags for word in flag.names), name


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_resolve(page: Path) -> None:
    """A link to a file leads to a file of the checkout, and one to a heading to a heading."""
    text = page.read_text(encoding="utf-8")
    broken = []
    for target in links(text):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            broken.append(target)

    assert not broken


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "NOTES.md"], ids=page_name)
def test_one_sentence_a_line(page: Path) -> None:
    """Prose has one sentence a line, so that a change of one sentence is a change of one line."""
    assert crowded(page.read_text(encoding="utf-8")) == []


def test_a_crowded_line_is_found() -> None:
    """Two sentences on a line are noticed, a numbered step and a full stop in code are not."""
    assert crowded("One. Two.\n1. Step.\n`a. B` is one.\n") == [1]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_yaml_examples_are_good_input(page: Path, tmp_path: Path) -> None:
    """A recipe or a matrix that a page shows is read without an error."""
    for number, fence in enumerate(fences(page.read_text(encoding="utf-8"))):
        folder = tmp_path / f"example-{number}"
        folder.mkdir()
        if fence.text.startswith("schema: weighbridge.gateway/"):
            (folder / "gateway.yaml").write_text(fence.text)
            assert read_recipe(folder).name
        elif fence.text.startswith("schema: weighbridge.matrix/"):
            (folder / "matrix.yaml").write_text(fence.text)
            assert expand(read_matrix(folder / "matrix.yaml", TRAITS), read_catalogue([GATEWAYS]))


def test_two_lines_on_pages_are_what_this_checkout_uses() -> None:
    """The `tasks.py` that pages show takes the collection by the line that this checkout's own has."""
    ours = (CHECKOUT / "tasks.py").read_text(encoding="utf-8")
    shown = [
        [line for line in fence.text.splitlines() if line]
        for page in PAGES
        for fence in fences(page.read_text(encoding="utf-8"))
        if fence.language == "python"
    ]

    assert len(shown) == 2
    for lines in shown:
        assert len(lines) == 2
        assert all(line in ours for line in lines)


def test_names_of_recipes_are_all_explained() -> None:
    """The table of names is the closed set of names."""
    text = (CHECKOUT / "docs" / "adding-a-gateway.md").read_text(encoding="utf-8")
    section = text.partition("## Names")[2].partition("\n## ")[0]

    assert re.findall(r"(?m)^\| `(\w+)`", section) == list(names(("NAME",)))


def test_columns_of_samples_are_all_explained() -> None:
    """The table of the sample archive has its columns in their order."""
    text = (CHECKOUT / "docs" / "results-format.md").read_text(encoding="utf-8")
    section = text.partition("## The sample table")[2].partition("\n## ")[0]

    assert re.findall(r"(?m)^\| `(\w+)`", section) == [column.name for column in fields(SampleTable)]


def test_events_of_the_diary_are_all_named() -> None:
    """The page lists the kinds of events that the walk writes, no more and no less."""
    sources = "".join(path.read_text(encoding="utf-8") for path in CHECKOUT.glob("weighbridge/campaign/**/*.py"))
    written = set(re.findall(r"diary\.write\(\s*\"(\w+)\"", sources))
    text = (CHECKOUT / "docs" / "results-format.md").read_text(encoding="utf-8")
    listed = re.search(r"(?m)^Kinds: (.*)\.$", text)

    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == written


def test_method_version_has_its_entry() -> None:
    """The newest entry of the method's changelog is the version that records carry, and the method page says it."""
    text = (CHECKOUT / "docs" / "method-changelog.md").read_text(encoding="utf-8")
    versions = [int(number) for number in re.findall(r"(?m)^## Version (\d+)$", text)]

    assert versions == list(range(METHOD_VERSION, 0, -1))
    assert f"method version {METHOD_VERSION};" in (CHECKOUT / "docs" / "method.md").read_text(encoding="utf-8")


def test_sections_of_the_method_that_code_names_exist() -> None:
    """Code that says where a rule comes from names a section of the page of the method."""
    text = (CHECKOUT / "docs" / "method.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"(?m)^## (\d+)\. ", text))
    sources = "".join(path.read_text(encoding="utf-8") for path in CHECKOUT.glob("weighbridge/**/*.py"))
    named = set(re.findall(r"METHOD(?:’s|'s)?(?: section)? (\d+)", sources))

    assert named
    assert named <= sections


def test_sessions_are_all_explained() -> None:
    """The page for contributors lists the sessions of the noxfile."""
    defined = re.findall(r"(?m)^@nox\.session.*\ndef (\w+)", (CHECKOUT / "noxfile.py").read_text(encoding="utf-8"))
    text = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")

    assert defined
    assert re.findall(r"(?m)^\| `nox -s (\w+)`", text) == defined
