"""`read`, `show` and `pages`: looking at what was kept; nothing is started."""

from __future__ import annotations

from pathlib import Path

from invoke.context import Context
from invoke.tasks import task

from weighbridge.campaign.run import rebuild_summary
from weighbridge.errors import InputError
from weighbridge.load.read import FORMATS, read_report
from weighbridge.publish.site.site import render
from weighbridge.publish.terminal.terminal import campaign_text, load_report_text
from weighbridge.record.store import CampaignStore, find_campaign
from weighbridge.record.summary import Summary
from weighbridge.tasks import cli

CAMPAIGN_HELP = "campaign folder, its name, or latest"


@task(
    auto_shortflags=False,
    help={
        "file": f"stored output of a load generator: {FORMATS.what}",
        "argv_file": "file with the tool's arguments, one a line",
        "samples": "the run's SQLite or CSV file",
        "tool_version": "version of the tool, where the file does not tell",
        "json": "print the load report document alone on stdout",
    },
)
@cli.guarded
def read(
    _: Context, file: str, argv_file: str = "", samples: str = "", tool_version: str = "", json: bool = False
) -> None:
    """Print what we make of one stored load report."""
    argv = _lines(Path(argv_file)) if argv_file else None
    reading = read_report(
        Path(file), argv=argv, samples=Path(samples) if samples else None, tool_version=tool_version or None
    )
    cli.say(reading.report.to_json() if json else load_report_text(reading.report))


@task(
    auto_shortflags=False,
    help={
        "campaign": CAMPAIGN_HELP,
        "out": "results folder, instead of results/",
        "rebuild": "make the summary anew from the runs",
        "json": "print the summary document alone on stdout",
    },
)
@cli.guarded
def show(_: Context, campaign: str, out: str = "", rebuild: bool = False, json: bool = False) -> None:
    """Print the tables of a campaign."""
    store = find_campaign(cli.results_folder(out), campaign)
    summary = _summary(store, rebuild=rebuild)
    cli.say(summary.to_json() if json else campaign_text(summary))


@task(
    auto_shortflags=False,
    help={
        "campaign": CAMPAIGN_HELP,
        "out": "results folder, instead of results/",
        "site": "folder for the pages, instead of site/ of the results folder",
    },
)
@cli.guarded
def pages(_: Context, campaign: str, out: str = "", site: str = "") -> None:
    """Render the pages of a campaign."""
    results = cli.results_folder(out)
    store = find_campaign(results, campaign)
    cli.say(str(render(_summary(store, rebuild=False), Path(site) if site else results / "site")))


def _summary(store: CampaignStore, *, rebuild: bool) -> Summary:
    """The stored summary; made from the runs where a campaign was cut before it could write one."""
    if rebuild or not (store.folder / "summary.json").exists():
        return rebuild_summary(store)
    return store.summary()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--argv-file: {path} cannot be read ({error})") from error
