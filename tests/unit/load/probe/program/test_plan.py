"""The probe's plan, its schedule, and the driver that writes it."""

from __future__ import annotations

import stat
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.examples.probe_lane import SECRET, plan, start_program
from weighbridge.errors import InputError
from weighbridge.load.contract.driver import LoadPlan
from weighbridge.load.drivers import DRIVERS
from weighbridge.load.probe.driver import probe_plan
from weighbridge.load.probe.program.arrivals import draw_lanes, offsets_ns
from weighbridge.load.probe.program.plan import ProbeLane, read_plan
from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad
from weighbridge.rig.processes.supervisor import Supervisor

URL = "http://127.0.0.1:9/v1/chat/completions"


def load_plan(folder: Path, **changes: object) -> LoadPlan:
    """A window as the campaign asks for it."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    load: Load = RateLoad(50.0, 2.0, 100, 32, 0, 60.0)
    if "clients" in changes:
        load = ClientsLoad(request_count=100, warmup_count=0, timeout_s=60.0, **changes)  # type: ignore[arg-type]
    else:
        load = replace(load, **changes)  # type: ignore[arg-type]
    headers = (("authorization", f"Bearer {SECRET}"),)
    return LoadPlan(Path(sys.executable), URL, "plain", load, headers, (SECRET,), folder / "b.jsonl", out, 2.0, 7)


@pytest.mark.parametrize("kind", ["even", "dithered", "poisson"])
def test_schedules_have_the_rate_and_are_repeatable(kind: str) -> None:
    """N ascending starts at the rate; the same seed gives the same ones, another seed others, if chance plays."""
    first = offsets_ns(kind, 200.0, 4_000, 5)
    assert first == sorted(first)
    assert len(first) == 4_000
    assert first == offsets_ns(kind, 200.0, 4_000, 5)
    assert (first == offsets_ns(kind, 200.0, 4_000, 6)) == (kind == "even")
    assert first[-1] / 1e9 == pytest.approx(20.0, rel=0.005)


def test_dithered_has_one_start_in_each_slot_and_no_fixed_phase() -> None:
    """The count in each slot is exactly one; the place in it is spread evenly, so that no phase is favoured."""
    slots = np.array(offsets_ns("dithered", 100.0, 2_000, 3)) / 1e7
    assert (slots.astype(int) == np.arange(2_000)).all()
    counts, _ = np.histogram(slots % 1, bins=10, range=(0, 1))
    assert counts.min() > 120
    assert counts.max() < 280


def test_poisson_gaps_are_exponential() -> None:
    """Gaps of mean m exceed m in 1 ÷ e of the cases and 3 m in 5 %; dithered ones can exceed 2 m in none."""
    gaps = np.diff(np.array(offsets_ns("poisson", 100.0, 4_000, 3))) / 1e7
    assert (gaps > 1).mean() == pytest.approx(np.exp(-1), abs=0.04)
    assert (gaps > 3).mean() == pytest.approx(np.exp(-3), abs=0.02)
    assert (np.diff(np.array(offsets_ns("dithered", 100.0, 4_000, 3))) / 1e7).max() < 2


def test_lanes_are_drawn_by_weight() -> None:
    """A lane of twice the weight gets about twice the requests; a single lane gets all."""
    drawn = draw_lanes([1.0, 2.0], 3_000, 1)
    assert drawn == draw_lanes([1.0, 2.0], 3_000, 1)
    assert drawn.count(1) / drawn.count(0) == pytest.approx(2.0, rel=0.2)
    assert draw_lanes([3.0], 4, 1) == [0, 0, 0, 0]


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    """What is read is what was written."""
    made = plan(tmp_path, URL, rate_rps=300.0, count=9, connections=4, arrivals="poisson")
    (tmp_path / "plan.json").write_bytes(made.to_json())
    assert read_plan(tmp_path / "plan.json") == made


@pytest.mark.parametrize(
    ("mode", "changes", "message"),
    [
        ("plain", {"rate_rps": 5_001.0}, "up to 5,000 requests per second, not 5,001"),
        ("stream", {"rate_rps": 300.5}, "up to 300 streams per second, not 300.5"),
        ("plain", {"clients": 1_001}, "up to 1,000 clients, not 1,001"),
    ],
)
def test_what_lies_above_the_ceiling_is_refused(
    tmp_path: Path, mode: str, changes: dict[str, float], message: str
) -> None:
    """The sentence names the ceiling and what was asked; at the ceiling itself it drives."""
    with pytest.raises(InputError, match=message):
        plan(tmp_path, URL, mode=mode, **changes)
    assert plan(tmp_path, URL, rate_rps=5_000.0).ceiling_rps == 5_000.0
    assert plan(tmp_path, URL, mode="stream", rate_rps=300.0).ceiling_rps == 300.0


def test_the_program_refuses_with_one_sentence(tmp_path: Path) -> None:
    """A plan above the ceiling ends the program with 2, one line and no report, before anything is sent."""
    made = plan(tmp_path, URL, rate_rps=10.0)
    object.__setattr__(made, "rate_rps", 9_000.0)
    probe = start_program(made)
    _, message = probe.communicate(timeout=20)
    assert probe.returncode == 2
    assert "up to 5,000 requests per second" in message
    assert message.count("\n") == 1
    assert not (tmp_path / "report.json").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"clients": None},
        {"rate_rps": 5.0, "clients": 1},
        {"lanes": ()},
        {"lanes": (ProbeLane("http://192.0.2.1:80/", ()),)},
        {"lanes": (ProbeLane("https://127.0.0.1:80/", ()),)},
        {"lanes": (ProbeLane(URL, (), 0.0),)},
        {"arrivals": "odd"},
        {"mode": "both"},
        {"count": 0},
        {"connections": 0},
    ],
    ids=lambda c: "-".join(f"{k}" for k in c),
)
def test_what_cannot_be_driven_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    """No plan without a load or a lane, beyond loopback, or of unknown kind."""
    with pytest.raises(InputError):
        plan(tmp_path, URL, **changes)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "weighbridge.probe-plan/1"}', "\xff"])
def test_what_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    """A sentence with the file's name, never a traceback."""
    (tmp_path / "plan.json").write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=r"plan\.json"):
        read_plan(tmp_path / "plan.json")


