"""The benches of ourselves can be carried through; what they measure is never judged by a test."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.contract.texts import CHECKOUT, Text, hold, sources

OPTIONAL = {"aiohttp", "uvicorn"}


def _bench(tmp_path: Path, *arguments: str, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "benchmarks.run", *arguments],
        cwd=tmp_path,
        env={"PATH": path, "PYTHONPATH": str(CHECKOUT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_quick_speed_bench_writes_figures_and_judges_nothing(tmp_path: Path) -> None:
    """`--quick --only speed` ends well, writes one JSON file with every kind of file read, and gives no verdict."""
    out = tmp_path / "numbers" / "bench.json"

    ended = _bench(tmp_path, "--quick", "--only", "speed", "--out", str(out))

    assert ended.returncode == 0, ended.stderr
    document = json.loads(out.read_text())
    bench = document["benches"]["speed"]
    assert document["schema"] == "weighbridge.bench-self/1"
    assert set(bench["numbers"]["readings"]) == {"npz", "sqlite", "csv", "csv+sqlite"}
    assert all(reading[0]["p50_ms"] > 20 for reading in bench["numbers"]["readings"].values())
    assert {target["verdict"] for target in bench["targets"]} == {"not judged"}
    assert all(target["measured"] in ended.stdout for target in bench["targets"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["numbers"]


def test_a_bench_that_cannot_be_run_says_why_and_ends_with_1(tmp_path: Path) -> None:
    """Without wrk on PATH the mock's bench is one sentence and exit 1, not a traceback."""
    ended = _bench(tmp_path, "--quick", "--only", "mock", "--out", str(tmp_path / "bench.json"), path=str(tmp_path))

    assert ended.returncode == 1
    assert "wrk is not on PATH" in ended.stdout
    assert "Traceback" not in ended.stderr


def test_only_the_equivalents_need_the_bench_group() -> None:
    """Uvicorn and aiohttp are imported under `benchmarks/equivalents` alone: the rest runs without them."""
    hold(optional_imports, sources("benchmarks"))


def test_an_optional_import_is_found() -> None:
    """Both ways of importing are noticed outside of that folder, and none inside."""
    text = "import aiohttp\nfrom uvicorn.config import Config\n"

    assert len(list(optional_imports(Text("benchmarks/x.py", text)))) == 2
    assert list(optional_imports(Text("benchmarks/equivalents/x.py", text))) == []


def optional_imports(source: Text) -> Iterator[str]:
    """Yield imports of the bench group outside of the equivalents."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and not source.name.startswith("benchmarks/equivalents/"):
            for name in OPTIONAL & {name.partition(".")[0] for name in _names(node)}:
                yield source.at(node.lineno, f"imports {name}")


def _names(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {one.name for one in node.names} if isinstance(node, ast.Import) else {node.module or ""}
