"""The mock provider and the mock control plane: how they are started and asked.

They are programs that are met over HTTP only. Each has an admin port of its own, so that asking for counters is
never counted and never queues behind a request.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from weighbridge import resources
from weighbridge.errors import LaneFailed
from weighbridge.matrix.requests import AnswerSpec
from weighbridge.rig.lanes import http
from weighbridge.rig.lanes.readiness import Watched, wait_ready
from weighbridge.rig.processes.child import Child, Service
from weighbridge.rig.processes.supervisor import Supervisor

# Four of the mocks, two of the gateway.
PORT_COUNT = 6

# The one model that the mock provider serves; gateways are set up for it.
MODEL = "mock-model"
_READY_WITHIN_S = 30.0
_ADMIN_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Ports:
    """Ports of one campaign, all on 127.0.0.1; `further` are those of more gateways that are up at once, in pairs."""

    provider: int
    provider_admin: int
    control_plane: int
    control_plane_admin: int
    gateway: int
    gateway_admin: int
    further: tuple[int, ...] = ()

    @classmethod
    def among(cls, numbers: Sequence[int]) -> Self:
        """Return the ports that these numbers are: four of the mocks, then two of each gateway."""
        provider, provider_admin, control_plane, control_plane_admin, gateway, gateway_admin, *further = numbers
        mocks = (provider, provider_admin, control_plane, control_plane_admin)
        return cls(*mocks, gateway, gateway_admin, tuple(further))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Every one of them."""
        mocks = (self.provider, self.provider_admin, self.control_plane, self.control_plane_admin)
        return (*mocks, self.gateway, self.gateway_admin, *self.further)

    def of_gateway(self, number: int) -> Ports:
        """Return the same ports with those of the `number`-th gateway that is up, from 0."""
        if number == 0:
            return self
        gateway, admin = self.further[2 * number - 2 : 2 * number]
        return replace(self, gateway=gateway, gateway_admin=admin)


@dataclass(frozen=True)
class Keys:
    """Throwaway secrets of one campaign; none of them is ever kept."""

    client: str
    provider: str
    machine: str

    @property
    def all(self) -> tuple[str, ...]:
        """Every secret, for masking."""
        return (self.client, self.provider, self.machine)


@dataclass(frozen=True)
class Mock:
    """A running mock with its admin address."""

    name: str
    child: Child
    admin_url: str

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """JSON response of the admin port; LaneFailed `mock_failed` when there is none."""
        data = json.dumps(body).encode() if body is not None else None
        try:
            answer = http.call(
                method,
                self.admin_url + path,
                headers=(("content-type", "application/json"),) if data else (),
                body=data,
                timeout_s=_ADMIN_TIMEOUT_S,
            )
            if answer.status != 200:
                raise ValueError(f"status {answer.status}")
            return json.loads(answer.body)
        except (OSError, ValueError) as error:
            raise LaneFailed(
                f"the {self.name} did not respond to its admin port ({error})",
                reason="mock_failed",
                phase="window",
                log_tail=self.child.log_tail(),
            ) from error


@dataclass(frozen=True)
class Mocks:
    """Both mocks of a campaign."""

    provider: Mock
    control_plane: Mock

    def reset(self, answer: AnswerSpec, manner: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Start counting anew and respond as `answer` says, with what `manner` tells beside it, such as a jitter."""
        body = {"delay_s": answer.delay_s, "chunk_count": answer.chunk_count, "gap_s": answer.gap_s}
        self.provider.ask("POST", "/reset", {**body, **manner})
        self.control_plane.ask("POST", "/reset", {})


def start_mocks(
    supervisor: Supervisor, ports: Ports, keys: Keys, folder: Path, cores: tuple[int, ...] | None = None
) -> Mocks:
    """Both mocks, started and ready; their logs lie in `folder`, `cores` are the only CPUs they may use."""
    config = folder / "control-plane.json"
    config.write_text(
        json.dumps({"machine_token": keys.machine, "client_keys": [keys.client], "yaml": "", "delay_s": 0.0})
    )
    provider = _start(
        supervisor,
        Service(
            name="mock provider",
            argv=_argv("provider", "--port", str(ports.provider), "--admin-port", str(ports.provider_admin)),
            env=_environment(),
            cwd=folder,
            log=folder / "provider.log",
            ports=(ports.provider, ports.provider_admin),
            secrets=keys.all,
            cores=cores,
        ),
        ports.provider_admin,
    )
    control = ("--port", str(ports.control_plane), "--admin-port", str(ports.control_plane_admin))
    control_plane = _start(
        supervisor,
        Service(
            name="mock control plane",
            argv=_argv("control_plane", *control, "--config", str(config)),
            env=_environment(),
            cwd=folder,
            log=folder / "control-plane.log",
            ports=(ports.control_plane, ports.control_plane_admin),
            secrets=keys.all,
            cores=cores,
        ),
        ports.control_plane_admin,
    )
    return Mocks(provider=provider, control_plane=control_plane)


def _start(supervisor: Supervisor, service: Service, admin_port: int) -> Mock:
    child = supervisor.start(service)
    url = f"http://127.0.0.1:{admin_port}"

    def probe() -> str | None:
        answer = http.call("GET", f"{url}/healthz", timeout_s=2.0)
        return None if answer.status == 200 else f"status {answer.status}"

    wait_ready(
        probe,
        alive=child.death,
        within_s=_READY_WITHIN_S,
        hold_s=0.2,
        watched=Watched(service.name, child.log_tail),
    )
    return Mock(name=service.name, child=child, admin_url=url)


def _argv(mock: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", f"mocks.{mock}", *arguments)


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(resources.root())}
