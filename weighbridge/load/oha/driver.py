"""The oha driver: which command drives a window, and what its outputs say.

Listed in `drivers`. It starts nothing. oha ≥ 1.14 is meant: earlier ones invert the correction or lack options.
"""

from __future__ import annotations

from pathlib import Path

from weighbridge.command import Command, OnPath
from weighbridge.load.contract.driver import Capabilities, LoadOutputs, LoadPlan
from weighbridge.load.contract.patience import WRITING_S, cut_after_s
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.oha.formats import FORMATS
from weighbridge.load.reports.outputs import outputs_of, read_outputs, stderr_lines


class Oha:
    """Drives `rate` and `clients`; prompts are drawn with replacement, so they are not unique."""

    name = "oha"
    program: Path | OnPath | None = None
    formats = FORMATS
    capabilities = Capabilities(
        loads=frozenset({"rate", "clients"}),
        first_byte=frozenset({"stream"}),
        unique_prompts=False,
        gaps=False,
    )

    def command(self, plan: LoadPlan) -> Command:
        """Program and arguments of one window: always a fixed number of requests, so that none is lost.

        Streams write CSV for their first bytes, plain windows JSON for their error texts; both a SQLite file.
        """
        cut_s = cut_after_s(plan)
        return Command(
            argv=(
                str(plan.program),
                "--no-tui",
                *_outputs(plan),
                *("--db-url", "samples.db", "-r", "0", "--disable-compression"),
                *("-n", str(plan.load.window_count), *_rate(plan), "-c", str(plan.load.connections)),
                *("-t", f"{round(plan.load.timeout_s * 1000)}ms", "-m", "POST", "-T", "application/json"),
                *(word for name, value in plan.headers for word in ("-H", f"{name}: {value}")),
                *("-Z", str(plan.bodies), plan.url),
            ),
            cwd=plan.out_dir,
            cut_after_s=cut_s,
            deadline_s=cut_s + WRITING_S,
            secrets=plan.secrets,
        )

    def outputs(self, plan: LoadPlan, exit_code: int, stderr: bytes) -> LoadOutputs:
        """Files of that window; an interrupt in a rate window leaves no samples file."""
        report, samples = plan.out_dir / _report_name(plan), plan.out_dir / "samples.db"
        return outputs_of(self.command(plan).argv, report, samples, exit_code=exit_code, stderr=stderr)

    def read(self, outputs: LoadOutputs) -> ReportReading:
        """Load report of those files; InputError with oha's own words when it left no report.

        oha ends with 1 also when only its samples file failed.
        """
        lines = stderr_lines(outputs)
        errors = [line for line in lines if line.lower().startswith("error")]
        return read_outputs(self, outputs, next(iter(errors or lines), None), missing="oha left no report")


def _outputs(plan: LoadPlan) -> tuple[str, ...]:
    form = ("--output-format", "csv" if plan.mode == "stream" else "json", "-o", _report_name(plan))
    return form if plan.mode == "stream" else (*form, "--stats-success-breakdown")


def _report_name(plan: LoadPlan) -> str:
    return "report.csv" if plan.mode == "stream" else "report.json"


def _rate(plan: LoadPlan) -> tuple[str, ...]:
    return ("-q", f"{plan.load.offered_rps:.12g}", "--latency-correction") if plan.load.has_schedule else ()
