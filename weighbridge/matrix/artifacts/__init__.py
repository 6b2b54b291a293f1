"""Every kind of artifact, each whole in a file of its own: its keys, and what is checked of them.

`has_program` says whether recipes may name `{program}`, `texts` yields what may hold names, `check` looks at the
other files of the recipe. A kind is listed here and nowhere else in this room; `rig.obtain` has its installer.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Discriminator, Tag

from weighbridge.matrix.artifacts.mocks import MocksArtifact
from weighbridge.matrix.artifacts.none import NoArtifact
from weighbridge.matrix.artifacts.path import PathArtifact
from weighbridge.matrix.artifacts.python import PythonArtifact
from weighbridge.matrix.explain import FORM

__all__ = ["ARTIFACTS", "Artifact", "MocksArtifact", "NoArtifact", "PathArtifact", "PythonArtifact"]


def _form(value: Any) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return None if kind is None else f"{FORM}{kind}"


Artifact = Annotated[
    Annotated[NoArtifact, Tag(FORM + "none")]
    | Annotated[MocksArtifact, Tag(FORM + "mocks")]
    | Annotated[PythonArtifact, Tag(FORM + "python")]
    | Annotated[PathArtifact, Tag(FORM + "path")],
    Discriminator(_form),
]

ARTIFACTS: Mapping[str, type[NoArtifact | MocksArtifact | PythonArtifact | PathArtifact]] = MappingProxyType(
    {"none": NoArtifact, "mocks": MocksArtifact, "python": PythonArtifact, "path": PathArtifact}
)
