"""The exit code of a finished campaign. Decides nothing else."""

from __future__ import annotations

from weighbridge.record.certificate import Certificate
from weighbridge.record.codes import VERDICTS
from weighbridge.record.summary import Summary


def exit_code(summary: Summary) -> int:
    """Return 0 when every cell has an outcome to publish and the gateway under test was there, else 3.

    It is 3 as well where the campaign's own certificate failed.
    """
    found = summary.certificate
    if isinstance(found, Certificate) and found.campaign == summary.campaign and not found.passed:
        return 3
    if any(cell.gateway == summary.subject and cell.verdict == "unavailable" for cell in summary.cells):
        return 3
    return 0 if all(VERDICTS[cell.verdict].publishable for cell in summary.cells) else 3
