"""What the command line offers: each task with its flags and their help, and the one call that does it.

What does a task is imported when it is called, for `--list` and `--help` are asked for often and need none of it.
"""

from __future__ import annotations

from typing import Any

from invoke.context import Context
from invoke.tasks import task

from weighbridge.tasks.cli import guarded

MATRIX_HELP = "matrix file (default: matrix.yaml of the project)"
RECIPES_HELP = "folder with more gateway recipes"
ONLY_HELP = "shell pattern on cell ids, repeatable; the baseline comes with it"
CAMPAIGN_HELP = "campaign folder, its name, or latest"
REPORT_HELP = (
    "stored output of a load generator: a report of oha in JSON or CSV, or its SQLite file, a report of our wrk "
    "script in JSON or a report of the probe in JSON"
)


@task(
    auto_shortflags=False,
    iterable=["only"],
    help={
        "matrix": MATRIX_HELP,
        "recipes": RECIPES_HELP,
        "quick": "what the matrix's quick section says: a first look, no claims",
        "only": ONLY_HELP,
        "runs": "accepted runs per cell (overrides the matrix)",
        "out": "folder for campaigns and site, instead of results/",
        "state_root": "existing folder for gateway state, instead of .weighbridge/state",
        "port_base": "first of six ports to use, instead of a free range",
        "driver": "load generator, instead of the matrix's",
        "no_install": "don't install anything; gateways not already installed are reported as unavailable",
        "json": "print only the summary JSON",
    },
)
@guarded
def bench(
    _: Context,
    *,
    matrix: str = "",
    recipes: str = "",
    quick: bool = False,
    only: Any = None,
    runs: str = "",
    out: str = "",
    state_root: str = "",
    port_base: str = "",
    driver: str = "",
    no_install: bool = False,
    json: bool = False,
) -> None:
    """Run the benchmark; print tables and write the report."""
    from weighbridge.tasks.bench import bench as call

    call(
        matrix=matrix,
        recipes=recipes,
        quick=quick,
        only=only,
        runs=runs,
        out=out,
        state_root=state_root,
        port_base=port_base,
        driver=driver,
        no_install=no_install,
        json=json,
    )


@task(
    auto_shortflags=False,
    iterable=["only"],
    help={
        "matrix": MATRIX_HELP,
        "recipes": RECIPES_HELP,
        "quick": "plan what bench --quick would do",
        "only": ONLY_HELP,
        "runs": "accepted runs per cell (overrides the matrix)",
    },
)
@guarded
def plan(
    _: Context, matrix: str = "", recipes: str = "", quick: bool = False, only: Any = None, runs: str = ""
) -> None:
    """Print cells, order, minutes and megabytes."""
    from weighbridge.tasks.plan_check_install import plan as call

    call(matrix=matrix, recipes=recipes, quick=quick, only=only, runs=runs)


@task(
    auto_shortflags=False,
    help={"matrix": MATRIX_HELP, "recipes": RECIPES_HELP, "quick": "check what bench --quick needs"},
)
@guarded
def check(_: Context, matrix: str = "", recipes: str = "", quick: bool = False) -> None:
    """Validate matrix, recipes, tools and host."""
    from weighbridge.tasks.plan_check_install import check as call

    call(matrix=matrix, recipes=recipes, quick=quick)


@task(
    auto_shortflags=False,
    iterable=["only"],
    help={
        "matrix": MATRIX_HELP,
        "recipes": RECIPES_HELP,
        "only": "gateway id or driver, repeatable; default: all that the matrix needs",
    },
)
@guarded
def install(_: Context, matrix: str = "", recipes: str = "", only: Any = None) -> None:
    """Get the tools and gateways that a matrix needs."""
    from weighbridge.tasks.plan_check_install import install as call

    call(matrix=matrix, recipes=recipes, only=only)


@task(auto_shortflags=False, help={"port_base": "first of six ports to use, instead of a free range"})
@guarded
def mocks(_: Context, port_base: str = "") -> None:
    """Run the mock servers in the foreground, for manual use."""
    from weighbridge.tasks.mocks import mocks as call

    call(port_base=port_base)


@task(
    auto_shortflags=False,
    help={
        "file": REPORT_HELP,
        "argv_file": "file with the tool's arguments, one per line",
        "samples": "the run's SQLite or CSV file",
        "tool_version": "version of the tool, where the file does not report it",
        "json": "print only the load report JSON",
    },
)
@guarded
def read(
    _: Context, file: str, argv_file: str = "", samples: str = "", tool_version: str = "", json: bool = False
) -> None:
    """Parse a saved oha, wrk or probe report and print it."""
    from weighbridge.tasks.read_show_pages import read as call

    call(file=file, argv_file=argv_file, samples=samples, tool_version=tool_version, json=json)


@task(
    auto_shortflags=False,
    help={
        "campaign": CAMPAIGN_HELP,
        "out": "results folder, instead of results/",
        "rebuild": "rebuild the summary from the runs",
        "json": "print only the summary JSON",
    },
)
@guarded
def show(_: Context, campaign: str, out: str = "", rebuild: bool = False, json: bool = False) -> None:
    """Print the tables of a campaign."""
    from weighbridge.tasks.read_show_pages import show as call

    call(campaign=campaign, out=out, rebuild=rebuild, json=json)


@task(
    auto_shortflags=False,
    help={
        "campaign": CAMPAIGN_HELP,
        "out": "results folder, instead of results/",
        "site": "folder for the pages, instead of site/ of the results folder",
    },
)
@guarded
def pages(_: Context, campaign: str, out: str = "", site: str = "") -> None:
    """Render the pages of a campaign."""
    from weighbridge.tasks.read_show_pages import pages as call

    call(campaign=campaign, out=out, site=site)
