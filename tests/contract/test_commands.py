"""The command line is quick to tell what it offers, and tells it truly."""

from __future__ import annotations

import subprocess
import sys

from weighbridge.load.read import EVERY_FORMAT
from weighbridge.tasks import commands

# What takes long to import, and what is imported with everything that measures.
HEAVY = ("numpy", "pydantic", "jinja2", "uvloop", "psutil", "weighbridge.matrix", "weighbridge.campaign")


def test_listing_tasks_imports_nothing_that_takes_long() -> None:
    """`invoke --list` and `--help` need the flags alone: no library and no room of ours beyond the tasks."""
    code = "import sys, weighbridge.tasks; print('\\n'.join(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "weighbridge.tasks.commands" in ran.stdout.split()
    assert [name for name in HEAVY if name in ran.stdout.split()] == []


def test_the_help_of_read_names_every_format() -> None:
    """What `read` says that it reads is what the drivers read."""
    assert EVERY_FORMAT.what in commands.REPORT_HELP
