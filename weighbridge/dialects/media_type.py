"""What a content type says, without its parameters."""

from __future__ import annotations

JSON = "application/json"
JSON_HEADER = ("content-type", JSON)


def essence(content_type: str) -> str:
    """Return type and subtype in small letters; empty for an empty header."""
    return content_type.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Return whether an essence is JSON: `application/json` or an application type that ends in `+json`."""
    return media_type == JSON or (media_type.startswith("application/") and media_type.endswith("+json"))
