"""What weakens a figure is said, once, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.matrix_samples import ROOT, catalogue, loaded
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.advice import advise
from weighbridge.matrix.catalogue import read_catalogue
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import read_matrix


def _remarks(folder: Path, *changes: tuple[str, str]) -> tuple[str, ...]:
    read = loaded(folder, *changes)
    return tuple(one.text for one in advise(read, expand(read, catalogue())))


def test_a_sound_matrix_gets_no_advice(tmp_path: Path) -> None:
    """Enough requests, room for connections and runs as the grade asks: silence."""
    assert _remarks(tmp_path) == ()


def test_the_default_matrix_gets_no_advice() -> None:
    """What is shipped as the default does not warn of itself."""
    read = read_matrix(ROOT / "matrix.yaml", TRAITS)

    assert advise(read, expand(read, read_catalogue([ROOT / "templates" / "gateways"]))) == ()


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (1000, ""),
        (999, "999 requests are measured in a run; p99 needs 1,000: shown grey with its rank"),
        (200, "200 requests are measured in a run; p99 needs 1,000: shown grey with its rank"),
        (199, "199 requests are measured in a run; p95 needs 200 and p99 needs 1,000: shown grey with its rank"),
        (50, "50 requests are measured in a run; p95 needs 200 and p99 needs 1,000: p99 will be absent"),
    ],
)
def test_too_few_requests_for_a_percentile(tmp_path: Path, count: int, message: str) -> None:
    """Ten samples must lie beyond a percentile: 200 for p95, 1,000 for p99; said once for all clients."""
    found = _remarks(tmp_path, ("requests: 1000", f"requests: {count}"))

    assert [line.partition("loads.clients.requests: ")[2] for line in found] == ([message] if message else [])


def test_too_few_requests_at_a_rate_are_located(tmp_path: Path) -> None:
    """The sentence stands where the duration was written."""
    (line,) = _remarks(tmp_path, ("duration: 30s", "duration: 8s, companion: off"))

    assert line.startswith(
        f"{tmp_path / 'matrix.yaml'}:12:38: loads.rate.duration: 50 per second measures 400 requests"
    )


def test_requests_of_the_probe_beside_the_driver_are_not_behind_its_percentiles(tmp_path: Path) -> None:
    """What the probe takes is missing in the driver's percentiles: 1,100 requests become too few for a p99."""
    (line,) = _remarks(tmp_path, ("duration: 30s", "duration: 22s"))

    assert "50 per second measures 872 requests in a run by the driver, beside the companion probe" in line


def test_few_connections_for_a_rate(tmp_path: Path) -> None:
    """A cap under 1.5 × rate × (provider time + 50 ms) is told for each mode that it touches."""
    found = _remarks(
        tmp_path, ("per_second: [50], duration: 30s", "per_second: [200], duration: 30s, connections: 32")
    )

    assert [line.partition("connections: ")[2] for line in found] == [
        "32 connections are few for 200 requests/s of mode stream; 44 leave room for a gateway that adds 50 ms"
    ]


def test_fewer_runs_than_the_grade_asks(tmp_path: Path) -> None:
    """A grade is kept, and the runs it lacks are told with the grade that they allow."""
    (line,) = _remarks(tmp_path, ("runs: 3", "runs: 5\ngrade: publish"))

    assert line.endswith("runs: the grade publish asks for 10 runs, not 5; ci is what they allow")


def test_a_chain_that_the_subject_lacks(tmp_path: Path) -> None:
    """A chain that only peers claim is told."""
    (line,) = _remarks(tmp_path, ("subject: alpha", "subject: beta"))

    assert line.endswith("chains[1]: the subject beta does not claim the chain starter")


def test_open_streams_need_no_samples(tmp_path: Path) -> None:
    """They have no percentiles, so their small number is no weakness."""
    change = ("  rate: {per_second: [50], duration: 30s}\n", "  streams: {held: [0, 20], hold: 3s}\n")
    matrix = loaded(tmp_path, change, ("requests: 1000", "requests: 1000"))

    assert not [
        one for one in advise(matrix, expand(matrix, catalogue())) if "samples" in one.text or "p99" in one.text
    ]
