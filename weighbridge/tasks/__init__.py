"""The front door: the Invoke collection. One verb a task; tasks are thin and hold no rule.

A project takes it with `from weighbridge.tasks import namespace` in its own `tasks.py`. The environment is read
here and nowhere else.
"""

from invoke.collection import Collection

from weighbridge.tasks.commands import bench, check, install, mocks, pages, plan, read, show

namespace = Collection(bench, plan, check, install, mocks, read, show, pages)
# Invoke's own `run` is never used; a user's Invoke configuration must not change what tasks do.
namespace.configure({"run": {"echo": False}})

__all__ = ["namespace"]
