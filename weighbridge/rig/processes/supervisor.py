"""The owner of every child: nothing of ours runs that was not started here, and nothing outlives its `with` block.

It must not know what it runs: no gateway, no driver, no recipe.
"""

from __future__ import annotations

import os
import resource
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from weighbridge.command import Command, Ended
from weighbridge.errors import Interrupted, LaneFailed, StoreError, ToolMissing
from weighbridge.rig.processes import register
from weighbridge.rig.processes.child import Child, Running, Service, StopReport
from weighbridge.rig.processes.child_environment import Scratch, read_output, unwritable, write_private
from weighbridge.rig.processes.cleanup import clean_up
from weighbridge.rig.processes.guardian_client import Guard
from weighbridge.rig.processes.logs import mask
from weighbridge.rig.processes.ports import require_free
from weighbridge.rig.processes.register import FILE_NAME, SCRATCH_NAME, Register, RegisteredGroup
from weighbridge.rig.processes.run_command import follow
from weighbridge.rig.processes.signals import deferred
from weighbridge.rig.processes.spawn import CannotRun, spawn
from weighbridge.rig.processes.stopping import Patience, stop
from weighbridge.rig.tree import cgroup, process_tree

_COMMAND_GRACE_S = 3.0
_HURRIED_GRACE_S = 3.0
_NO_PATIENCE = Patience(grace_s=0.0, term_s=0.0)
_OUTPUT = "output"


