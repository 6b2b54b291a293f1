"""Short questions to programs: `oha --version`, `git rev-parse`, a one-second `fio`.

For what responds at once and leaves nothing running. Programs that take long or serve belong to the supervisor.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CommandOutput:
    """What a program answered; `exit_code` is negative for a death by signal."""

    exit_code: int
    stdout: str
    stderr: str


def ask(
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    timeout_s: float = 10.0,
    cwd: Path | None = None,
) -> CommandOutput | None:
    """Answer of a program, None when it cannot be started or gives none within `timeout_s`.

    `env` is its whole environment. Its process group is killed when time is up or we are interrupted.
    """
    try:
        process = subprocess.Popen(
            [str(word) for word in argv],
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return CommandOutput(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
