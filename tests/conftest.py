"""Guards that hold for every test: loopback only, no child left, no write outside the temporary folder."""

from __future__ import annotations

import shutil
import signal
import socket
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import psutil
import pytest

from tests.one_suite import SuiteLock, group_of, is_measuring

CHECKOUT = Path(__file__).resolve().parent.parent

# Tools that a `real` or `browser` test needs; absent ones skip with a reason unless --require-tools was given.
TOOLS = ("oha", "wrk", "chromium")

_SUITE = pytest.StashKey[SuiteLock]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this suite."""
    parser.addoption("--require-tools", action="store_true", help="a missing tool is a failure, not a skip")
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files that differ, then fail")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a distribution of tests that could start two campaigns together."""
    config.stash[_SUITE] = SuiteLock()
    if config.getoption("numprocesses", None) and config.getoption("dist") != "loadgroup":
        raise pytest.UsageError("tests that start campaigns must stay in one worker; leave --dist as it is set here")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let another suite begin its campaigns."""
    config.stash[_SUITE].release()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what must run one after the other in one worker, a file's tests and all campaigns; these come last."""
    items.sort(key=is_measuring)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, bool, bool]:
    """Hold the suite's lock from its first campaign to its last; no timeout of a test runs yet while it waits."""
    if not is_measuring(item):
        return (yield)
    lock = item.config.stash[_SUITE]
    lock.take(lambda: _tell(item.config, "waiting for the campaigns of another suite"))
    try:
        return (yield)
    finally:
        if nextitem is None or not is_measuring(nextitem):
            lock.release()


def _tell(config: pytest.Config, text: str) -> None:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:  # a worker has none
        terminal.write_line(text)


@pytest.fixture
def tool(request: pytest.FixtureRequest):
    """Path of a program on PATH; a missing one skips with a reason, or fails under --require-tools."""

    def find(name: str) -> Path:
        found = shutil.which(name)
        if found is None:
            message = f"{name} is not on PATH"
            if request.config.getoption("--require-tools"):
                pytest.fail(message)
            pytest.skip(message)
        return Path(found)

    return find


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heard() -> None:
    """Under nohup HUP is ignored, in the background INT, and every child inherits that; in tests both count."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but this machine is an error in a test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test connects to {address[0]}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


class Starts:
    """How many processes this one has started, in whatever way Python offers."""

    EVENTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"})

    def __init__(self) -> None:
        self.count = 0
        self.known: set[int] = set()
        self.looked_at = 0

    def hear(self, event: str, _arguments: object) -> None:
        """Count an audit event that starts a process."""
        if event in self.EVENTS:
            self.count += 1

    def look(self) -> None:
        """Know who runs now, where anything was started since the last look."""
        if self.count != self.looked_at:
            self.known = {child.pid for child in psutil.Process().children(recursive=True)}
            self.looked_at = self.count


@pytest.fixture(scope="session")
def _starts() -> Iterator[Starts]:
    """Listen for started processes, and look once more for any that is left when all tests are over."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    starts = Starts()
    sys.addaudithook(starts.hear)
    yield starts
    assert not (left := _end_children(before)), f"left running at the end of all tests: {left}"


@pytest.fixture(autouse=True)
def _no_child_left(_starts: Starts) -> Iterator[None]:
    """No process that a test started may outlive it; a test that started none does not pay for the look."""
    _starts.look()
    count = _starts.count
    yield
    if _starts.count != count:
        left = _end_children(_starts.known)
        _starts.look()
        assert not left, f"left running: {left}"


def _end_children(known: set[int]) -> list[tuple[int, list[str]]]:
    """Kill processes below this one that are not known, and return them."""
    left = []
    for child in psutil.Process().children(recursive=True):
        if child.pid in known:
            continue
        try:
            if child.status() != psutil.STATUS_ZOMBIE:
                left.append((child.pid, child.cmdline()))
                child.kill()
        except psutil.NoSuchProcess:
            continue
    return left


@pytest.fixture(scope="module", autouse=True)
def _no_stray_write() -> Iterator[None]:
    """Tests write into their temporary folder only: the checkout's top folder and results stay as they were."""
    watched = [CHECKOUT, CHECKOUT / "results", Path.home()]
    before = {folder: _names(folder) for folder in watched}
    yield
    new = {str(folder): sorted(_names(folder) - names) for folder, names in before.items()}
    assert not any(new.values()), f"written outside the temporary folder: {new}"


_TOOL_CACHES = {
    ".pytest_cache",
    ".hypothesis",
    ".mypy_cache",
    ".ruff_cache",
    ".import_linter_cache",
    "__pycache__",
    ".cache",
}


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - _TOOL_CACHES if folder.is_dir() else set()
