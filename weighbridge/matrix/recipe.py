"""The recipe of a gateway: `gateway.yaml`, and the other files of its folder.

It says what is to be done and does nothing; checks that need the other files or the closed set of names are in
`recipe_check`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from weighbridge.matrix.artifacts import ARTIFACTS, Artifact
from weighbridge.matrix.requests import Mode
from weighbridge.matrix.strict import (
    Arguments,
    FilePath,
    Line,
    Name,
    ScalarText,
    SettingValue,
    Strict,
    duration,
    matching,
    whole,
)
from weighbridge.matrix.suggest import listed
from weighbridge.matrix.written_files import WRITTEN

RECIPE_FILE = "gateway.yaml"

HttpPath = Annotated[str, matching(r"/[!-~]*", "expected a path that starts with /, such as /readyz")]
SettingName = Annotated[str, matching(r"[a-z][a-z0-9_]{0,39}", "expected a-z, 0-9 and _, such as num_workers")]
VariableName = Annotated[str, matching(r"[A-Za-z_][A-Za-z0-9_]*", "expected the name of an environment variable")]
HeaderName = Annotated[str, matching(r"[a-z0-9-]+", "expected a header name in small letters")]


class ConfigFile(Strict):
    """One configuration file that is rendered for each lane."""

    template: FilePath = Field(description="Jinja template in the folder.")
    target: FilePath = Field(description="File name below `{config_dir}`.")


class Start(Strict):
    """How the gateway is started: an argument list, no shell."""

    argv: Annotated[Arguments, Field(min_length=1)] = Field(description="Arguments, the program first.")
    env: dict[VariableName, ScalarText] = Field(default={}, description="Environment besides PATH, HOME and LANG.")


class Ready(Strict):
    """Which request says that the gateway is ready."""

    path: HttpPath = Field(description="Path that is asked.")
    status: Annotated[int, whole(100, 599, "200")] = Field(default=200, description="HTTP status of a ready gateway.")
    within_s: Annotated[float, duration(0.1, 3600)] = Field(alias="within", description="Longest start, such as 60s.")
    hold_s: Annotated[float, duration(0.1, 60)] = Field(
        default=2.0, alias="hold", description="How long it must keep answering to count as ready, such as 2s."
    )


class Drain(Strict):
    """Where the gateway tells how much background work is left after a window."""

    path: HttpPath = Field(description="Path that is asked; it returns a JSON object.")
    field: Annotated[str, matching(r"[A-Za-z0-9_.-]+", "expected the name of a field")] = Field(
        description="Field that holds the number left."
    )
    within_s: Annotated[float, duration(0.1, 3600)] = Field(alias="within", description="Longest drain, such as 60s.")


class Stop(Strict):
    """How the gateway is asked to stop."""

    signal: Literal["TERM", "INT", "QUIT", "HUP"] = Field(default="TERM", description="Signal.")
    grace_s: Annotated[float, duration(0.1, 600)] = Field(
        default=8.0, alias="grace", description="Time before TERM and KILL follow, such as 8s."
    )


class Serves(Strict):
    """What the gateway claims to serve; a preflight tries it."""

    path: HttpPath = Field(description="Path of chat completions.")
    modes: Annotated[tuple[Mode, ...], Field(min_length=1)] = Field(description="Modes: plain, stream.")
    headers: dict[HeaderName, ScalarText] = Field(default={}, description="Headers of a request, with {names}.")


class Setting(Strict):
    """A switch that a matrix may set; `{setting_NAME}` in arguments and templates."""

    default: SettingValue = Field(description="Value where the matrix sets none.")
    values: Annotated[tuple[SettingValue, ...], Field(min_length=1)] = Field(description="Allowed values.")


class OverheadHeader(Strict):
    """The header in which the gateway tells its own overhead."""

    name: HeaderName = Field(description="Header name.")
    unit: Literal["us", "ms", "s"] = Field(description="Unit of its number.")


class Needs(Strict):
    """What the gateway needs beside the provider."""

    control_plane: bool = Field(default=False, description="Whether it calls the control plane.")


@dataclass(frozen=True)
class RecipeOrigin:
    """Where a recipe came from: its id, its folder, and every file of it by relative path."""

    id: str
    folder: Path
    files: Mapping[str, bytes] = field(repr=False)

    @property
    def digest(self) -> str:
        """SHA-256 over the sorted relative paths and bytes of the folder."""
        total = hashlib.sha256()
        for name in sorted(self.files):
            total.update(f"{len(name.encode())}:{name}:{len(self.files[name])}:".encode())
            total.update(self.files[name])
        return total.hexdigest()


class Recipe(Strict):
    """One gateway: how it is obtained, configured, started, asked and stopped, and what it claims."""

    schema_: Literal["weighbridge.gateway/1"] = Field(alias="schema", description="weighbridge.gateway/1.")
    name: Line = Field(description="Name for people.")
    kind: Literal["baseline", "mock", "product"] = Field(description="baseline, mock or product.")
    label: Line | None = Field(default=None, description="Words that must stand beside the name.")
    homepage: (
        Annotated[str, matching(r"https?://[!-~]+", "expected an address, such as https://example.org")] | None
    ) = Field(default=None, description="Where it comes from.")
    license: Line | None = Field(default=None, description="Its licence.")
    artifact: Artifact = Field(description=f"How it is obtained, by its kind: {listed(ARTIFACTS)}.")
    config: tuple[ConfigFile, ...] = Field(default=(), description="Configuration files.")
    start: Start | None = Field(default=None, description="How it is started.")
    ready: Ready | None = Field(default=None, description="When it is ready.")
    drain: Drain | None = Field(default=None, description="Where it tells its background work.")
    stop: Stop = Field(default=Stop(), description="How it is stopped.")
    serves: Serves = Field(description="What it serves: path, modes, headers.")
    chains: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)] = Field(
        description="Policy chains it can be configured for, each a mapping for the templates."
    )
    settings: dict[SettingName, Setting] = Field(default={}, description="What a matrix may set.")
    overhead_header: OverheadHeader | None = Field(default=None, description="Where it tells its own overhead.")
    needs: Needs = Field(default=Needs(), description="What it needs beside the provider.")
    writes: tuple[Annotated[str, WRITTEN], ...] = Field(
        default=(), description="Patterns of the files that it writes among its own, such as `env/**/cache/*`."
    )

    _origin: RecipeOrigin = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Keep where the recipe came from; validation is given a RecipeOrigin as its context."""
        if not isinstance(context, RecipeOrigin):
            raise TypeError("a recipe is read by matrix.catalogue, which knows its folder")
        self._origin = context

    @property
    def id(self) -> str:
        """Folder name, which is the gateway's id everywhere."""
        return self._origin.id

    @property
    def folder(self) -> Path:
        """Folder of the recipe."""
        return self._origin.folder

    @property
    def files(self) -> Mapping[str, bytes]:
        """Every file of the folder as it was when it was read, by relative path."""
        return self._origin.files

    @property
    def digest(self) -> str:
        """SHA-256 over the sorted relative paths and bytes of the folder."""
        return self._origin.digest

    def settings_with(self, given: Mapping[str, str]) -> dict[str, str]:
        """Value of every declared setting: the given one, else the default."""
        return {name: given.get(name, setting.default) for name, setting in self.settings.items()}
