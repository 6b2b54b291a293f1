"""What of the caller's environment an installer may see; gateways and drivers under test never get any of it.

Package clients need the machine's own settings: where its index is, which certificates it trusts, where the
caches and toolchains lie. Everything else is left out, and so is what would install other things, or elsewhere,
than the recipe says.
"""

from __future__ import annotations

from collections.abc import Mapping

_PREFIXES = ("UV_", "PIP_", "CARGO_", "RUSTUP_", "XDG_")
_BASE = {"PATH", "HOME", "LANG", "TMPDIR", "NETRC"}
_CERTIFICATES = {"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}
_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
_COMPILERS = {"CC", "CXX", "AR", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CMAKE", "PKG_CONFIG_PATH", "SDKROOT"}
_NAMES = _BASE | _CERTIFICATES | _PROXIES | {name.lower() for name in _PROXIES} | _COMPILERS

_REFUSED_PREFIXES = (
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
    "UV_TARGET",
    "UV_PREFIX",
    "UV_CONSTRAINT",
    "UV_BUILD_CONSTRAINT",
    "UV_OVERRIDE",
    "UV_EXCLUDE",
    "UV_VENV_",
    "UV_PROJECT",
    "UV_WORKING_DIR",
    "UV_NO_VERIFY_HASHES",
    "UV_DRY_RUN",
    "CARGO_TARGET_DIR",
    "CARGO_INSTALL_ROOT",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_PROFILE_",
    "CARGO_PKG_",
    "CARGO_MANIFEST_",
)
# Where Pythons come from is the machine's business; which one is taken is the recipe's.
_PASSED_AGAIN = ("UV_PYTHON_INSTALL_", "UV_PYTHON_DOWNLOADS", "UV_PYTHON_CACHE_", "UV_PYTHON_PREFERENCE")
_SECRET_ENDINGS = ("TOKEN", "PASSWORD", "SECRET_KEY")


def for_installers(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of `environ` that an installer gets, PATH among them when there is one."""
    return {name: value for name, value in environ.items() if _is_passed(name)}


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of `environ` that must not be kept in a log."""
    return tuple(value for name, value in environ.items() if value and name.upper().endswith(_SECRET_ENDINGS))


def _is_passed(name: str) -> bool:
    if name.startswith(_REFUSED_PREFIXES) and not name.startswith(_PASSED_AGAIN):
        return False
    return name in _NAMES or name.startswith(_PREFIXES)
