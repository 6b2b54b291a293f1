"""Documents of every version that was ever written: each example below `tests/data/documents` must read for ever.

The folders are named `<kind>-<version>`; a new version gets a folder of its own and the old ones stay as they are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge.errors import SchemaTooNew, StoreError
from weighbridge.publish.site.page import page_of
from weighbridge.publish.terminal.terminal import campaign_text
from weighbridge.record.base import Versioned
from weighbridge.record.campaign import CampaignRecord, Finished
from weighbridge.record.certificate import Certificate
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Absent, Figure, Timing
from weighbridge.record.load_report import LoadReport
from weighbridge.record.migrations import MIGRATIONS
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import Summary
from weighbridge.record.visit import VisitRecord

FOLDER = Path(__file__).resolve().parents[2] / "data" / "documents"
KINDS: dict[str, type[Versioned]] = {
    "run": RunRecord,
    "summary": Summary,
    "campaign": CampaignRecord,
    "finished": Finished,
    "certificate": Certificate,
    "visit": VisitRecord,
    "load-report": LoadReport,
}
EXAMPLES = sorted(FOLDER.glob("*/*.json"))


def name_of(path: Path) -> str:
    """Folder and file, for the names of tests."""
    return f"{path.parent.name}/{path.stem}"


def read(path: Path) -> Versioned:
    """The document of an example in today's form."""
    kind = path.parent.name.rpartition("-")[0]
    return KINDS[kind].from_json(path.read_bytes(), origin=path.name)


def example(name: str) -> Any:
    """One example by its folder and name."""
    return read(FOLDER / f"{name}.json")


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_a_kept_document_reads(path: Path) -> None:
    """It is of the version of its folder, reads into today's form, and that form reads as itself."""
    kind, _, number = path.parent.name.rpartition("-")
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == f"weighbridge.{kind}/{number}"
    found = read(path)
    assert found.schema_ == KINDS[kind].schema_name()
    assert KINDS[kind].from_json(found.to_json(), origin="again") == found


def test_every_version_has_an_example() -> None:
    """No step of a migration is without a document that takes it, and what is written today is kept as it is."""
    stepped = {f"{kind.removeprefix('weighbridge.')}-{number}" for kind, number in MIGRATIONS}
    today = {model.schema_name().removeprefix("weighbridge.").replace("/", "-") for model in KINDS.values()}
    assert stepped | today <= {path.parent.name for path in EXAMPLES}


def test_what_a_run_said_in_phrases_is_codes_now() -> None:
    """Reasons, absences and rates of the first version have the form of today."""
    good = example("run-1/plain-with-companion")
    assert good.reason is None
    assert good.figures.timing("ttfb_ms") == Absent(absent="not_reported_by_driver")
    assert good.figures.value("achieved_rps") == Figure(value=19.985988157857314)
    assert isinstance(good.figures.timing("added_ms"), Timing)
    bad = example("run-1/rejected")
    assert bad.reason == Reason.of("errors", "12 of 125 requests failed: 12 × status 500")
    alone = example("run-1/without-a-window")
    assert alone.figures is None
    assert (alone.clients, alone.no_companion) == (
        (),
        "off: the matrix wants no probe beside the driver (ride_along)",
    )
    assert [client.role for client in good.clients] == ["driver", "companion"]
    assert [client.driver.tool.name for client in good.clients] == ["oha", "probe"]
    assert example("run-1/direct-by-clients").resources.absent["rss_idle_bytes"] == Absent(absent="no_gateway")


