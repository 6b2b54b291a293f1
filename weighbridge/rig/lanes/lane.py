"""A lane: one gateway with its settings, chain and disk, started, watched, drained and stopped.

The lane without a gateway is a lane like any other: its address is the provider's own and nothing is started.
Every start has a fresh state directory on its disk, removed when the lane is down.
"""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weighbridge import resources
from weighbridge.errors import LaneFailed, ToolMissing
from weighbridge.matrix.binding import Binding, fill, render_configs
from weighbridge.matrix.cells import BASELINE, LaneKey
from weighbridge.matrix.recipe import Recipe
from weighbridge.rig.install.atomic_install import Installed
from weighbridge.rig.lanes import http
from weighbridge.rig.lanes.mocks import MODEL, Keys, Ports
from weighbridge.rig.lanes.readiness import Watched, wait_ready
from weighbridge.rig.lanes.usage import UsageMeter
from weighbridge.rig.processes.child import Child, Service, StopReport
from weighbridge.rig.processes.listeners import elsewhere_text, listening
from weighbridge.rig.processes.logs import clean, head, tail
from weighbridge.rig.processes.supervisor import Supervisor

_DRAIN_PAUSE_S = 0.05
_ASK_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class LaneSetup:
    """What a lane is started from: `scratch` holds configuration and log, `disk` is the folder for its state.

    `cores` are the only logical CPUs that the gateway may run on.
    """

    key: LaneKey
    recipe: Recipe
    installed: Installed
    ports: Ports
    keys: Keys
    scratch: Path
    disk: Path
    cores: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Drained:
    """How the background work of a window ended: seconds until nothing was left, and what was left at its end."""

    drain_s: float | None
    undelivered_at_end_count: int | None
    problem: str | None = None


@dataclass(frozen=True)
class Lane:
    """A lane that serves. `child` and `usage` are None where nothing was started for it."""

    setup: LaneSetup
    url: str
    headers: tuple[tuple[str, str], ...]
    child: Child | None
    configs: Mapping[str, bytes]
    usage: UsageMeter | None = None

    @property
    def is_baseline(self) -> bool:
        """Whether this is the lane without a gateway; one whose gateway runs elsewhere has no child either."""
        return self.setup.key.gateway == BASELINE

    def death(self) -> str | None:
        """How the gateway ended, None while it lives."""
        return self.child.death() if self.child else None

    def log_tail(self) -> str:
        """End of the gateway's log, secrets masked."""
        return tail(self.child.service.log, self.setup.keys.all) if self.child else ""

    def files_to_store(self) -> dict[str, bytes]:
        """Return rendered configuration and log ends as they are kept with a run, secrets masked."""
        secrets = self.setup.keys.all
        kept = {f"config/{name}": clean(data, secrets).encode() for name, data in self.configs.items()}
        if self.child is not None:
            kept["gateway-log-head.txt"] = head(self.child.service.log, secrets).encode()
            kept["gateway-log-tail.txt"] = self.log_tail().encode()
        return kept

    def drain(self) -> Drained:
        """Wait until the gateway says that no background work is left, as far as its recipe tells where to ask."""
        drain = self.setup.recipe.drain
        if drain is None or self.child is None:
            return Drained(drain_s=None, undelivered_at_end_count=None)
        begun = time.monotonic()
        first: int | None = None
        left: int | None = None
        while time.monotonic() - begun < drain.within_s and self.death() is None:
            left = self._undelivered(drain.path, drain.field)
            first = left if first is None else first
            if left == 0:
                return Drained(time.monotonic() - begun, first)
            time.sleep(_DRAIN_PAUSE_S)
        problem = self.death() or f"{left} events were still undelivered after {drain.within_s:g} s"
        return Drained(time.monotonic() - begun, first, problem)

    def _undelivered(self, path: str, name: str) -> int | None:
        try:
            answer = http.call("GET", f"{_base(self.setup.ports.gateway)}{path}", timeout_s=_ASK_TIMEOUT_S)
            value = json.loads(answer.body)[name]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return value if isinstance(value, int) else None


