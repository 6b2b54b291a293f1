"""The gateway's configuration file, read strictly into one frozen value.

Called once at start. A key that is missing, unknown or of the wrong type raises ValueError with a sentence for the
user; nothing has a silent default but the drain limit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

_KINDS: dict[str, tuple[type, ...]] = {
    "port": (int,),
    "upstream_url": (str,),
    "provider_key": (str,),
    "control_plane_url": (str, type(None)),
    "machine_token": (str, type(None)),
    "client_keys": (list, type(None)),
    "policies": (list,),
    "state_dir": (str,),
    "audit": (bool,),
    "drain_limit_s": (int, float),
}
_OPTIONAL = {"drain_limit_s": 6.0}


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """Where the gateway listens, whom it calls, whom it admits, what it checks and what it keeps."""

    port: int
    upstream_url: str
    provider_key: str
    control_plane_url: str | None
    machine_token: str | None
    client_keys: tuple[str, ...] | None
    policies: tuple[str, ...]
    state_dir: Path
    audit: bool
    drain_limit_s: float


def read_config(path: Path) -> GatewayConfig:
    """Read the configuration in a file; raises ValueError saying what is wrong in it."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: the configuration cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path}: the configuration is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ValueError(f"{path}: the configuration is not a JSON object")  # noqa: TRY004 - one error for the user
    values: dict[str, Any] = {**_OPTIONAL, **document}
    _check(path, values)
    for name in ("client_keys", "policies"):
        if values[name] is not None:
            values[name] = tuple(values[name])
    return GatewayConfig(**{**values, "state_dir": Path(values["state_dir"])})


def _check(path: Path, values: dict[str, Any]) -> None:
    known = [field.name for field in fields(GatewayConfig)]
    for name in values:
        if name not in known:
            raise ValueError(f"{path}: {name}: no such setting; known are {', '.join(known)}")
    for name in known:
        if name not in values:
            raise ValueError(f"{path}: {name}: is missing")
        value = values[name]
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and name != "audit"):
            raise ValueError(f"{path}: {name}: {value!r} is of the wrong type")
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise ValueError(f"{path}: {name}: every entry must be a text")
    if values["control_plane_url"] is None and values["client_keys"] is None:
        raise ValueError(f"{path}: client_keys: without a control plane the keys must be listed here")
    if values["control_plane_url"] is not None and not values["machine_token"]:
        raise ValueError(f"{path}: machine_token: the control plane needs one")
