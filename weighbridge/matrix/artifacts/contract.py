"""What all kinds of artifact have in common: what a recipe's check asks of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, NoReturn, Protocol

from weighbridge.matrix.strict import Strict
from weighbridge.matrix.yamltext import KeyPath


class Refuse(Protocol):
    """Refuse what stands at a key path of the artifact."""

    def __call__(self, path: KeyPath, problem: str, expected: str) -> NoReturn:
        """Raise InputError with the place."""
        ...


class ArtifactKind(Strict):
    """How a gateway is obtained; `has_program` says whether recipes may name `{program}`."""

    has_program: ClassVar[bool] = False

    def texts(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield every text that may hold names, with its key path inside the artifact."""
        yield from ()

    def check(self, files: Mapping[str, bytes], refuse: Refuse) -> None:
        """Refuse what does not fit the other files of the recipe."""
