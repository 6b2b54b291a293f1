"""A whole campaign, from the lock on the results folder to the last word in it."""

from __future__ import annotations

import errno
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from weighbridge import resources
from weighbridge.campaign.attempt import AttemptMaker
from weighbridge.campaign.calibration.calibrate import calibration_schedule
from weighbridge.campaign.calibration.setting import CalibrationContext
from weighbridge.campaign.campaign_record import open_record
from weighbridge.campaign.certificate_lookup import certificate_for
from weighbridge.campaign.event_log import EventLog, utc_now
from weighbridge.campaign.programs import Programs, find_programs
from weighbridge.campaign.request import CampaignOutcome, CampaignRequest
from weighbridge.campaign.runner import VisitRunner
from weighbridge.campaign.schedule import Schedule, matrix_schedule
from weighbridge.campaign.window.ground_truth import Truth
from weighbridge.errors import InputError, Interrupted, WeighbridgeError
from weighbridge.judge.cell.exit_code import exit_code
from weighbridge.judge.cell.summarise import summarise
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.estimate import Estimate, estimate_order
from weighbridge.matrix.load import LoadedMatrix
from weighbridge.matrix.order import order_blocks
from weighbridge.record.campaign import Finished
from weighbridge.record.certificate import Certificate
from weighbridge.record.host import DiskFacts
from weighbridge.record.progress import Listener
from weighbridge.record.store import CampaignStore, locked
from weighbridge.record.summary import Summary
from weighbridge.rig.lanes.mocks import PORT_COUNT, Keys, Ports, start_mocks
from weighbridge.rig.lanes.rig import Rig
from weighbridge.rig.machine import cpu_plan
from weighbridge.rig.machine.cpu_plan import CpuPlan
from weighbridge.rig.machine.disks import read_disk
from weighbridge.rig.machine.host import usable_cpus
from weighbridge.rig.machine.load_meter import Meter
from weighbridge.rig.processes.ports import choose
from weighbridge.rig.processes.supervisor import Supervisor


def run_campaign(request: CampaignRequest, listener: Listener, environ: Mapping[str, str]) -> CampaignOutcome:
    """Run the matrix and keep what was seen; whatever ends the campaign, its folder tells how far it came.

    Raises Interrupted after the campaign was closed properly. WeighbridgeErrors before the first window leave no
    campaign behind.
    """
    with locked(request.results), Supervisor(request.home / "run", search_path=environ["PATH"]) as supervisor:
        for sentence in supervisor.cleaned_up:
            listener.warning(sentence)
        _remove_remains(request.home)
        ports = Ports.among(choose(PORT_COUNT, request.port_base))
        disks = _disks(request, environ)
        order = order_blocks(request.runnable, request.runs, request.loaded.matrix.seed)
        cpus = cpu_plan.plan(cpu_plan.read_cores(), cpu_count=usable_cpus())
        programs = find_programs(request, environ["PATH"])
        record = open_record(request, order, disks, environ, programs=programs, cpus=cpus)
        store = CampaignStore.create(request.results, record, request.loaded.text)
        for gateway in record.gateways:
            recipe = request.catalogue.get(gateway.id)
            if recipe is not None:
                store.store_recipe(gateway.id, recipe.files)
        with EventLog(store.folder / "events.jsonl") as event_log:
            return _Campaign(request, store, supervisor, event_log, listener).run(programs, ports, order, cpus)


def _remove_remains(home: Path) -> None:
    """Remove what a killed run left: working files, which hold keys, and lane states. The home is ours alone now."""
    for remains in (*(home / "work").glob("*"), *(home / "state").glob("lane-*")):
        shutil.rmtree(remains, ignore_errors=True)


def _disks(request: CampaignRequest, environ: Mapping[str, str]) -> tuple[DiskFacts, ...]:
    """Facts of every disk; the folder of a disk without a path is made, one with a path must be there."""
    found = []
    for name, disk in request.loaded.matrix.disks.items():
        folder = request.disk_folder(name)
        if disk.path is None:
            folder.mkdir(parents=True, exist_ok=True)
        elif not folder.is_dir():
            raise InputError(
                f"{folder} is not a directory",
                place=request.loaded.place(("disks", name, "path")),
                expected="expected an existing folder on the disk that is to be measured",
            )
        found.append(read_disk(name, folder, environ["PATH"]))
    return tuple(found)


