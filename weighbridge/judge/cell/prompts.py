"""What the prompts of a campaign were: whether lanes of a block had the same ones, and who drew from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge.matrix.axes import window_of
from weighbridge.record.cell import PlannedCell
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import PromptFacts


def prompt_facts(cells: Sequence[PlannedCell], attempts: Mapping[str, Sequence[RunRecord]]) -> PromptFacts:
    """Return what the runs of the planned cells tell of their prompts; runs of before that was kept tell nothing."""
    given: dict[tuple[object, ...], dict[str, set[str]]] = {}
    drawn: set[str] = set()
    is_counted = False
    for plan in cells:
        for run in attempts.get(plan.cell, ()):
            for client in run.clients:
                if client.prompts_sha256 is not None:
                    lanes = given.setdefault((run.block, client.role, *window_of(plan)), {})
                    lanes.setdefault(plan.cell, set()).add(client.prompts_sha256)
            if not run.clients or run.counts is None:
                continue
            is_counted = True
            if run.counts.expected_repeat_ratio > 0:
                # The leading client: whoever rides along sees stamps, and sends each prompt once.
                drawn.add(run.clients[0].driver.tool.name)
    shared = [set().union(*lanes.values()) for lanes in given.values() if len(lanes) > 1]
    same = all(len(digests) == 1 for digests in shared) if shared else None
    return PromptFacts(same_in_block=same, drawn_by=tuple(sorted(drawn)) if is_counted else None)
