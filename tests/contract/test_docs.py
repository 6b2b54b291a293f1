"""What the documentation promises: commands, links, examples, words and lists agree with the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from docs.generate import command_line
from tests.contract.texts import (
    CHECKOUT,
    Text,
    anchors,
    assert_none,
    fences,
    hold,
    links,
    offenders,
    pages,
    prose,
    sources,
)
from weighbridge import METHOD_VERSION
from weighbridge.errors import InputError
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.binding import names
from weighbridge.matrix.catalogue import read_catalogue, read_recipe
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import read_matrix
from weighbridge.record.samples import SampleTable

GATEWAYS = CHECKOUT / "templates" / "gateways"
# Flags of other programs that the pages speak of.
FOREIGN_FLAGS = {"--require-tools", "--update-golden", "--check", "--generate-hashes", "--help", "--list"}
# A full stop after one of these, or after a single letter, ends no sentence.
ABBREVIATIONS = {
    "al",
    "approx",
    "ca",
    "cf",
    "dr",
    "e.g",
    "etc",
    "fig",
    "figs",
    "i.e",
    "incl",
    "mr",
    "mrs",
    "no",
    "nos",
    "pp",
    "resp",
    "st",
    "vol",
    "vs",
}


def page(name: str) -> str:
    """Return the text of a page."""
    return (CHECKOUT / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """Return what stands below a heading of a page, up to the next one of its kind."""
    return page(name).partition(f"\n{heading}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    """Return the code in the first cell of each row of the tables in a text."""
    return re.findall(r"(?m)^\| `(\w+)`", text)


def flags_of(task: str) -> set[str]:
    """Return the flags that a task takes."""
    return {flag.names[0] for flag in command_line()[task].flags}


def wrong_commands(text: Text) -> Iterator[str]:
    """Yield invocations that name a task or a flag that does not exist."""
    for found in re.finditer(r"(?:^|[`\s(])invoke ([a-z]+(?: [^`\n#&|)]*)?)", text.text):
        line = text.text.count("\n", 0, found.start(1)) + 1
        task, *words = found[1].split()
        if task not in command_line():
            yield text.at(line, f"there is no task {task}")
            continue
        given = {word.split("=")[0] for word in words if word.startswith("--")}
        for flag in sorted(given - flags_of(task) - FOREIGN_FLAGS):
            yield text.at(line, f"{task} has no flag {flag}")


def wrong_flags(text: Text) -> Iterator[str]:
    """Yield flags in backticks that no task has and no other program that is spoken of."""
    known = set().union(*(flags_of(task) for task in command_line())) | FOREIGN_FLAGS
    for number, line in enumerate(text.text.splitlines(), 1):
        for flag in re.findall(r"`(--[a-z-]+)[` =]", line):
            if flag not in known:
                yield text.at(number, f"no task has {flag}")


def wrong_sessions(text: Text) -> Iterator[str]:
    """Yield nox sessions that the noxfile does not have."""
    for number, line in enumerate(text.text.splitlines(), 1):
        for name in re.findall(r"\bnox -s (\w+)", line):
            if name not in sessions():
                yield text.at(number, f"there is no session {name}")


def broken_links(text: Text) -> Iterator[str]:
    """Yield links that lead to no file of the checkout or to no heading of it."""
    here = CHECKOUT / text.name
    for target in links(text.text):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        file = (here.parent / name).resolve() if name else here
        found = text.text if file == here else file.read_text(encoding="utf-8") if file.is_file() else ""
        if not file.exists() or (anchor and anchor not in anchors(found)):
            yield f"{text.name}: {target}"


def crowded(text: Text) -> Iterator[str]:
    """Yield lines of prose that hold more than one sentence."""
    for number, line in prose(text.text):
        bare = re.sub(r"`[^`]*`", "code", re.sub(r"^\d+\. ", "", line))
        for end in re.finditer(r"(\S*)[.!?] (?=[A-Z*])", bare):
            word = end[1].lstrip('(“"*').lower()
            if len(word) > 1 and word not in ABBREVIATIONS:
                yield text.at(number, f"a new sentence after “{end[1]}”")


def bad_examples(text: Text, folder: Path) -> Iterator[str]:
    """Yield recipes, matrices and Python that a page shows and that are not good input."""
    ours = page("tasks.py")
    for number, fence in enumerate(fences(text.text), 1):
        try:
            if fence.text.startswith("schema: weighbridge.gateway/"):
                (folder / "gateway.yaml").write_text(fence.text)
                read_recipe(folder)
            elif fence.text.startswith("schema: weighbridge.matrix/"):
                (folder / "matrix.yaml").write_text(fence.text)
                expand(read_matrix(folder / "matrix.yaml", TRAITS), read_catalogue([GATEWAYS]))
            elif fence.language == "python":
                ast.parse(fence.text)
                for line in fence.text.splitlines():
                    if "weighbridge.tasks" in line and line not in ours:
                        yield f"{text.name}: fence {number}: tasks.py of this checkout has no line {line}"
        except (InputError, SyntaxError) as error:
            yield f"{text.name}: fence {number}: {error}"


def sessions() -> set[str]:
    """Return the sessions of the noxfile."""
    return set(re.findall(r"(?m)^@nox\.session.*\ndef (\w+)", page("noxfile.py")))


def logged_events(source: Text) -> Iterator[str]:
    """Yield the kinds of events that a module writes into the event_log."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("event_log.write"):
            continue
        if node.args and isinstance(node.args[0], ast.Constant):
            yield str(node.args[0].value)


