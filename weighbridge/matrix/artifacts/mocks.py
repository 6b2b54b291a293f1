"""Programs that come with Weighbridge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from weighbridge.matrix.artifacts.contract import Refuse
from weighbridge.matrix.strict import Strict
from weighbridge.matrix.yamltext import KeyPath


class MocksArtifact(Strict):
    """A program that comes with Weighbridge, run by its own Python from the folder `{mocks_root}`."""

    has_program: ClassVar[bool] = False

    kind: Literal["mocks"] = Field(description="mocks.")

    def texts(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield no text that may hold names."""
        yield from ()

    def check(self, _files: Mapping[str, bytes], _refuse: Refuse) -> None:
        """Refuse nothing."""
