"""What the prompts of a campaign were, by the digests that its runs kept."""

from __future__ import annotations

from tests.examples import judge_examples as given
from weighbridge.judge.cell.prompts import prompt_facts
from weighbridge.record.run import ClientRecord, RunRecord

LOAD = given.rate_load(50, 200)
CELLS = [f"{gateway}.none.work.plain.rate-50" for gateway in ("direct", "reference", "litellm")]
PLANS = [given.plan(cell, LOAD) for cell in CELLS]


def _run(cell: str, block: int, *digests: str | None, drawn_ratio: float = 0.0) -> RunRecord:
    """A run whose clients had these files of prompts."""
    facts = given.window_of(given.client(LOAD, given.open_loop(LOAD, 0.02)))
    one = given.run(cell, block, facts).clients[0]
    clients = tuple(
        ClientRecord(role=role, load=LOAD, driver=one.driver, load_report=None, prompts_sha256=digest)
        for role, digest in zip(("driver", "companion"), digests, strict=False)
    )
    return given.run(cell, block, clients=clients, counts=given.counts(200, expected_repeat_ratio=drawn_ratio))


def _facts(*runs: RunRecord) -> tuple[bool | None, tuple[str, ...] | None]:
    found = prompt_facts(PLANS, {cell: [run for run in runs if run.cell == cell] for cell in CELLS})
    return found.same_in_block, found.drawn_by


def test_lanes_with_equal_files_in_each_block_have_the_same_prompts() -> None:
    """Blocks may differ from each other, and so may the clients of a window."""
    runs = [_run(cell, block, f"a{block}", f"b{block}") for cell in CELLS for block in (1, 2)]
    assert _facts(*runs) == (True, ())


def test_one_lane_with_another_file_is_seen() -> None:
    """In one block of two one client of one lane had other prompts."""
    runs = [_run(cell, block, f"a{block}", f"b{block}") for cell in CELLS for block in (1, 2)]
    assert _facts(*runs[:-1], _run(CELLS[2], 2, "a2", "other"))[0] is False


def test_runs_that_kept_no_digest_tell_nothing() -> None:
    """As those of before it was kept, and as one lane alone."""
    assert _facts(*(_run(cell, 1, None) for cell in CELLS))[0] is None
    assert _facts(_run(CELLS[0], 1, "a"))[0] is None
    assert _facts(given.run(CELLS[0], 1)) == (None, None)


def test_who_drew_with_replacement_is_named() -> None:
    """The leading client, where repeats are to be expected."""
    assert _facts(*(_run(cell, 1, "a", "b", drawn_ratio=0.05) for cell in CELLS)) == (True, ("oha",))
