"""Python packages, each in an environment of its own, installed from a list of exact versions with hashes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from weighbridge.matrix.artifacts.contract import Refuse
from weighbridge.matrix.strict import Arguments, FilePath, Strict, matching
from weighbridge.matrix.yamltext import KeyPath

# `package[extra]==version` at the start of a line of a lock file.
_PINNED = re.compile(r"(?m)^([\w.-]+)(?:\[[^\]]*\])?==([^\s;\\]+)")


class PythonArtifact(Strict):
    """A Python package in an environment of its own, installed from a hash-locked list."""

    has_program: ClassVar[bool] = True

    kind: Literal["python"] = Field(description="python.")
    requirements: FilePath = Field(description="Lock file with hashes, in the folder.")
    python: Annotated[
        str, matching(r"3\.[0-9]{1,2}", 'expected a Python minor version in quotes, such as "3.11"')
    ] = Field(description="Python minor version in quotes.")
    package: Annotated[str, matching(r"[A-Za-z0-9][A-Za-z0-9._-]*", "expected the name of a package")] = Field(
        description="Package that is the gateway."
    )
    version: Annotated[str, matching(r"[0-9][A-Za-z0-9.+!-]*", "expected an exact version")] = Field(
        description="Its exact version."
    )
    refused_versions: tuple[str, ...] = Field(default=(), description="Versions that must never be installed.")
    program: Annotated[str, matching(r"[A-Za-z0-9._-]+", "expected the name of a console script")] = Field(
        description="Console script of that environment."
    )
    version_argv: Arguments = Field(default=(), description="Arguments that print the version.")

    def texts(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield the arguments that print the version."""
        yield from ((("version_argv", number), text) for number, text in enumerate(self.version_argv))

    def check(self, files: Mapping[str, bytes], refuse: Refuse) -> None:
        """Refuse a version that must not be installed, or a list that is not locked to it with hashes."""
        if self.version in self.refused_versions:
            refuse(("version",), f"{self.version} is one of refused_versions", "expected another version")
        lock = files.get(self.requirements)
        if lock is None:
            expected = "expected a lock file in the folder of the recipe"
            refuse(("requirements",), f"{self.requirements} does not exist", expected)
        text = lock.decode("utf-8", "replace")
        pinned = {_plain(match[1]): match[2] for match in _PINNED.finditer(text)}
        if pinned.get(_plain(self.package)) != self.version:
            found = pinned.get(_plain(self.package), "none")
            expected = f"expected {self.package}=={found} as in {self.requirements}, or a new lock"
            refuse(("version",), f"{self.version} is not the locked version", expected)
        if text.count("--hash=") < len(pinned):
            expected = "expected --hash=sha256:… for each, as uv pip compile --generate-hashes writes it"
            refuse(("requirements",), f"{self.requirements} has packages without a hash", expected)


def _plain(package: str) -> str:
    """Return the name of a package as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", package).lower()