class _Campaign:
    """A campaign whose folder exists."""

    def __init__(
        self,
        request: CampaignRequest,
        store: CampaignStore,
        supervisor: Supervisor,
        event_log: EventLog,
        listener: Listener,
    ) -> None:
        self._request = request
        self._store = store
        self._supervisor = supervisor
        self._event_log = event_log
        self._listener = listener

    def run(
        self, programs: Programs, ports: Ports, order: Sequence[Sequence[Cell]], cpus: CpuPlan | None
    ) -> CampaignOutcome:
        """Make the schedule, then close the campaign, however that ended."""
        self._event_log.write("began", cells=len(self._request.cells), ports=list(ports.numbers))
        try:
            with cpu_plan.confined(cpus.beside_gateway if cpus else None):
                self._make(programs, ports, order, cpus)
        except Interrupted as error:
            self._close("interrupted", error.exit_code, f"stopped by signal {error.signal_number}")
            raise
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                self._close("failed", 1, f"failed: {error}")
                raise
            return self._close("failed", 3, _disk_is_full(self._store.folder, error))
        except WeighbridgeError as error:
            self._close("failed", error.exit_code, f"failed: {error}")
            raise
        return self._close("complete", None, "")

    def _make(self, programs: Programs, ports: Ports, order: Sequence[Sequence[Cell]], cpus: CpuPlan | None) -> None:
        """Make every visit of the matrix and of its calibration, on a rig that stands meanwhile."""
        request = self._request
        scratch = request.home / "work" / self._store.folder.name
        scratch.mkdir(parents=True)
        try:
            keys = Keys(
                client=f"sk-{secrets.token_hex(24)}",
                provider=f"sk-{secrets.token_hex(24)}",
                machine=f"vdt_{secrets.token_hex(24)}",
            )
            self._listener.phase("starting the mock provider and the mock control plane")
            rig = Rig(
                supervisor=self._supervisor,
                mocks=start_mocks(self._supervisor, ports, keys, scratch, cpus.mocks if cpus else None),
                meter=Meter(),
                ports=ports,
                keys=keys,
                scratch=scratch,
                folders=_folders(request, scratch),
                cpus=cpus,
            )
            spec = request.loaded.matrix.calibration
            truth = Truth(spec.recipe if spec else None)
            attempts = AttemptMaker(
                request, rig, programs, truth, self._event_log, self._store.record().host.cpu_count
            )
            runner = VisitRunner(attempts, self._store, self._listener, _estimate(order, request.loaded))
            setting = None if spec is None else CalibrationContext(request, programs, self._store, spec)
            certificate = runner.run(_schedule(order, request.loaded.matrix.accept.attempts_per_run, setting))
            if certificate is not None:
                self._store.write_document("certificate.json", certificate)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _close(self, status: str, code: int | None, text: str) -> CampaignOutcome:
        """Write the summary and the last word; a full disk loses these two, never a committed run."""
        self._store.free_reserve()
        runs = self._store.runs()
        record = self._store.record()
        accepted = sum(run.accepted for run in runs)
        certificate = certificate_for(self._request.results, self._store)
        summary = summarise(record, runs, None).changed(certificate=certificate)
        code = exit_code(summary) if code is None else code
        finished = Finished.model_validate(
            {
                "status": status,
                "exit_code": code,
                "ended_at": utc_now(),
                "accepted_count": accepted,
                "rejected_count": len(runs) - accepted,
                "text": text or f"{accepted} runs accepted, {len(runs) - accepted} rejected",
                "certificate": certificate,
            }
        )
        summary = summarise(record, runs, finished)
        self._event_log.write("ended", status=status, exit_code=code, text=finished.text)
        with suppress(OSError):
            self._store.write_document("summary.json", summary)
            self._store.finish(finished)
        self._listener.ended(finished.text)
        return CampaignOutcome(self._store.folder, summary, code, finished.text)


def _schedule(
    order: Sequence[Sequence[Cell]], attempts_per_run: int, setting: CalibrationContext | None
) -> Schedule[Certificate | None]:
    """Yield the visits of the matrix, then those of its calibration, and return the certificate of one."""
    yield from matrix_schedule(order, attempts_per_run)
    return None if setting is None else (yield from calibration_schedule(setting))


def _estimate(order: Sequence[Sequence[Cell]], loaded: LoadedMatrix) -> Estimate:
    """Return what is known beforehand of the whole schedule."""
    spec, look_s = loaded.matrix.calibration, loaded.idle_look_s
    found = estimate_order(order, loaded.waits)
    if spec is None:
        return found
    beside_s = spec.estimated_s + spec.idle_look_count * look_s
    return Estimate(found.seconds + beside_s, found.bytes, found.window_count + spec.window_count)


def _folders(request: CampaignRequest, scratch: Path) -> dict[Path, str]:
    """Return the folders of this machine with the names that are kept in their place."""
    disks = {request.disk_folder(name): f"DISK-{name}" for name in request.loaded.matrix.disks}
    named = {**disks, scratch: "SCRATCH", request.home: "TOOLS", request.loaded.folder.absolute(): "PROJECT"}
    return named | {resources.root(): "WEIGHBRIDGE", Path.home(): "~"}


def rebuild_summary(store: CampaignStore) -> Summary:
    """Make the summary anew from the runs, and store it."""
    summary = summarise(store.record(), store.runs(), store.finished())
    store.write_document("summary.json", summary)
    return summary


def _disk_is_full(folder: Path, error: OSError) -> str:
    return (
        f"no space left where {folder.parent.parent} lies ({error.strerror}): the runs committed so far are whole; "
        "free some space and run the same command again"
    )