def test_the_readme_goes_from_a_clone_to_a_first_result_and_to_the_tests() -> None:
    """One line that can be copied leads to a bench, one to the tests."""
    commands = [line.strip() for line in page("README.md").splitlines() if line.startswith("    ")]

    assert any("pip install" in line and "invoke bench" in line for line in commands)
    assert any("pip install" in line and line.endswith("nox") for line in commands)


def test_commands_on_pages_exist() -> None:
    """Every `invoke TASK --flag` on a page names a task, and flags of that very task."""
    hold(wrong_commands, pages())


def test_flags_on_pages_exist() -> None:
    """A flag in backticks belongs to some task, or is known to be another program's."""
    hold(wrong_flags, [one for one in pages() if not one.name.endswith("NOTES.md")])


def test_sessions_on_pages_exist() -> None:
    """Every `nox -s NAME` on a page names a session."""
    hold(wrong_sessions, pages())


def test_links_resolve() -> None:
    """A link to a file leads to a file of the checkout, and one to a heading to a heading."""
    hold(broken_links, pages())


def test_one_sentence_a_line() -> None:
    """Prose has one sentence per line, so that a change of one sentence is a change of one line."""
    hold(crowded, [one for one in pages() if not one.name.endswith("NOTES.md")])


def test_examples_on_pages_are_good_input(tmp_path: Path) -> None:
    """A recipe or a matrix that a page shows is read without an error, and its `tasks.py` is like our own."""
    hold(lambda text: bad_examples(text, tmp_path), pages())


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (wrong_commands, "`invoke bnech`"),
        (wrong_commands, "`invoke show --quick`"),
        (wrong_commands, "    . .venv/bin/activate && invoke bench --matrx x.yaml"),
        (wrong_flags, "`--matrx`"),
        (wrong_sessions, "`nox -s tets`"),
        (broken_links, "[a](nowhere.md)"),
        (broken_links, "[a](README.md#nothing-of-this-name)"),
        (crowded, "One is here. Two."),
        (crowded, "All of it, e.g. This and that. Two."),
        (lambda text: bad_examples(text, Path()), "```python\nfrom weighbridge.tasks import nothing\n```\n"),
        (lambda text: bad_examples(text, Path()), "```python\ndef (\n```\n"),
    ],
)
def test_an_offence_is_found(rule, text: str) -> None:
    """Each rule notices what it is there for."""
    (found,) = offenders(rule, [Text("README.md", text)])

    assert found.startswith("README.md:")