@contextmanager
def lane_up(
    supervisor: Supervisor, setup: LaneSetup, stopped: Callable[[StopReport], None] = lambda _: None
) -> Iterator[Lane]:
    """Yield a ready lane; it is stopped, and its state directory removed, when the block ends.

    Raises LaneFailed, `unavailable` where the gateway's files are not those that the campaign began with. `stopped`
    is told how the gateway ended.
    """
    if setup.recipe.start is None:
        yield Lane(setup, _base(setup.ports.provider) + setup.recipe.serves.path, (), None, {})
        return
    _compare(setup)
    state = Path(tempfile.mkdtemp(prefix="lane-", dir=setup.disk))
    try:
        binding = _bind(setup, state)
        configs = render_configs(setup.recipe, binding)
        child = supervisor.start(_service(setup, binding, configs))
        try:
            _await_ready(setup, child)
            yield Lane(
                setup,
                _base(setup.ports.gateway) + setup.recipe.serves.path,
                tuple((name, fill(value, binding)) for name, value in setup.recipe.serves.headers.items()),
                child,
                configs,
                UsageMeter(child, state),
            )
        finally:
            stopped(supervisor.stop(child))
    finally:
        shutil.rmtree(state, ignore_errors=True)


def _compare(setup: LaneSetup) -> None:
    """Look at the gateway's files again; LaneFailed names the first that is another than at the campaign's start."""
    identity = setup.installed.identity
    try:
        changed = None if identity is None else identity.changed()
    except ToolMissing as error:
        changed = str(error)
    if changed is not None:
        sentence = f"{setup.recipe.name} is not what it was when the campaign began: {changed}"
        raise LaneFailed(sentence, reason="unavailable", phase="start")


def _bind(setup: LaneSetup, state: Path) -> Binding:
    return Binding(
        port=setup.ports.gateway,
        admin_port=setup.ports.gateway_admin,
        upstream_url=_base(setup.ports.provider),
        control_plane_url=_base(setup.ports.control_plane),
        state_dir=state,
        config_dir=setup.scratch / "config",
        log_dir=setup.scratch,
        client_key=setup.keys.client,
        provider_key=setup.keys.provider,
        machine_token=setup.keys.machine,
        model=MODEL,
        chain=setup.key.chain,
        program=setup.installed.program,
        python=setup.installed.python,
        mocks_root=resources.root(),
        settings=setup.recipe.settings_with(dict(setup.key.settings)),
    )


def _service(setup: LaneSetup, binding: Binding, configs: Mapping[str, bytes]) -> Service:
    start = setup.recipe.start
    if start is None:
        raise ValueError(f"{setup.recipe.id} has nothing to start")
    for name, data in configs.items():
        target = binding.config_dir / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch(mode=0o600)
        target.write_bytes(data)
    return Service(
        name=setup.recipe.name,
        argv=tuple(fill(argument, binding) for argument in start.argv),
        env={**setup.installed.env, **{name: fill(value, binding) for name, value in start.env.items()}},
        cwd=setup.scratch,
        log=setup.scratch / "gateway.log",
        ports=(setup.ports.gateway,),
        stop_signal=signal.Signals[f"SIG{setup.recipe.stop.signal}"],
        grace_s=setup.recipe.stop.grace_s,
        secrets=setup.keys.all,
        cores=setup.cores,
        counts_cpu=True,
    )


def _await_ready(setup: LaneSetup, child: Child) -> None:
    ready = setup.recipe.ready
    if ready is None:
        return
    url = _base(setup.ports.gateway) + ready.path

    def probe() -> str | None:
        answer = http.call("GET", url, timeout_s=_ASK_TIMEOUT_S)
        return None if answer.status == ready.status else f"{ready.path} returns {answer.status}"

    wait_ready(
        probe,
        alive=child.death,
        within_s=ready.within_s,
        hold_s=ready.hold_s,
        watched=Watched(setup.recipe.name, child.log_tail, lambda: not_ready_hint(child, setup.ports.gateway)),
    )


def not_ready_hint(child: Child, port: int) -> str:
    """Return what may keep a gateway from getting ready: it went into the background, or it listens elsewhere."""
    if child.exit_code == 0:
        return "a gateway must stay in the foreground, so start it without going into the background"
    return elsewhere_text(listening(child.members()), port) if child.alive() else ""


def _base(port: int) -> str:
    return f"http://127.0.0.1:{port}"
