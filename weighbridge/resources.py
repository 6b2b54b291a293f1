"""Where mocks and templates lie: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def root() -> Path:
    """Folder that holds `mocks/` and `templates/`."""
    bundled = _PACKAGE / "_data"
    return bundled if bundled.is_dir() else _PACKAGE.parent


def gateways() -> Path:
    """Folder of the gateway recipes that come with Weighbridge."""
    return root() / "templates" / "gateways"


def pages() -> Path:
    """Folder of the page templates."""
    return root() / "templates" / "pages"


def checkout() -> Path | None:
    """Folder of the git checkout that the package is run from, None when it was installed from a wheel."""
    return root() if (root() / ".git").exists() else None
