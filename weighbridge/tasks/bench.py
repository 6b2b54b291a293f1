"""`bench`: run the matrix and end with tables in the terminal and pages on disk."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weighbridge import resources, units
from weighbridge.campaign.request import CampaignOutcome, CampaignRequest
from weighbridge.campaign.run import run_campaign
from weighbridge.errors import InputError
from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.advice import advise
from weighbridge.publish.site.site import render
from weighbridge.publish.terminal.progress import ConsoleListener
from weighbridge.publish.terminal.terminal import campaign_text
from weighbridge.record.coded import CampaignWarning
from weighbridge.rig.processes.signals import StopSignals
from weighbridge.tasks import cli
from weighbridge.tasks.opened import Asked, Opened, open_matrix
from weighbridge.tasks.provision import Provisions, at_hand, provide


@dataclass(frozen=True)
class _Places:
    """Where a campaign reads and writes."""

    results: Path
    state_root: Path | None
    port_base: int | None


def bench(
    *,
    matrix: str,
    recipes: str,
    quick: bool,
    only: Any,
    runs: str,
    out: str,
    state_root: str,
    port_base: str,
    driver: str,
    no_install: bool,
    json: bool,
) -> None:
    """Run the benchmark; print tables and write the report."""
    asked = Asked(
        matrix, recipes, quick, tuple(only or ()), cli.number("runs", runs, units.parse_count), driver or None
    )
    opened = open_matrix(asked)
    places = _Places(
        results=cli.results_folder(out),
        state_root=_existing(state_root),
        port_base=cli.number("port-base", port_base, units.parse_port),
    )
    opened, remark = at_hand(asked, opened, compiles=not (quick or no_install))
    with StopSignals(), ConsoleListener(sys.stderr) as listener:
        if remark:
            listener.warning(remark.text)
        provisions = provide(opened, listener, install=not no_install)
        request = _request(opened, places, provisions)
        if remark:
            request = replace(request, warnings=(remark, *request.warnings))
        outcome = run_campaign(request, listener, cli.environment())
        site = render(outcome.summary, places.results / "site")
    _report(outcome, site, as_json=json)
    cli.leave(outcome.exit_code)


def _existing(state_root: str) -> Path | None:
    if not state_root:
        return None
    path = Path(state_root).absolute()
    if not path.is_dir():
        raise InputError(f"--state-root: {state_root} is not a directory", expected="expected an existing folder")
    return path


def _request(opened: Opened, places: _Places, provisions: Provisions) -> CampaignRequest:
    matrix = opened.loaded.matrix
    return CampaignRequest(
        loaded=opened.loaded,
        catalogue=opened.catalogue,
        cells=opened.cells,
        only=opened.only,
        runs=matrix.runs,
        results=places.results,
        home=cli.home(),
        state_root=places.state_root,
        port_base=places.port_base,
        driver=DRIVERS[matrix.driver],
        tool=provisions.tool,
        gateways=provisions.gateways,
        unavailable=provisions.unavailable,
        warnings=tuple(
            CampaignWarning(code=one.code, detail=one.text) for one in advise(opened.loaded, opened.cells)
        ),
        command=cli.command_line(),
        checkout=resources.checkout(),
    )


def _report(outcome: CampaignOutcome, site: Path, *, as_json: bool) -> None:
    if as_json:
        cli.say(outcome.summary.to_json())
    else:
        cli.say(campaign_text(outcome.summary))
    report = cli.report if as_json else cli.say
    report(f"{outcome.text}.")
    report(f"Records: {outcome.folder}")
    report(f"Page:    {site}")
