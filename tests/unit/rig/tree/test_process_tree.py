"""Which processes belong together, found with real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from weighbridge.rig.tree import process_tree

# Another worker or suite may look for its own at the same time.
RUN = f"{os.getpid():016x}"
TAG = f"{RUN}.1"
LEAVER = """
import os, subprocess, sys
environment = {} if "bare" in sys.argv else None
orphan = subprocess.Popen(["sleep", "60"], start_new_session=True, env=environment)
print(orphan.pid, flush=True)
if "die" not in sys.argv:
    orphan.wait()
"""

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """A function that starts a process which starts another in a session of its own; all are gone at the end."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", LEAVER, *words],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={process_tree.TAG_VARIABLE: TAG, "PATH": os.defpath},
        )
        started.append(process)
        return process

    yield begin
    # Orphans first: they hold the pipe that communicate() reads to its end.
    process_tree.end(lambda: process_tree.find((), TAG), term_s=0)
    for process in started:
        process.communicate()


def _root(process: subprocess.Popen[str]) -> process_tree.Member:
    return process_tree.Member(process.pid, process_tree.start_of(process.pid) or "")


def _orphan(process: subprocess.Popen[str]) -> int:
    assert process.stdout
    return int(process.stdout.readline())


def test_tag_finds_an_orphan_in_its_own_session(start: Start) -> None:
    """A grandchild that called setsid and lost its parent is found by the tag alone."""
    process = start("die")
    orphan = _orphan(process)
    process.wait()
    assert [member.pid for member in process_tree.find((), TAG)] == [orphan]


def test_parent_links_find_a_child_without_the_tag(start: Start) -> None:
    """A child in its own session with an empty environment is found while its parent lives."""
    process = start("bare")
    orphan = _orphan(process)
    found = {member.pid for member in process_tree.find([_root(process)], "no such tag")}
    assert found == {process.pid, orphan}
    os.kill(orphan, signal.SIGKILL)


def test_a_stranger_under_a_reused_number_is_not_ours() -> None:
    """A root whose start time differs brings in nobody, not even the process that has its pid now."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        assert process_tree.find([process_tree.Member(process.pid, "1")], TAG) == ()
        process_tree.send([process_tree.Member(process.pid, "1")], signal.SIGKILL)
        assert process.poll() is None
        process.kill()


def test_tags_match_whole_or_by_their_dot(start: Start) -> None:
    """`….` stands for every child of one supervisor, `….1` for one child and not for `….12` or its beginning."""
    process = start()
    _orphan(process)
    assert len(process_tree.find((), f"{RUN}.")) == 2
    assert len(process_tree.find((), TAG)) == 2
    assert process_tree.find((), TAG + "2") == ()
    assert process_tree.find((), RUN) == ()
    assert process_tree.find((), f"{RUN[:-1]}.") == ()


def test_a_zombie_counts_as_gone() -> None:
    """A process that has ended and was not waited for has no start time and is not found."""
    process = subprocess.Popen(["true"], start_new_session=True)
    root = process_tree.Member(process.pid, process_tree.start_of(process.pid) or "?")
    deadline = time.monotonic() + 10
    while process_tree.start_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process_tree.start_of(process.pid) is None
    assert process_tree.find([root], TAG) == ()
    assert process.wait() == 0


def test_end_kills_who_ignores_term() -> None:
    """TERM that is ignored is followed by KILL, and the ending says so."""
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout
        process.stdout.readline()
        root = _root(process)  # type: ignore[arg-type]
        ending = process_tree.end(lambda: process_tree.find([root], TAG), term_s=0.2)
        assert ending == process_tree.Ending(killed=True, left=())
        assert process.wait() == -signal.SIGKILL


def test_end_wakes_a_stopped_process() -> None:
    """A process that SIGSTOP froze ends on TERM, without KILL."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        process.send_signal(signal.SIGSTOP)
        root = _root(process)  # type: ignore[arg-type]
        ending = process_tree.end(lambda: process_tree.find([root], TAG), term_s=5)
        assert not ending.killed
        assert process.wait() == -signal.SIGTERM


def test_we_never_find_ourselves() -> None:
    """Even a root that names us does not put us on the list of those to stop."""
    ourselves = process_tree.Member(os.getpid(), process_tree.start_of(os.getpid()) or "")
    assert os.getpid() not in {member.pid for member in process_tree.find([ourselves], TAG)}
