"""`mocks`: run the mock servers in the foreground, for manual use."""

from __future__ import annotations

import secrets
import shutil
import time

from weighbridge import units
from weighbridge.errors import Interrupted, LaneFailed
from weighbridge.rig.lanes.mocks import MODEL, PORT_COUNT, Keys, Ports, start_mocks
from weighbridge.rig.processes.ports import choose
from weighbridge.rig.processes.signals import StopSignals
from weighbridge.rig.processes.supervisor import Supervisor
from weighbridge.tasks import cli


def mocks(*, port_base: str) -> None:
    """Run the mock servers in the foreground, for manual use."""
    base = cli.number("port-base", port_base, units.parse_port)
    try:
        _hold(base)
    except Interrupted as error:
        cli.report("The mocks are down.")
        cli.leave(error.exit_code)


def _hold(base: int | None) -> None:
    folder = cli.home() / "work" / f"mocks-{secrets.token_hex(4)}"
    with StopSignals(), Supervisor(cli.home() / "run", search_path=cli.environment()["PATH"]) as supervisor:
        for sentence in supervisor.cleaned_up:
            cli.report(sentence)
        folder.mkdir(parents=True)
        try:
            ports = Ports.among(choose(PORT_COUNT, base))
            keys = Keys(
                client=f"sk-{secrets.token_hex(8)}",
                provider=f"sk-{secrets.token_hex(8)}",
                machine=f"vdt_{secrets.token_hex(8)}",
            )
            mocks = start_mocks(supervisor, ports, keys, folder)
            cli.say(f"provider       http://127.0.0.1:{ports.provider}/v1   model {MODEL}, any key")
            cli.say(f"               http://127.0.0.1:{ports.provider_admin}/counters   admin")
            cli.say(f"control plane  http://127.0.0.1:{ports.control_plane}   bearer {keys.machine}")
            cli.say(f"               client key {keys.client}")
            cli.say(f"               http://127.0.0.1:{ports.control_plane_admin}/counters   admin")
            cli.say("Ctrl-C ends them.")
            while mocks.provider.child.alive() and mocks.control_plane.child.alive():
                time.sleep(0.2)
            dead = mocks.provider if not mocks.provider.child.alive() else mocks.control_plane
            raise LaneFailed(f"the {dead.name} ended by itself", reason="mock_failed", phase="window")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
