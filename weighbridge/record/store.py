"""The results folder: append-only campaigns, each run committed by one rename.

    results/campaigns/<campaign>/   campaign.json, matrix.yaml, gateways/, events.jsonl,
                                    cells/<cell>/b01/run.json …, visits/<start>.json, summary.json, finished.json

A run folder is built under a temporary name beside its place and renamed when `run.json`, written last, is on
disk; whatever kills us, a folder under its final name is whole. Nothing here deletes a committed run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from weighbridge.errors import StoreError
from weighbridge.record.base import Versioned
from weighbridge.record.campaign import CampaignRecord, Finished
from weighbridge.record.certificate import Certificate
from weighbridge.record.run import RunRecord
from weighbridge.record.samples import SampleTable
from weighbridge.record.summary import Summary
from weighbridge.record.visit import VisitRecord, with_visit

DocumentType = TypeVar("DocumentType", bound=Versioned)

SAMPLES_FILE = "samples.npz"
_PARTIAL = ".partial-"
# Removed when the disk is full, so that the event log and finished.json still find room.
_RESERVE_FILE = ".reserve"
_RESERVE_BYTES = 256 * 1024


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` at `path` by a synced sibling and a rename, so that readers see the old or the new file."""
    partial = path.with_name(f"{_PARTIAL}{path.name}")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def locked(results: Path) -> Iterator[None]:
    """Hold the results folder for one campaign at a time; StoreError when another one holds it."""
    try:
        results.mkdir(parents=True, exist_ok=True)
        handle = os.open(results / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(
            f"{results}: cannot be written ({error.strerror}); choose another folder with --out"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(
                f"{results}: another campaign is running there; wait for it or choose another folder with --out"
            ) from error
        yield
    finally:
        os.close(handle)


class CampaignStore:
    """One campaign's folder, to write to while it runs and to read at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, results: Path, record: CampaignRecord, matrix_text: bytes) -> CampaignStore:
        """Make the folder of a new campaign; its name must not exist yet."""
        folder = results / "campaigns" / record.campaign
        folder.mkdir(parents=True)
        store = cls(folder)
        (folder / _RESERVE_FILE).write_bytes(b"\0" * _RESERVE_BYTES)
        write_atomically(folder / "matrix.yaml", matrix_text)
        store.write_document("campaign.json", record)
        return store

    def store_recipe(self, gateway: str, files: Mapping[str, bytes]) -> None:
        """Keep the files of the recipe that was used, as they were when it was read."""
        for name, data in files.items():
            target = self.folder / "gateways" / gateway / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def shelf(self, name: str) -> CampaignStore:
        """Return the store of runs that are kept apart, in a folder of the campaign; of no name this store."""
        return CampaignStore(self.folder / name) if name else self

    def write_document(self, name: str, document: Versioned) -> None:
        """Write one of the campaign's own documents."""
        write_atomically(self.folder / name, document.to_json().encode())

    def commit(self, record: RunRecord, files: Mapping[str, bytes], samples: SampleTable | None) -> Path:
        """Keep an attempt and return its folder: files first, `run.json` with their digests last, then the rename."""
        target = self._place(record)
        partial = target.with_name(_PARTIAL + target.name)
        if partial.exists():
            shutil.rmtree(partial)
        try:
            partial.mkdir(parents=True)
            kept = dict(files)
            if samples is not None:
                kept[SAMPLES_FILE] = samples.to_bytes()
            for name, data in kept.items():
                place = partial / name
                place.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(place, data)
            digests = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(kept.items())}
            final = record.changed(files=digests)
            write_atomically(partial / "run.json", final.to_json().encode())
            partial.rename(target)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        return target

    def keep_visit(self, record: VisitRecord) -> None:
        """Keep what was seen of a lane once the windows of its visit were over."""
        (self.folder / "visits").mkdir(parents=True, exist_ok=True)
        self.write_document(f"visits/{record.visit}.json", record)

    def free_reserve(self) -> None:
        """Give back the room that was kept for the final records of a campaign on a full disk."""
        (self.folder / _RESERVE_FILE).unlink(missing_ok=True)

    def finish(self, finished: Finished) -> None:
        """Write how the campaign ended."""
        self.free_reserve()
        self.write_document("finished.json", finished)

    def record(self) -> CampaignRecord:
        """Return the campaign's own record."""
        return _read(CampaignRecord, self.folder / "campaign.json")

    def finished(self) -> Finished | None:
        """Return how it ended, None while it runs or after a crash."""
        path = self.folder / "finished.json"
        return _read(Finished, path) if path.exists() else None

    def certificate(self) -> Certificate | None:
        """Return the certificate that it made, None of a campaign that calibrated nothing."""
        path = self.folder / "certificate.json"
        return _read(Certificate, path) if path.exists() else None

    def summary(self) -> Summary:
        """Return the stored summary."""
        return _read(Summary, self.folder / "summary.json")

    def runs(self) -> tuple[RunRecord, ...]:
        """Return every committed attempt with what its visit showed later, by cell, block and attempt."""
        paths = sorted(self.folder.glob("cells/*/b*/run.json"))
        visits = {path.stem: _read(VisitRecord, path) for path in sorted(self.folder.glob("visits/[!.]*.json"))}
        records = [with_visit(_read(RunRecord, path), visits) for path in paths]
        return tuple(sorted(records, key=lambda run: (run.cell, run.block, run.attempt)))

    def _place(self, record: RunRecord) -> Path:
        name = f"b{record.block:02d}"
        cell = self.folder / "cells" / record.cell
        if record.accepted:
            return cell / _free(cell, name)
        number = 1
        while (cell / f"{name}.rejected-{number}").exists():
            number += 1
        return cell / f"{name}.rejected-{number}"


def _free(folder: Path, name: str) -> str:
    """Return `b01`, or `b01.2` and so on for a further accepted run of a block, as the baseline of a long one has."""
    number = 1
    while (folder / (name if number == 1 else f"{name}.{number}")).exists():
        number += 1
    return name if number == 1 else f"{name}.{number}"


def _read(kind: type[DocumentType], path: Path) -> DocumentType:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})") from error
    return kind.from_json(text, origin=str(path))


def find_campaign(results: Path, name: str) -> CampaignStore:
    """Return the campaign that a user means: a folder, a campaign's name, or `latest`."""
    given = Path(name)
    campaigns = results / "campaigns"
    if name == "latest":
        known = sorted(path.parent for path in campaigns.glob("*/campaign.json"))
        if not known:
            raise StoreError(f"{campaigns}: holds no campaign yet; run: invoke bench --quick")
        return CampaignStore(known[-1])
    for folder in (given, campaigns / name):
        if (folder / "campaign.json").is_file():
            return CampaignStore(folder)
    raise StoreError(f"{name}: is no campaign folder and no name of one in {campaigns}; `latest` means the newest")