def test_what_a_summary_said_in_phrases_is_codes_now() -> None:
    """Each outcome of a cell keeps its verdict and its reason; a saturated one keeps its words."""
    found = example("summary-1/every-outcome")
    reasons = {cell.verdict: cell.reason for cell in found.cells if cell.reason is not None}
    assert {verdict: (one.code, one.class_) for verdict, one in reasons.items()} == {
        "errored": ("errors", "gateway"),
        "not_supported": ("not_supported", "gateway"),
        "incomplete": ("not_run", "rig"),
        "rig_limited": ("steal", "rig"),
    }
    saturated = next(cell for cell in found.cells if cell.verdict == "saturated")
    assert saturated.timing("shift_ms") == Absent(absent="saturated", detail="served 66 of 150 per second")
    assert [one.code for one in found.provenance.warnings] == ["driver_replaced", "requests_below_percentile"]
    assert page_of([found])
    assert "served 66 of 150/s" in campaign_text(found)


def test_what_words_have_changed_is_read_in_those_of_today() -> None:
    """Figures, flags, kinds and certificates of the first version come back under their names of today, none lost."""
    path = FOLDER / "run-1" / "plain-with-companion.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    run = example("run-1/plain-with-companion")
    assert run.self_reported_ms == Absent(absent="not_self_reported")
    for now, then in (("request_path_ms", "inbound_ms"), ("response_path_ms", "outbound_ms")):
        assert run.figures.timing(now).p50 == raw["figures"][then]["p50"]
    found = example("summary-1/every-outcome")
    assert {gateway.kind for gateway in found.gateways} == {"baseline", "mock", "product"}
    then = json.loads((FOLDER / "summary-1" / "every-outcome.json").read_text(encoding="utf-8"))["cells"]
    assert [cell.baseline for cell in found.cells] == [cell["floor"] for cell in then]
    quick = example("summary-1/quick")
    direct = next(cell for cell in quick.cells if cell.gateway == "direct")
    assert direct.timing("shift_ms") == Absent(absent="baseline")
    flags = [
        flag
        for cell in json.loads((FOLDER / "summary-1" / "quick.json").read_text())["cells"]
        for flag in cell["flags"]
    ]
    assert [flag.replace("floor", "baseline") for flag in flags] == [
        flag for cell in quick.cells for flag in cell.flags
    ]
    certificate = example("certificate-1/provisional")
    assert {one.condition for one in certificate.known_delays} == {"quiet"}
    assert all(block.control_ms > 0 for one in certificate.known_delays for block in one.blocks)
    assert example("finished-1/calibration").certificate.known_delays


def test_held_streams_of_the_first_version_are_open_and_buffered_ones() -> None:
    """Steps, flag, absence and buffering verdict of the first version have the names of today."""
    raw = json.loads((FOLDER / "run-1" / "stream-by-probe.json").read_text(encoding="utf-8"))
    step = {"held_count": 2, "content_count": 1, "open_count": 2, "at_s": 0.1, "rss_bytes": None, "pss_bytes": None}
    raw["held"] = {"points": [step], "opened_count": 2, "whole_count": 2, "broken": None, "faults": {}}
    raw["flags"] = ["held_back"]
    raw["figures"]["buffering"] = "held until complete"
    raw["figures"]["added_ms"] = {"absent": "held_streams"}
    found = RunRecord.from_json(json.dumps(raw), origin="run.json")
    assert found.open_streams is not None
    assert found.figures is not None
    assert [step.client_open_count for step in found.open_streams.points] == [2]
    assert found.flags == ("buffered",)
    assert found.figures.buffering == "held until complete"
    assert found.figures.bunching.buffered_stream_count == raw["figures"]["bunching"]["held_stream_count"]
    assert found.figures.timing("added_ms") == Absent(absent="open_streams")


def test_a_newer_document_is_refused_and_a_broken_older_one_told() -> None:
    """What a later Weighbridge wrote is not guessed at; an older document that lacks a part is named."""
    path = FOLDER / "run-1" / "rejected.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(SchemaTooNew, match="update Weighbridge"):
        RunRecord.from_json(json.dumps(raw | {"schema": "weighbridge.run/99"}), origin="run.json")
    del raw["figures"]
    with pytest.raises(StoreError, match=r"run\.json: is no weighbridge.run/1 document that can be read"):
        RunRecord.from_json(json.dumps(raw), origin="run.json")
