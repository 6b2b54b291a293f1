"""Programs that come with Weighbridge."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from weighbridge.matrix.artifacts.contract import ArtifactKind


class MocksArtifact(ArtifactKind):
    """A program that comes with Weighbridge, run by its own Python from the folder `{mocks_root}`."""

    kind: Literal["mocks"] = Field(description="mocks.")