@pytest.mark.parametrize(
    "text", ["1. Step.", "`a. B` is one.", "Many, e.g. Nginx, cf. RFC 9110, by A. Person (approx. Ten)."]
)
def test_a_full_stop_inside_a_sentence_is_allowed(text: str) -> None:
    """A numbered step, code, initials and abbreviations do not begin a new sentence."""
    assert offenders(crowded, [Text("README.md", text)]) == []


def test_a_bad_matrix_on_a_page_is_found(tmp_path: Path) -> None:
    """A matrix with a key that does not exist is named with its page."""
    text = Text("docs/x.md", "```yaml\nschema: weighbridge.matrix/1\nloadz: {}\n```\n")

    (found,) = bad_examples(text, tmp_path)
    assert found.startswith("docs/x.md: fence 1: ")


def test_every_flag_has_help() -> None:
    """No flag is left unexplained or short, and the first line of a task fits beside its name."""
    found = []
    for name, task in command_line().items():
        if len(task.first_line) > 60:
            found.append(f"{name}: its first line is too long for a list of tasks")
        found += [
            f"{name} {flag.names[0]}: no help, or a short flag"
            for flag in task.flags
            if not flag.help or any(len(word) <= len("--x") for word in flag.names)
        ]
    assert_none(found)


def test_names_of_recipes_are_all_explained() -> None:
    """The table of names is the closed set of names."""
    assert set(first_cells(section("docs/adding-a-gateway.md", "## Names"))) == set(names(("NAME",)))


def test_columns_of_samples_are_all_explained() -> None:
    """The table of the sample archive has all of its columns."""
    explained = first_cells(section("docs/results-format.md", "## The sample table"))

    assert set(explained) == {column.name for column in fields(SampleTable)}


def test_events_of_the_diary_are_all_named() -> None:
    """The page lists the kinds of events that a campaign writes, no more and no less."""
    written = {kind for source in sources("weighbridge") for kind in logged_events(source)}
    listed = re.search(r"(?m)^Kinds: (.*)$", page("docs/results-format.md"))

    assert written
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == written


def test_an_event_of_the_diary_is_found() -> None:
    """An event is seen over lines and whoever holds the event_log, and another file's writing is none."""
    text = "self.stage.event_log.write(\n    'stopped', by=1\n)\nself._event_log.write('began')\nfile.write('x')\n"

    assert list(logged_events(Text("x.py", text))) == ["stopped", "began"]


def test_method_version_has_its_entry() -> None:
    """The newest entry of the method's changelog is the version that records carry, and the method page says it."""
    versions = {int(number) for number in re.findall(r"(?m)^## Version (\d+)\b", page("docs/method-changelog.md"))}
    newest = int(str(METHOD_VERSION).removesuffix("-unfinished"))

    assert versions == set(range(1, newest + 1))
    assert re.search(rf"method version {METHOD_VERSION}(?![\w-])", page("docs/method.md"))


def test_sections_of_the_method_that_code_names_exist() -> None:
    """Code that says where a rule comes from names a section of the page of the method."""
    known = set(re.findall(r"(?m)^## (\d+)\. ", page("docs/method.md")))
    found = [
        source.at(source.text.count("\n", 0, named.start()) + 1, f"the method has no section {named[1]}")
        for source in sources("weighbridge")
        for named in re.finditer(r"METHOD(?:’s|'s)?(?: section)? (\d+)", source.text)
        if named[1] not in known
    ]

    assert known
    assert_none(found)


def test_sessions_are_all_explained() -> None:
    """The page for contributors lists the sessions of the noxfile, in whatever order."""
    assert sessions()
    assert set(re.findall(r"(?m)^\| `nox -s (\w+)`", page("CONTRIBUTING.md"))) == sessions()
