"""What every task shares: where the project lies, how flags become values, how errors become exit codes."""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from invoke.main import program

from weighbridge import resources
from weighbridge.errors import InputError, Interrupted, WeighbridgeError
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.catalogue import Catalogue, read_catalogue
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import LoadedMatrix, read_matrix
from weighbridge.matrix.select import select

MATRIX_HELP = "matrix file (default: matrix.yaml of the project)"
RECIPES_HELP = "folder with more gateway recipes"
ONLY_HELP = "shell pattern on cell ids, repeatable; the baseline comes with it"


@dataclass(frozen=True)
class Opened:
    """A matrix that was read, with its recipes and the cells that were selected."""

    loaded: LoadedMatrix
    catalogue: Catalogue
    cells: tuple[Cell, ...]
    only: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """Flags that say which matrix is meant and how much of it."""

    matrix: str = ""
    recipes: str = ""
    quick: bool = False
    only: Sequence[str] = ()
    runs: int | None = None
    driver: str | None = None


def project() -> Path:
    """The project's folder: the nearest one above the working folder that has a `tasks.py`."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "tasks.py").is_file()), here)


def home() -> Path:
    """Folder of tools, gateways and lane state: `.weighbridge` of the project."""
    return project() / ".weighbridge"


def results_folder(out: str) -> Path:
    """The results folder: `--out`, else `results` of the project."""
    return Path(out).absolute() if out else project() / "results"


def environment() -> Mapping[str, str]:
    """The caller's environment."""
    return dict(os.environ)


def open_matrix(asked: Asked) -> Opened:
    """The matrix that the flags mean, expanded and selected; InputError when something does not fit."""
    path = Path(asked.matrix) if asked.matrix else _default_matrix()
    loaded = read_matrix(path, TRAITS, quick=asked.quick).override(runs=asked.runs, driver=asked.driver)
    extra = (Path(asked.recipes),) if asked.recipes else ()
    catalogue = read_catalogue((resources.gateways(), *loaded.recipe_folders(), *extra))
    return Opened(loaded, catalogue, select(expand(loaded, catalogue), list(asked.only)), tuple(asked.only))


def _default_matrix() -> Path:
    path = project() / "matrix.yaml"
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path


def number(flag: str, text: str, parse: Callable[[str], int]) -> int | None:
    """Value of a flag that takes a number; None when it was not given."""
    if not text:
        return None
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"--{flag}: {error}") from error


def command_line() -> str:
    """The command as the user typed it, for the page that says how to repeat it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def say(text: str) -> None:
    """Print to stdout."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def tell(text: str) -> None:
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
        tell(f"invoke --help {name} prints the help of this task")
        leave(2)


def guarded(task: Callable[..., Any]) -> Callable[..., Any]:
    """The task with its errors told in one sentence and turned into exit codes; a bug keeps its traceback."""

    @functools.wraps(task)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            if "--help" in args or "--help" in kwargs.values():
                return _help(task.__name__)
            return task(*args, **kwargs)
        except Interrupted as error:
            tell(f"Stopped by signal {error.signal_number}. What was committed is whole: invoke show latest")
            leave(error.exit_code)
        except WeighbridgeError as error:
            tell(str(error))
            leave(error.exit_code)
        except BrokenPipeError:
            # The reader of our output has gone, as `| head` does; nothing is left to say to it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            leave(0)

    return run
