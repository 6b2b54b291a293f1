"""Files of the checkout and what stands in its documentation. Used by the contract tests."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = tuple(
    sorted(
        [
            *CHECKOUT.glob("*.md"),
            *CHECKOUT.glob("docs/*.md"),
            CHECKOUT / "results" / "README.md",
            *CHECKOUT.glob("templates/gateways/*/NOTES.md"),
        ]
    )
)


@dataclass(frozen=True)
class Fence:
    """A fenced block: its language and its text."""

    language: str
    text: str


def files(*endings: str) -> list[Path]:
    """Files of the project with these endings: what git tracks or would track, else everything not hidden."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT, capture_output=True, check=False, text=True,
    )  # fmt: skip
    if listed.returncode == 0:
        found = [CHECKOUT / name for name in listed.stdout.split("\0") if name]
    else:
        found = [path for path in CHECKOUT.rglob("*") if not _is_hidden(path)]
    return sorted(path for path in found if path.is_file() and (not endings or path.suffix in endings))


def fences(text: str) -> list[Fence]:
    """Fenced blocks of a Markdown text."""
    return [Fence(match[1], match[2]) for match in re.finditer(r"(?ms)^```(\w*)\n(.*?)^```$", text)]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number that are neither code, table, heading nor comment."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside and not line.startswith(("|", "#", "    ", "<!--")):
            yield number, line


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a Markdown text, as code hosts make them."""
    heads = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```$", "", text))
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def links(text: str) -> list[str]:
    """Targets of the links of a Markdown text."""
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?ms)^```.*?^```$", "", text))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(CHECKOUT).parts)
