"""Expansion: product, baselines, claims, ids and connections."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples.matrix_samples import catalogue, cells, loaded
from weighbridge.errors import InputError
from weighbridge.matrix.catalogue import Catalogue
from weighbridge.matrix.cells import BASELINE
from weighbridge.matrix.expand import expand
from weighbridge.matrix.loads.rate import auto_connections
from weighbridge.matrix.requests import AnswerSpec

ONE_PAYLOAD = "{a: {system: 1B, user: 64B}}"
TWO_PAYLOADS = "{a: {system: 1B, user: 64B}, b: {system: 2B, user: 1KiB}}"
ANSWER = AnswerSpec("20ms", delay_s=0.02, chunk_count=16, gap_s=0.005)


def test_ids_are_gateway_chain_disk_mode_load(tmp_path: Path) -> None:
    """An id has the five axes and no more when nothing else varies."""
    ids = [cell.id for cell in cells(tmp_path)]

    assert "alpha.none.work.plain.rate-50" in ids
    assert "beta.starter.work.stream.clients-10" in ids
    assert not [name for name in ids if "+" in name or "@" in name]


def test_further_axes_appear_only_when_they_vary(tmp_path: Path) -> None:
    """Payload and response join the id when the matrix lists more than one, settings when it sets some."""
    found = cells(
        tmp_path,
        ("{1k: {system: 256B, user: 1KiB}}", "{1k: {system: 256B, user: 1KiB}, 8k: {system: 1KiB, user: 7KiB}}"),
        ("{20ms: {delay: 20ms, chunks: 16, gap: 5ms}}", "{20ms: {delay: 20ms}, 1s: {delay: 1s}}"),
        ("[alpha, beta]", "[alpha, {id: beta, settings: {workers: 2, log: 'on'}}]"),
    )
    ids = {cell.id for cell in found}

    assert "beta@log=on,workers=2.none.work.plain.rate-50+payload=8k+answer=1s" in ids
    assert "direct.none.work.plain.rate-50+payload=8k+answer=1s" in ids
    assert "beta@log=on,workers=2.none.work" in {cell.lane.name for cell in found}


def test_baselines_are_there_without_being_listed(tmp_path: Path) -> None:
    """Every cell of a gateway has its baseline, with chain none and the same load, mode, disk, payload, response."""
    found = cells(tmp_path)
    by_id = {cell.id: cell for cell in found}

    for cell in found:
        baseline = by_id[cell.baseline]
        assert baseline.is_baseline
        assert baseline.lane.chain == "none"
        assert (baseline.load, baseline.mode, baseline.payload, baseline.answer, baseline.lane.disk) == (
            cell.load, cell.mode, cell.payload, cell.answer, cell.lane.disk,
        )  # fmt: skip


def test_listing_direct_changes_nothing(tmp_path: Path) -> None:
    """The baseline may be listed and is there once."""
    assert cells(tmp_path, ("[alpha, beta]", "[direct, alpha, beta]")) == cells(tmp_path)


def test_what_a_recipe_does_not_claim_is_shown_and_not_run(tmp_path: Path) -> None:
    """A missing chain and a missing mode are cells with a reason; what is claimed has none."""
    by_id = {cell.id: cell.not_supported for cell in cells(tmp_path)}

    assert by_id["beta.starter.work.plain.rate-50"] == "the recipe of beta has no chain starter"
    assert by_id["alpha.none.work.stream.rate-50"] == "the recipe of alpha does not serve the mode stream"
    assert by_id["alpha.starter.work.plain.rate-50"] is None
    assert by_id["direct.none.work.stream.rate-50"] is None


def test_counts_of_a_load(tmp_path: Path) -> None:
    """A rate measures rate × duration, clients have a connection each.

    A window asks for one more a connection, that of a rate for its warm-up too.
    """
    by_id = {cell.id: cell.load for cell in cells(tmp_path)}
    rate, clients = by_id["beta.none.work.plain.rate-50"], by_id["beta.none.work.plain.clients-10"]

    assert (rate.request_count, rate.connections, rate.window_count) == (1500, 32, 1500 + 25 + 32 + 5)
    assert rate.companion is not None
    assert rate.companion.connections == 5
    assert (clients.request_count, clients.connections, clients.window_count) == (1000, 10, 1010)


def test_connections_of_the_matrix_win_over_auto(tmp_path: Path) -> None:
    """A cap that a published layout has is kept."""
    found = cells(tmp_path, ("duration: 30s", "duration: 30s, connections: 7"))

    assert {cell.load.connections for cell in found if cell.load.kind == "rate"} == {7}


@pytest.mark.parametrize(
    ("rate", "mode", "connections"),
    [(50, "plain", 32), (300, "plain", 42), (150, "stream", 44), (300, "stream", 87), (1000, "plain", 140)],
)
def test_auto_connections_leave_room_for_the_longest_answer(rate: float, mode: str, connections: int) -> None:
    """At least 32, else twice rate × the response with 50 ms for the gateway, rounded up."""
    assert auto_connections(rate, ANSWER, mode) == connections  # type: ignore[arg-type]


def test_include_and_exclude_leave_baselines(tmp_path: Path) -> None:
    """Patterns pick cells of gateways; the baselines of what stays come along, other baselines go."""
    found = cells(tmp_path, ("runs: 3", 'runs: 3\ninclude: ["beta.none.*"]\nexclude: ["*.stream.*", "*.clients-1"]'))

    assert [cell.id for cell in found] == [
        "direct.none.work.plain.rate-50",
        "direct.none.work.plain.clients-10",
        "beta.none.work.plain.rate-50",
        "beta.none.work.plain.clients-10",
    ]


def test_an_excluded_baseline_stays_where_it_is_needed(tmp_path: Path) -> None:
    """Excluding direct does not take the baseline from the gateways."""
    assert cells(tmp_path, ("runs: 3", 'runs: 3\nexclude: ["direct.*"]')) == cells(tmp_path)


def test_the_baseline_alone_can_be_included(tmp_path: Path) -> None:
    """A matrix may ask for nothing but the lane without a gateway."""
    assert {c.lane.gateway for c in cells(tmp_path, ("runs: 3", 'runs: 3\ninclude: ["direct.*"]'))} == {BASELINE}


def test_a_pattern_for_cells_that_a_quick_run_lacks_is_no_fault(tmp_path: Path) -> None:
    """The full run needs the pattern; the quick one has no such chain."""
    quick = 'runs: 3\nexclude: ["*.starter.*.stream.*"]\nquick: {runs: 1, chains: [none]}'

    assert expand(loaded(tmp_path, ("runs: 3", quick), quick=True), catalogue())


def test_without_the_baseline_recipe_nothing_is_weighed(tmp_path: Path) -> None:
    """A catalogue without direct is refused in one sentence."""
    with pytest.raises(InputError, match="no recipe folder holds direct"):
        expand(loaded(tmp_path), Catalogue({}))


_axes = st.fixed_dictionaries(
    {
        "gateways": st.lists(st.sampled_from(["alpha", "beta", "direct", "{id: beta, settings: {workers: 2}}"]),
                             min_size=1, unique=True),
        "chains": st.sampled_from(["[none]", "[none, starter]", "[starter, none]"]),
        "modes": st.sampled_from(["[plain]", "[plain, stream]"]),
        "rates": st.lists(st.integers(1, 500), min_size=1, max_size=3, unique=True),
        "payloads": st.sampled_from([ONE_PAYLOAD, TWO_PAYLOADS]),
        "answers": st.sampled_from(["{now: {delay: 0ms}}", "{now: {delay: 0ms}, late: {delay: 1s}}"]),
    }
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(_axes)
def test_expansion_is_the_product_with_unique_ids_and_a_baseline_for_each(axes: dict[str, object]) -> None:
    """Whatever the axes: as many cells as their product, no id twice, every baseline present, names fit for files."""
    gateways = [*axes["gateways"], "alpha"] if "alpha" not in axes["gateways"] else axes["gateways"]  # type: ignore[misc,operator]
    needs_beta = "stream" in str(axes["modes"])
    if needs_beta and "beta" not in gateways:
        gateways = [*gateways, "beta"]
    with tempfile.TemporaryDirectory() as folder:
        found = cells(
            Path(folder),
            ("[alpha, beta]", f"[{', '.join(gateways)}]"),
            ("[none, starter]", str(axes["chains"])),
            ("[plain, stream]", str(axes["modes"])),
            ("per_second: [50]", f"per_second: {axes['rates']}"),
            ("{1k: {system: 256B, user: 1KiB}}", str(axes["payloads"])),
            ("{20ms: {delay: 20ms, chunks: 16, gap: 5ms}}", str(axes["answers"])),
        )
    sizes = [
        str(axes["modes"]).count(",") + 1,
        str(axes["payloads"]).count("user"),
        str(axes["answers"]).count("delay"),
    ]
    windows = math.prod(sizes) * (len(axes["rates"]) + 2)  # type: ignore[arg-type]
    lanes = 1 + len([name for name in gateways if name != "direct"]) * (str(axes["chains"]).count(",") + 1)

    ids = [cell.id for cell in found]
    assert len(ids) == windows * lanes
    assert len(set(ids)) == len(ids)
    assert {cell.baseline for cell in found} <= set(ids)
    assert all("/" not in name and not name.startswith(".") and name == name.lower() for name in ids)


STREAMS = ("clients: {counts", "streams: {held: [0, 20, 50], hold: 2s}\n  clients: {counts")


def test_each_lane_holds_streams_once(tmp_path: Path) -> None:
    """One cell a lane, of mode stream and of the first response whatever else is listed, opened by our program."""
    found = cells(
        tmp_path, STREAMS, ("{20ms: {delay: 20ms, chunks: 16, gap: 5ms}}", "{a: {delay: 20ms}, b: {delay: 1s}}")
    )
    streams = [cell for cell in found if cell.load.kind == "streams"]

    assert [cell.id for cell in streams] == [
        f"{lane}.work.stream.streams-50+answer=a"
        for lane in ("direct.none", "alpha.none", "alpha.starter", "beta.none", "beta.starter")
    ]
    assert {cell.driver for cell in streams} == {"probe"}
    assert {cell.driver for cell in found if cell.load.kind != "streams"} == {"oha"}


def test_open_streams_are_each_opened_once_and_last_as_long_as_all_steps(tmp_path: Path) -> None:
    """As many requests as the last step holds, no warm-up, and a response whose chunks are a step apart."""
    cell = next(cell for cell in cells(tmp_path, STREAMS) if cell.load.kind == "streams")
    load = cell.load

    assert (load.request_count, load.window_count, load.connections, load.warmup_count) == (50, 50, 50, 0)
    assert (load.offered_rps, load.concurrency, load.companion) == (None, 1, None)
    assert cell.window_answer == AnswerSpec("20ms", 0.02, 4, 2.02)
    assert load.expected_s(cell.answer, cell.mode) == pytest.approx(0.02 + 3 * 2.02)
    assert load.timeout_s == pytest.approx(2.02)


def test_other_loads_are_answered_as_the_matrix_says(tmp_path: Path) -> None:
    """The response of open streams is theirs alone."""
    others = [cell for cell in cells(tmp_path, STREAMS) if cell.load.kind != "streams"]

    assert others
    assert all(cell.window_answer == cell.answer for cell in others)


@pytest.mark.parametrize(
    ("asked", "driver", "own", "beside"),
    [
        ("", "probe", "poisson", None),
        (", arrivals: dithered", "probe", "dithered", None),
        (", arrivals: even", "probe", "even", None),
        ("", "oha", "even", "poisson"),
        (", arrivals: dithered", "oha", "even", "dithered"),
        ("", "wrk", "even", "poisson"),
    ],
)
def test_arrivals_are_those_that_are_asked_for_as_far_as_a_driver_can(
    tmp_path: Path, asked: str, driver: str, own: str, beside: str | None
) -> None:
    """The probe spaces its requests as the matrix says, driving or riding along; oha and wrk space theirs evenly."""
    found = cells(tmp_path, ("duration: 30s", f"duration: 30s{asked}"), ("runs: 3", f"runs: 3\ndriver: {driver}"))
    loads = [cell.load for cell in found if cell.load.kind == "rate"]

    assert {load.arrivals for load in loads} == {own}
    assert {load.companion and load.companion.arrivals for load in loads} == {beside}
    for load in loads:
        parts = [part.load.arrivals for part in load.parts()]
        assert parts == ([own] if beside is None else [own, beside])
