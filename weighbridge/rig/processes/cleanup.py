"""The second net: what a killed run and its killed guardian left behind is stopped at the next start.

Called before a campaign starts anything. It must only touch processes that carry the tag which the register of the
dead run names, and only while that run's own process is gone.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from weighbridge.rig.processes import register
from weighbridge.rig.processes.register import FILE_NAME, SCRATCH_NAME, Register
from weighbridge.rig.tree import cgroup, process_tree


def clean_up(state_dir: Path) -> tuple[str, ...]:
    """Sentences about what was stopped; empty when nothing was left, or when its run still lives."""
    try:
        left = register.read(state_dir)
    except (ValueError, OSError) as error:
        (state_dir / FILE_NAME).unlink(missing_ok=True)
        return (f"{state_dir / FILE_NAME} could not be read ({error}) and was removed; nothing was cleaned up.",)
    if left is None or process_tree.is_alive(left.owner):
        return ()
    sentences = _stop(left)
    cgroup.remove_leftovers(f"{left.tag}.")
    shutil.rmtree(state_dir / SCRATCH_NAME / left.tag, ignore_errors=True)
    (state_dir / FILE_NAME).unlink(missing_ok=True)
    return sentences


def _stop(left: Register) -> tuple[str, ...]:
    tag = f"{left.tag}."
    # No roots are given: a pid and a start time alone may be a stranger's after a reboot or in another container.
    found = process_tree.find((), tag)
    if not found:
        return ()
    names = {entry.root: entry.name for entry in left.entries.values()}
    ending = process_tree.end(lambda: process_tree.find((), tag))
    what = ", ".join(f"{names.get(member, 'a process of it')} (pid {member.pid})" for member in found)
    sentences = [f"Stopped what an earlier run that was killed had left: {what}."]
    sentences += [f"Process {member.pid} of an earlier run could not be stopped." for member in ending.left]
    return tuple(sentences)
