"""`read`, `show` and `pages`: looking at what was kept; nothing is started."""

from __future__ import annotations

from pathlib import Path

from weighbridge.campaign.run import rebuild_summary
from weighbridge.errors import InputError
from weighbridge.load.read import read_report
from weighbridge.publish.site.site import render
from weighbridge.publish.terminal.terminal import campaign_text, load_report_text
from weighbridge.record.store import CampaignStore, find_campaign
from weighbridge.record.summary import Summary
from weighbridge.tasks import cli


def read(*, file: str, argv_file: str, samples: str, tool_version: str, json: bool) -> None:
    """Parse a saved oha, wrk or probe report and print it."""
    argv = _lines(Path(argv_file)) if argv_file else None
    reading = read_report(
        Path(file), argv=argv, samples=Path(samples) if samples else None, tool_version=tool_version or None
    )
    cli.say(reading.report.to_json() if json else load_report_text(reading.report))


def show(*, campaign: str, out: str, rebuild: bool, json: bool) -> None:
    """Print the tables of a campaign."""
    store = find_campaign(cli.results_folder(out), campaign)
    summary = _summary(store, rebuild=rebuild)
    cli.say(summary.to_json() if json else campaign_text(summary))


def pages(*, campaign: str, out: str, site: str) -> None:
    """Render the pages of a campaign."""
    results = cli.results_folder(out)
    store = find_campaign(results, campaign)
    cli.say(str(render(_summary(store, rebuild=False), Path(site) if site else results / "site")))


def _summary(store: CampaignStore, *, rebuild: bool) -> Summary:
    """Return the stored summary; it is made from the runs where a campaign was cut before it could write one."""
    if rebuild or not (store.folder / "summary.json").exists():
        return rebuild_summary(store)
    return store.summary()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--argv-file: {path} cannot be read ({error})") from error
