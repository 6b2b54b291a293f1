"""The audit log and the delivery behind it: durable before it goes on, shared flushes, nothing lost by a crash."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from mocks.gateway import delivery, ledger
from mocks.gateway.control import ControlPlaneDown, ControlPlaneRefused
from mocks.gateway.delivery import Delivery, read_checkpoint
from mocks.gateway.ledger import DiskLedger, LedgerEntry, LedgerFailed, read_entries


def test_one_flush_serves_all_that_wait(tmp_path: Path) -> None:
    """Forty records appended at once take far fewer flushes than records, and all are in the log in order."""

    async def scene() -> DiskLedger:
        log = DiskLedger(tmp_path / "audit.log", lambda _: None)
        await asyncio.gather(*(log.append(lambda number=number: b"record %d" % number) for number in range(40)))
        log.close()
        return log

    log = asyncio.run(scene())
    assert log.record_count == 40
    assert 1 <= log.flush_count <= 4
    assert [entry.record for entry in read_entries(tmp_path / "audit.log", 0)] == [
        b"record %d" % n for n in range(40)
    ]


def test_append_returns_only_after_the_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the flush has not ended, no append has returned and nothing is handed on."""
    order: list[str] = []
    real = os.fsync

    def slow(file: int) -> None:
        real(file)
        order.append("flushed")

    async def scene() -> None:
        log = DiskLedger(tmp_path / "audit.log", lambda _: order.append("handed on"))
        monkeypatch.setattr(ledger.os, "fsync", slow)
        await log.append(lambda: b"one")
        order.append("returned")
        log.close()

    asyncio.run(scene())
    assert order == ["flushed", "handed on", "returned"]


def test_a_failed_flush_refuses_and_leaves_no_half_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fails the append raises, the file is as before, and the next append works again."""

    async def scene() -> None:
        log = DiskLedger(tmp_path / "audit.log", lambda _: None)
        await log.append(lambda: b"before")
        with monkeypatch.context() as patch:
            patch.setattr(ledger.os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            with pytest.raises(LedgerFailed, match="No space left"):
                await log.append(lambda: b"lost")
            assert log.trouble
        assert (tmp_path / "audit.log").read_bytes() == b"before\n"
        await log.append(lambda: b"after")
        assert log.trouble is None
        log.close()

    asyncio.run(scene())
    assert (tmp_path / "audit.log").read_bytes() == b"before\nafter\n"


@pytest.mark.parametrize("torn", [b"half a rec", b"x" * 70_000])
def test_what_a_crash_left_half_written_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    """A log that ends in the middle of a record is cut back to its last whole one when it is opened."""
    path = tmp_path / "audit.log"
    path.write_bytes(b"whole\n" + torn)
    asyncio.run(_open_and_close(path))
    assert path.read_bytes() == b"whole\n"


async def _open_and_close(path: Path) -> None:
    DiskLedger(path, lambda _: None).close()


class Receiver:
    """A control plane's side of delivery: what it does with each try is in `script`, by record."""

    def __init__(self, script: dict[bytes, list[Exception]]) -> None:
        self.script = script
        self.got: list[bytes] = []

    async def send(self, record: bytes) -> None:
        await asyncio.sleep(0)
        if self.script.get(record):
            raise self.script[record].pop(0)
        self.got.append(record)


def _offer(worker: Delivery, records: list[bytes]) -> int:
    start_bytes = 0
    for record in records:
        entry = LedgerEntry(start_bytes, record)
        worker.offer(entry)
        start_bytes = entry.end_bytes
    return start_bytes


def test_an_event_is_tried_until_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two failures and a success deliver the event once, and the checkpoint stands behind the last record."""
    monkeypatch.setattr(delivery, "FIRST_WAIT_S", 0.001)
    receiver = Receiver({b"b": [ControlPlaneDown("x"), ControlPlaneDown("x")]})

    async def scene() -> int:
        worker = Delivery(receiver.send, tmp_path)
        end_bytes = _offer(worker, [b"a", b"b", b"c"])
        worker.start()
        assert await worker.drain(10.0) == 0
        await worker.stop()
        return end_bytes

    assert asyncio.run(scene()) == read_checkpoint(tmp_path)
    assert sorted(receiver.got) == [b"a", b"b", b"c"]


def test_the_checkpoint_never_passes_an_open_event(tmp_path: Path) -> None:
    """With the second of three events undelivered the checkpoint stands before it, though the third was taken."""
    receiver = Receiver({b"b": [ControlPlaneDown("x")] * 1000})

    async def scene() -> int:
        worker = Delivery(receiver.send, tmp_path)
        _offer(worker, [b"a", b"b", b"c"])
        worker.start()
        while sorted(receiver.got) != [b"a", b"c"]:
            await asyncio.sleep(0.001)
        remaining_count = await worker.drain(0.0)
        await worker.stop()
        return remaining_count

    assert asyncio.run(scene()) == 1
    assert read_checkpoint(tmp_path) == len(b"a\n")


def test_a_refused_event_goes_to_quarantine_and_blocks_nothing(tmp_path: Path) -> None:
    """An event that is refused for good is kept apart with its reason; the ones behind it are delivered."""
    receiver = Receiver({b"bad": [ControlPlaneRefused("the control plane answered 422")]})

    async def scene() -> Delivery:
        worker = Delivery(receiver.send, tmp_path)
        _offer(worker, [b"bad", b"good"])
        worker.start()
        await worker.drain(10.0)
        await worker.stop()
        return worker

    worker = asyncio.run(scene())
    kept: Any = json.loads((tmp_path / "quarantine.jsonl").read_text())
    assert (worker.quarantined_count, worker.delivered_count, receiver.got) == (1, 1, [b"good"])
    assert kept == {"reason": "the control plane answered 422", "record": "bad"}


def test_a_damaged_checkpoint_means_delivering_again(tmp_path: Path) -> None:
    """A checkpoint that cannot be read is taken as none, for repeats are harmless and gaps are not."""
    (tmp_path / "checkpoint.json").write_text("{")
    assert read_checkpoint(tmp_path) == 0