def test_the_driver_keeps_keys_out_of_arguments_and_results(tmp_path: Path) -> None:
    """The key stands in the plan alone, beside the folder that is kept, and only its owner may read it."""
    wanted = load_plan(tmp_path)
    command = DRIVERS["probe"].command(wanted)
    ((place, data),) = command.files.items()
    assert SECRET.encode() in data
    assert SECRET not in " ".join(command.argv)
    assert not place.is_relative_to(wanted.out_dir)
    with Supervisor(tmp_path / "state") as supervisor:
        ended = supervisor.run(command)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert ended.exit_code == 2
    with pytest.raises(InputError, match=r"the probe left no report .*exit status 2.*b\.jsonl"):
        DRIVERS["probe"].read(DRIVERS["probe"].outputs(wanted, ended.exit_code, ended.stderr))


def test_the_driver_asks_for_the_load(tmp_path: Path) -> None:
    """Rate and clients, the window's count, the cap and the time-out arrive in the plan."""
    rate = probe_plan(load_plan(tmp_path))
    closed = probe_plan(load_plan(tmp_path, clients=3, connections=3))
    assert (rate.rate_rps, rate.clients, rate.count, rate.connections) == (50.0, None, 132, 32)
    assert (closed.rate_rps, closed.clients, closed.count, closed.timeouts.total_s) == (None, 3, 103, 60.0)
    assert rate.arrivals == "poisson"
    assert probe_plan(load_plan(tmp_path, arrivals="even")).arrivals == "even"


def test_a_kept_plan_tells_no_secret(tmp_path: Path) -> None:
    """What goes into the report has neither header values nor folders."""
    shown = str(replace(plan(tmp_path, URL), seed=1).without_secrets())
    assert SECRET not in shown
    assert str(tmp_path) not in shown
    assert "authorization" in shown
