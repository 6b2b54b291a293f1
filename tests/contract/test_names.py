"""One meaning a name: no class and no module-level name of the package or the mocks is defined in two files."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

from tests.contract.texts import Text, assert_none, sources

# Names that several modules may define, with the reason.
WALL = "the package and the mocks speak of the same thing and never import each other"
OWN = "the same kind of thing in each module, of its own value"
ALLOWED = {
    "ChunkStamp": WALL,
    "CLOCK_MONOTONIC": WALL,
    "DELAY_HEADER": WALL,
    "FAULTS_PATH": WALL,
    "LETTERS": WALL,
    "LoopTimer": WALL,
    "NS_PER_S": WALL,
    "Stamp": WALL,
    "TFD_NONBLOCK_CLOEXEC": WALL,
    "TFD_TIMER_ABSTIME": WALL,
    "TimerFd": WALL,
    "TO_HEX": WALL,
    "CONNECTIONS": f"{OWN}: connections that a part of the calibration opens",
    "FORMATS": f"{OWN}: report formats of a driver",
    "LINE": f"{OWN}: a line of one file of /proc",
    "LOOK_S": f"{OWN}: seconds between two looks at what is waited for",
    "PATH": f"{OWN}: where a kind of load stands in a matrix",
    "POLICY": f"{OWN}: the policy of its module",
    "POLL_S": f"{OWN}: seconds between two looks at processes that end",
    "SCHEMA": f"{OWN}: name and number of one kind of document",
    "TIMEOUT_S": f"{OWN}: how long one request of ours may take",
}


def named(source: Text) -> Iterator[tuple[str, int]]:
    """Yield classes, nested ones too, and names assigned at the top of a module, without leading underscores."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_"), node.lineno
    for node in source.tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for one in ast.walk(target) if isinstance(target, ast.expr) else ():
                if isinstance(one, ast.Name) and not one.id.startswith("__"):
                    yield one.id.lstrip("_"), one.lineno


def doubled(read: Iterable[Text], allowed: Iterable[str]) -> Iterator[str]:
    """Yield every place of a name that is defined more than once."""
    places: dict[str, list[str]] = defaultdict(list)
    for source in read:
        for name, line in named(source):
            places[name].append(source.at(line, f"{name} is defined elsewhere too"))
    return (place for name in sorted(places.keys() - set(allowed)) if len(places[name]) > 1 for place in places[name])


def test_a_name_is_defined_once() -> None:
    """No class name and no name of a module stands for two things, in the package or the mocks."""
    read = sources("weighbridge", "mocks")

    assert read
    assert_none(doubled(read, ALLOWED))


def test_allowed_names_are_doubled() -> None:
    """No permission outlives what it is for."""
    found = " ".join(doubled(sources("weighbridge", "mocks"), ()))

    assert [name for name in ALLOWED if f" {name} is defined" not in found] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("class Reading: ...", "class _Reading: ..."),
        ("class Reading: ...", "class Outer:\n    class Reading: ..."),
        ("LIMIT_S = 1.0", "_LIMIT_S: float = 2.0"),
        ("_LIMIT_S = 1.0", "_LIMIT_S = 1.0"),
        ("class Kind: ...", "Kind = Literal['a', 'b']"),
        ("REPORT, SAMPLES = 'a', 'b'", "SAMPLES = 'c'"),
    ],
)
def test_a_doubled_name_is_found_at_both_places(one: str, other: str) -> None:
    """A name counts without its underscores, whatever defines it."""
    found = list(doubled([Text("weighbridge/a.py", one), Text("mocks/b.py", other)], ()))

    assert [place.partition(":")[0] for place in found] == ["weighbridge/a.py", "mocks/b.py"]


def test_other_names_may_stand_twice() -> None:
    """Imports, functions, locals and what a class holds are no definitions of a module's name."""
    text = "from a import B\n__all__ = ['B']\ndef run():\n    LIMIT_S = 1\nclass {}:\n    SIZE = 1\n"

    assert list(doubled([Text("a.py", text.format("C")), Text("b.py", text.format("D"))], ())) == []
