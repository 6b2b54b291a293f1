"""Which module of the package has no test."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.contract.texts import CHECKOUT, assert_none

# Modules that no test names, by the file whose tests go through them.
_BY_FILE: Mapping[str, str] = {
    "component/test_component_calibration.py": """
        campaign.calibration.baselines campaign.calibration.calibrate campaign.calibration.faults
        campaign.calibration.known_delays campaign.window.neighbour load.probe.mixed
    """,
    "component/test_component_commands.py": """
        tasks.mocks tasks.plan_check_install tasks.read_show_pages
    """,
    "component/test_component_happy.py": """
        campaign.lanes campaign.run campaign.runner campaign.visit campaign.window.costs
        tasks.bench tasks.opened tasks.provision
    """,
    "golden/test_golden_pages.py": """
        publish.calibration.abstract
    """,
    "unit/campaign/window/test_preflight.py": """
        load.probe.program.connection load.probe.program.response
    """,
    "unit/judge/cell/test_cell_probe.py": """
        judge.figures.fidelity judge.figures.row_masks judge.run.probe_flags
    """,
    "unit/judge/cell/test_summarise.py": """
        judge.cell.cell judge.cell.enough_runs judge.cell.failed_windows judge.run.background_load
    """,
    "unit/judge/figures/test_open_streams.py": """
        judge.cell.cell_open_streams judge.run.failed_requests
    """,
    "unit/judge/run/test_acceptance.py": """
        judge.run.rig_limits
    """,
    "unit/load/probe/program/test_plan.py": """
        load.probe.program.entry
    """,
    "unit/load/probe/program/test_window.py": """
        load.probe.formats load.probe.program.__main__ load.probe.program.pool load.probe.program.quiet
        load.probe.program.late_turns
    """,
    "unit/load/probe/stream_opener/test_stream_opener.py": """
        load.probe.stream_opener.__main__ load.probe.stream_opener.stream
    """,
    "unit/load/reports/test_edge_cases.py": """
        load.oha.totals
    """,
    "unit/load/test_captures.py": """
        load.oha.formats load.oha.remarks load.oha.report load.oha.samples load.oha.verdict load.reports.spreads
        load.wrk.counts load.wrk.report
    """,
    "unit/load/wrk/test_wrk.py": """
        load.contract.patience load.reports.outputs load.wrk.formats
    """,
    "unit/matrix/test_calibration.py": """
        matrix.calibration_check
    """,
    "unit/matrix/test_files.py": """
        matrix.artifacts.mocks matrix.artifacts.none matrix.artifacts.path matrix.consistency
        matrix.loads.contract matrix.loads.open_streams matrix.strict
    """,
    "unit/matrix/test_recipe.py": """
        matrix.artifacts.contract matrix.artifacts.python matrix.explain matrix.recipe_check
    """,
    "unit/publish/site/test_page.py": """
        publish.prose.provenance publish.tables.main publish.tables.runs publish.tables.side_tables
        publish.views.headline publish.views.rows publish.views.shared
    """,
    "unit/publish/site/test_probed.py": """
        publish.tables.added_time_parts publish.tables.cost publish.tables.streams publish.terminal.cells
    """,
    "unit/publish/terminal/test_terminal.py": """
        record.progress
    """,
    "unit/record/test_documents.py": """
        record.older_codes
    """,
    "unit/rig/lanes/test_usage.py": """
        rig.tree.thread_cpu
    """,
    "unit/rig/machine/test_disks.py": """
        rig.machine.one_shot
    """,
    "unit/rig/processes/test_supervisor.py": """
        rig.processes.child_environment rig.processes.guardian_client rig.processes.spawn rig.processes.stopping
    """,
}
THROUGH = {f"weighbridge.{name}": file for file, names in _BY_FILE.items() for name in names.split()}


def modules() -> set[str]:
    """Names of the package's modules, packages without code left out."""
    files = (path for path in (CHECKOUT / "weighbridge").rglob("*.py") if path.name != "__init__.py")
    return {".".join(path.relative_to(CHECKOUT).with_suffix("").parts) for path in files}


def imported(text: str) -> Iterator[str]:
    """Yield what a test imports, by every name that could be a module's."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def mirror(module: str) -> Path:
    """Return the test file that stands where the module does: `tests/unit/ROOMS/test_MODULE.py`."""
    _, *rooms, name = module.split(".")
    return CHECKOUT.joinpath("tests", "unit", *rooms, f"test_{name}.py")


def untested(names: Iterable[str], named: set[str], through: Mapping[str, str]) -> list[str]:
    """Return modules that neither a file of their name, nor an import, nor a line of `through` stands for."""
    return [name for name in sorted(names) if not (mirror(name).is_file() or name in named or name in through)]


def stale(names: set[str], named: set[str], through: Mapping[str, str]) -> Iterator[str]:
    """Yield lines of `through` that are not needed any more, or lead to no test."""
    for name, file in through.items():
        if name not in names:
            yield f"{name} is no module"
        elif name in named or mirror(name).is_file():
            yield f"{name} is tested by its name now"
        if not (CHECKOUT / "tests" / file).is_file():
            yield f"{name}: tests/{file} is no file"


def named_in_tests() -> set[str]:
    """Everything that some test imports, this file left out."""
    return {
        name for path in (CHECKOUT / "tests").rglob("*.py") for name in imported(path.read_text(encoding="utf-8"))
    }


def test_every_module_has_a_test() -> None:
    """A module is tested in a file of its name, imported by a test, or listed with the test that goes through it."""
    assert_none(untested(modules(), named_in_tests(), THROUGH))


def test_the_list_is_not_longer_than_it_must_be() -> None:
    """A module that got a test, was renamed, or whose test has gone, leaves the list."""
    assert_none(stale(modules(), named_in_tests(), THROUGH))


def test_a_module_without_a_test_is_found() -> None:
    """Neither a room's name nor a module beside it stands for a module."""
    named = set(imported("from weighbridge.judge.run import acceptance\nimport weighbridge.judge.stats\n"))
    names = ["weighbridge.judge.run.acceptance", "weighbridge.judge.run.nobody", "weighbridge.judge.stats.nobody"]

    assert untested(names, named, {}) == names[1:]
    assert untested(names, named, {names[1]: "x.py", names[2]: "x.py"}) == []


def test_a_stale_line_is_found() -> None:
    """Each way in which a line of the list can be wrong is noticed."""
    gone = "unit/test_nowhere.py"
    lines = {
        "weighbridge.units": "unit/test_units.py",
        "weighbridge.old": "unit/test_units.py",
        "weighbridge.new": gone,
    }

    assert list(stale({"weighbridge.units", "weighbridge.new"}, {"weighbridge.units"}, lines)) == [
        "weighbridge.units is tested by its name now",
        "weighbridge.old is no module",
        f"weighbridge.new: tests/{gone} is no file",
    ]
