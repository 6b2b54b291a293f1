"""The control plane's settings, read from one JSON file, and the fixed identities that it responds with.

The identities are constants, so that a gateway's own settings can name them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mocks.wire.routes import read_seconds

AGENT_ID = "22222222-2222-4222-8222-222222222222"
ORGANIZATION_ID = "33333333-3333-4333-8333-333333333333"
USER_ID = "55555555-5555-4555-8555-555555555555"


@dataclass(frozen=True, slots=True)
class Config:
    """What the control plane knows: tokens, the configuration it hands out, and how long it takes to respond."""

    machine_token: str
    client_keys: tuple[str, ...]
    yaml: str
    delay_s: float

    def key_id(self, token: str) -> str | None:
        """Return the id of a client key, always the same for one place in the list; None for an unknown one."""
        if token not in self.client_keys:
            return None
        return f"44444444-4444-4444-8444-{self.client_keys.index(token) + 1:012d}"


def read_config(path: Path) -> Config:
    """Read the settings in the file. Raises ValueError with one sentence, OSError when it cannot be read."""
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        raise ValueError(f"{path} is not valid JSON") from None
    try:
        return parse_config(document)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parse_config(document: object) -> Config:
    """Read the settings in a JSON document. Raises ValueError with one sentence."""
    if not isinstance(document, dict):
        raise ValueError("the settings must be a JSON object")  # noqa: TRY004 - a wrong value, not a wrong call
    known = {"machine_token", "client_keys", "yaml", "delay_s"}
    if unknown := sorted(set(document) - known):
        raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    keys: Any = document.get("client_keys")
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) and key for key in keys):
        raise ValueError("client_keys must be a list of at least one text")
    token, yaml = document.get("machine_token"), document.get("yaml", "")
    if not isinstance(token, str) or not token:
        raise ValueError("machine_token must be a text that is not empty")
    if not isinstance(yaml, str):
        raise ValueError("yaml must be a text")  # noqa: TRY004 - a wrong value, not a wrong call
    return Config(token, tuple(keys), yaml, read_seconds(document, "delay_s", 0.0))
