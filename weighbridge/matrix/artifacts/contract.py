"""How the check of an artifact refuses a value."""

from __future__ import annotations

from typing import NoReturn, Protocol

from weighbridge.matrix.yamltext import KeyPath


class Refuse(Protocol):
    """Refuse what stands at a key path of the artifact."""

    def __call__(self, path: KeyPath, problem: str, expected: str) -> NoReturn:
        """Raise InputError with the place."""
        ...
