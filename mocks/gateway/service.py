"""The gateway as a running thing: put together, started, ready or not, drained and stopped.

Start: bind, take up what an earlier process left undelivered, pull the configuration. Stop: accept no more, finish,
deliver.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from mocks.gateway.admission import Admission, Control, Standalone
from mocks.gateway.config import GatewayConfig
from mocks.gateway.control import ControlPlaneClient, ControlPlaneDown, ControlPlaneRefused
from mocks.gateway.delivery import Delivery, read_checkpoint
from mocks.gateway.events import Courier
from mocks.gateway.ledger import DiskLedger, Ledger, LedgerEntry, MemoryLedger, NoLedger, OnDurable, read_entries
from mocks.gateway.policies.chain import Chain
from mocks.gateway.proxy import GatewayParts, ProviderClient, Proxy
from mocks.gateway.upstream import UpstreamPool
from mocks.gateway.visit import Wrap
from mocks.wire import Server, serve

PULL_WAIT_S = 0.2
CONTROL_SILENCE_LIMIT_S = 10.0


class GatewayServer:
    """One gateway on one port; `around` may put something between it and its provider."""

    def __init__(
        self, config: GatewayConfig, around: Callable[[ProviderClient], ProviderClient] = lambda pool: pool
    ) -> None:
        self._config = config
        self._pools = [UpstreamPool(config.upstream_url)]
        self._server: Server | None = None
        self._pull: asyncio.Task[None] | None = None
        self._pulled = config.control_plane_url is None
        self._delivery: Delivery | None = None
        self._ledger, control = self._wire()
        self._proxy = Proxy(
            GatewayParts(
                admission=Admission(control, config.client_keys),
                control=control,
                ledger=self._ledger,
                chain=Chain(config.policies),
                provider=around(self._pools[0]),
                provider_key=config.provider_key,
                status=self.status,
            )
        )

    @property
    def greeting(self) -> str:
        """What it says when it listens."""
        return f"listening on 127.0.0.1:{self._server.port if self._server else 0}"

    async def start(self, wrap: Wrap = lambda handle: handle) -> None:
        """Listen and begin to get ready; `wrap` may put something around the proxy."""
        self._server = await serve(wrap(self._proxy.handle), self._config.port)
        if self._delivery is not None:
            self._delivery.start()

    async def stop(self) -> None:
        """Accept no more, finish what is under way, deliver, close, all within the drain limit."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + self._config.drain_limit_s
        if self._pull is not None:
            self._pull.cancel()
        if self._server is not None:
            await self._server.close(self._config.drain_limit_s)
        if not await self._proxy.drain(end_s - loop.time()):
            sys.stderr.write("gateway: some requests did not end in time and were cut\n")
        if self._delivery is not None:
            remaining_count = await self._delivery.drain(end_s - loop.time())
            await self._delivery.stop()
            if remaining_count:
                sys.stderr.write(f"gateway: {remaining_count} events are not delivered{self._fate()}\n")
        self._ledger.close()
        for pool in self._pools:
            pool.close()

    def _fate(self) -> str:
        return "; they stay in the log" if self._config.audit else " and lost, for there is no audit log"

    def status(self) -> tuple[int, dict[str, Any]]:
        """Status and document of the readiness response."""
        document = {
            "undelivered": self._delivery.undelivered_count if self._delivery else 0,
            "delivered": self._delivery.delivered_count if self._delivery else 0,
            "quarantined": self._delivery.quarantined_count if self._delivery else 0,
            "audit_records": self._ledger.record_count,
            "audit_flushes": self._ledger.flush_count,
            "policies": list(self._config.policies),
        }
        reason = self._unready_reason()
        if reason is None:
            return 200, {"status": "ready", **document}
        return 503, {"status": "unready", "reason": reason, **document}

    def _unready_reason(self) -> str | None:
        if not self._pulled:
            return "the configuration has not been pulled from the control plane yet"
        if self._delivery is not None and self._delivery.quarantined_count:
            return "events were refused by the control plane and lie in quarantine"
        return self._ledger.trouble

    def _wire(self) -> tuple[Ledger, Control]:
        """Make the ledger and the control plane that the configuration asks for, joined by delivery."""
        config = self._config
        folder = config.state_dir if config.audit else None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        on_durable: OnDurable = _leave_in_log
        control: Control = Standalone()
        if config.control_plane_url is not None:
            pool = UpstreamPool(config.control_plane_url, silence_limit_s=CONTROL_SILENCE_LIMIT_S)
            self._pools.append(pool)
            plane = ControlPlaneClient(pool, config.machine_token or "")
            self._delivery = Delivery(Courier(plane).send, folder)
            self._pull = asyncio.ensure_future(self._pull_config(plane))
            on_durable, control = self._delivery.offer, plane
        if folder is None:
            return (MemoryLedger(on_durable) if self._delivery else NoLedger()), control
        log = folder / "audit.log"
        ledger = DiskLedger(log, on_durable)
        if self._delivery is not None:
            for entry in read_entries(log, read_checkpoint(folder)):
                self._delivery.offer(entry)
        return ledger, control

    async def _pull_config(self, plane: ControlPlaneClient) -> None:
        while not self._pulled:
            try:
                await plane.pull_config()
                self._pulled = True
            except (ControlPlaneDown, ControlPlaneRefused):
                await asyncio.sleep(PULL_WAIT_S)


def _leave_in_log(entry: LedgerEntry) -> None:
    """Without a control plane a record stays where it is."""
