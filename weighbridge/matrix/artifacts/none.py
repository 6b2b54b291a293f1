"""Nothing to obtain."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from weighbridge.matrix.artifacts.contract import ArtifactKind


class NoArtifact(ArtifactKind):
    """Nothing to obtain: the lane without a gateway."""

    kind: Literal["none"] = Field(description="none.")