class Supervisor:
    """Starts, watches and stops children; a `with` block at whose end none is left, whatever the cause.

    `search_path` is the PATH that children get. `cleaned_up` are sentences about what an earlier, killed run had
    left, `reports` tell how each child was stopped. Entering raises StoreError when the state folder cannot be used
    or another Weighbridge uses it.
    """

    def __init__(self, state_dir: Path, *, search_path: str = os.defpath) -> None:
        self.state_dir = state_dir.absolute()
        self.search_path = search_path
        self.cleaned_up: tuple[str, ...] = ()
        self.reports: list[StopReport] = []
        ourselves = process_tree.Member(os.getpid(), process_tree.start_of(os.getpid()) or "")
        self._register = Register(ourselves, secrets.token_hex(8))
        self._scratch = Scratch(self.state_dir / SCRATCH_NAME / self._register.tag, search_path)
        self._children: list[Child] = []
        self._started_count = 0
        self._guard: Guard | None = None

    @property
    def guard(self) -> Guard:
        """The guardian's keeper: its pid, and how often it had to be started again."""
        if self._guard is None:
            raise RuntimeError("the supervisor is used outside its with block")
        return self._guard

    def pids(self) -> frozenset[int]:
        """Ourselves, the guardian and every living process of every child: all that is not foreign load."""
        members = process_tree.find([child.root for child in self._children], self._any_tag)
        return frozenset({os.getpid(), self.guard.pid, *(member.pid for member in members)})

    def __enter__(self) -> Supervisor:
        self._claim()
        try:
            with deferred():
                self._register.write(self.state_dir)
                self._guard = Guard(self.state_dir, self._register)
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_hurried = isinstance(error, Interrupted | KeyboardInterrupt)
        with deferred():
            try:
                for child in reversed(tuple(self._children)):
                    grace_s = child.service.grace_s
                    self._end(child, Patience(min(grace_s, _HURRIED_GRACE_S) if is_hurried else grace_s))
                # What was cut off between its start and its registration still carries the tag.
                process_tree.end(lambda: process_tree.find((), self._any_tag))
            finally:
                self._release()

    def start(self, service: Service) -> Child:
        """Start a service and return its child, not yet ready.

        Raises PortTaken when another program holds one of its ports, LaneFailed when the program cannot be run,
        StoreError when log or scratch folder cannot be written.
        """
        require_free(service.ports, f"{service.name} needs it: stop that program or give another --port-base")
        try:
            return self._launch(service)
        except CannotRun as error:
            sentence = f"{service.name} could not be started: {error}."
            raise LaneFailed(sentence, reason="crashed", phase="start") from error

    def stop(self, child: Child) -> StopReport:
        """How the child ended: by its own signal, else TERM, else KILL. To stop it twice is no fault."""
        return self._end(child, Patience(child.service.grace_s))

    def run(
        self,
        command: Command,
        *,
        watch: Callable[[], str | None] | None = None,
        cores: tuple[int, ...] | None = None,
    ) -> Ended:
        """How a command ended, with its output; nothing that it started is left.

        `watch` is asked about ten times per second; a text means that the command shall stop now. `cores` are the
        only logical CPUs it may run on. Raises ToolMissing when the program cannot be run, StoreError when its files
        cannot be written.
        """
        return self.finish(self.begin(command, cores=cores), watch=watch)

    def begin(self, command: Command, *, cores: tuple[int, ...] | None = None) -> Running:
        """Start a command that runs beside others until `finish` is called for it; raises as `run` does."""
        for path, data in command.files.items():
            write_private(path, data)
        out = self._scratch.folder(self._next_tag(), _OUTPUT) / "stdout"
        service = Service(
            Path(command.argv[0]).name,
            command.argv,
            command.cwd,
            out,
            command.env,
            stop_signal=command.stop_signal,
            grace_s=_COMMAND_GRACE_S,
            cores=cores,
        )
        try:
            return Running(command, self._launch(service, out.with_name("stderr")))
        except CannotRun as error:
            raise ToolMissing(f"{service.name} could not be started: {error}.") from error

    def finish(self, running: Running, *, watch: Callable[[], str | None] | None = None) -> Ended:
        """How a command that was begun ended, as `run`; its limits count from its start."""
        looks = (self.guard.keep, watch) if watch else (self.guard.keep,)
        return self._follow(running.child, running.command, looks)

    def _follow(self, child: Child, command: Command, looks: tuple[Callable[[], str | None], ...]) -> Ended:
        patience = _NO_PATIENCE
        waited_for_s = _cpu_of_ended_s()
        try:
            followed = follow(child, command, looks)
            output = child.service.log
        except BaseException:
            patience = Patience(_COMMAND_GRACE_S)
            raise
        finally:
            # A command that ended by itself is dead; what it left behind has no further task.
            report = self._end(child, patience, store_files=True)
        ended = Ended(
            exit_code=-9 if report.exit_code is None else report.exit_code,
            wall_s=followed.wall_s,
            cpu_s=_cpu_of_ended_s() - waited_for_s,
            cut=followed.cut,
            killed=followed.is_overdue,
            stdout=mask(read_output(output), command.secrets),
            stderr=mask(read_output(output.with_name("stderr")), command.secrets),
        )
        self._scratch.remove(child.tag)
        return ended

    def _launch(self, service: Service, errors: Path | None = None) -> Child:
        tag = self._next_tag()
        environment = self._scratch.environment(tag, service.env)
        self._started_count += 1
        with deferred():
            process = spawn(service, environment, errors)
            root = process_tree.Member(process.pid, process_tree.start_of(process.pid) or "")
            child = Child(service, process, root, tag)
            if service.counts_cpu:
                _put_into_group(child)
            self._children.append(child)
            self._register.entries[tag] = RegisteredGroup(service.name, root, tag, service.ports)
            self.guard.report_started(tag)
            self._register.write(self.state_dir)
        return child

    def _end(self, child: Child, patience: Patience, *, store_files: bool = False) -> StopReport:
        if child not in self._children:
            return StopReport(child.service.name, "exited", child.exit_code, 0.0)
        with deferred():
            report = stop(child, patience)
            self._children.remove(child)
            self.reports.append(report)
            if child.group is not None:
                child.group.remove()  # one that stays is the guardian's
            self._register.entries.pop(child.tag, None)
            self.guard.report_ended(child.tag)
            with suppress(StoreError):  # an entry too many does no harm: the cleanup goes by the tag
                self._register.write(self.state_dir)
            if not store_files:
                self._scratch.remove(child.tag)
        return report

    def _claim(self) -> None:
        try:
            self.state_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.state_dir, error) from error
        self.cleaned_up = clean_up(self.state_dir)
        if other := register.read(self.state_dir):
            raise StoreError(
                f"{self.state_dir} is in use by another Weighbridge (pid {other.owner.pid}); wait until it has "
                "ended, or work in another project folder."
            )

    def _release(self) -> None:
        if self._guard:
            self._guard.close()
            self._guard = None
        self._scratch.remove_all()
        with suppress(OSError):  # the last one out removes the folder of all scratch folders
            (self.state_dir / SCRATCH_NAME).rmdir()
        (self.state_dir / FILE_NAME).unlink(missing_ok=True)

    def _next_tag(self) -> str:
        return f"{self._register.tag}.{self._started_count + 1}"

    @property
    def _any_tag(self) -> str:
        return f"{self._register.tag}."


def _put_into_group(child: Child) -> None:
    """At once after the start, before it can have forked much; what it did fork comes in with the first reading."""
    try:
        child.group = cgroup.make(child.tag, child.pid)
    except cgroup.NoGroup as error:
        child.why_no_group = str(error)


def _cpu_of_ended_s() -> float:
    """CPU seconds of our children that ended and were waited for; in a run that is the command alone."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
