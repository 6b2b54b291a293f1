"""What every task shares: where the project lies, how flags become values, how errors become exit codes."""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from invoke.main import program

from weighbridge.errors import InputError, Interrupted, WeighbridgeError


def project() -> Path:
    """Find the project's folder: the nearest one above the working folder that has a `tasks.py`."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "tasks.py").is_file()), here)


def home() -> Path:
    """Folder of tools, gateways and lane state: `.weighbridge` of the project."""
    return project() / ".weighbridge"


def results_folder(out: str) -> Path:
    """Return the results folder: `--out`, else `results` of the project."""
    return Path(out).absolute() if out else project() / "results"


def environment() -> Mapping[str, str]:
    """Return the caller's environment."""
    return dict(os.environ)


def number(flag: str, text: str, parse: Callable[[str], int]) -> int | None:
    """Value of a flag that takes a number; None when it was not given."""
    if not text:
        return None
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"--{flag}: {error}") from error


def command_line() -> str:
    """Return the command as the user typed it, for the page that says how to repeat it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def say(text: str) -> None:
    """Print to stdout."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def report(text: str) -> None:
    """Print to stderr: everything that is not the result."""
    sys.stderr.write(text if text.endswith("\n") else text + "\n")
    sys.stderr.flush()


def leave(code: int) -> NoReturn:
    """End the task with an exit code; Invoke passes SystemExit on."""
    raise SystemExit(code)


def _help(name: str) -> None:
    """Print a task's help: Invoke hands a `--help` behind the task to its positional argument."""
    try:
        program.print_task_help(name)
    except (AttributeError, KeyError):  # another program runs us, or under another name
        report(f"invoke --help {name} prints the help of this task")
        leave(2)


def guarded(task: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the task: its errors are told in one sentence and turned into exit codes; a bug keeps its traceback."""

    @functools.wraps(task)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            if "--help" in args or "--help" in kwargs.values():
                return _help(task.__name__)
            return task(*args, **kwargs)
        except Interrupted as error:
            report(f"Stopped by signal {error.signal_number}. What was committed is whole: invoke show latest")
            leave(error.exit_code)
        except WeighbridgeError as error:
            report(str(error))
            leave(error.exit_code)
        except BrokenPipeError:
            # The reader of our output has gone, as `| head` does; nothing is left to say to it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            leave(0)

    return run
