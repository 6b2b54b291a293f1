"""Programs that the user has installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from weighbridge.matrix.artifacts.contract import Refuse
from weighbridge.matrix.strict import Arguments, Strict, matching
from weighbridge.matrix.yamltext import KeyPath


class PathArtifact(Strict):
    """A program that the user has installed, looked up on PATH."""

    has_program: ClassVar[bool] = True

    kind: Literal["path"] = Field(description="path.")
    program: Annotated[str, matching(r"[A-Za-z0-9._-]+", "expected the name of a program on PATH")] = Field(
        description="Name looked up on PATH."
    )
    version_argv: Arguments = Field(default=(), description="Arguments that print the version.")

    def texts(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield the arguments that print the version."""
        yield from ((("version_argv", number), text) for number, text in enumerate(self.version_argv))

    def check(self, _files: Mapping[str, bytes], _refuse: Refuse) -> None:
        """Refuse nothing: whether the program is there is seen when it is looked up."""
