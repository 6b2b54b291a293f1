"""One text for one document, and its digest: what identities are made of."""

from __future__ import annotations

import hashlib
import json

from pydantic import BaseModel


def canonical(document: BaseModel) -> str:
    """Return a document as JSON without blanks, keys sorted: equal documents give equal texts."""
    return json.dumps(document.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(document: BaseModel) -> str:
    """Return the SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(document).encode()).hexdigest()
