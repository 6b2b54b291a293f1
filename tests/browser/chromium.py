"""A headless Chromium led over a pipe: opens a page from disk, tells what the console said, takes pictures."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-breakpad", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip

# The browser reads commands from descriptor 3 and responses on 4. Ours may have those very numbers: move them first.
_LAUNCH = """
import fcntl, os, sys
down, up = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 20) for number in sys.argv[1:3])
os.dup2(down, 3)
os.dup2(up, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """One browser with one page; a context manager that ends the browser by its own process group."""

    def __init__(self, program: Path, profile: Path) -> None:
        down_read, self._down = os.pipe()
        self._up, up_write = os.pipe()
        argv = [str(program), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(down_read), str(up_write), *argv],
            pass_fds=(down_read, up_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": str(profile), "LANG": "C.UTF-8"},
        )  # fmt: skip
        os.close(down_read)
        os.close(up_write)
        self._buffer = b""
        self._next_id = 0
        self.events: list[dict[str, Any]] = []
        self._session = ""
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        os.close(self._down)
        os.close(self._up)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        # Helpers of the browser share its group; the group may be gone already.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=10)

    def call(self, method: str, *, within_s: float = 60, **params: object) -> dict[str, Any]:
        """Result of a command; events that arrive meanwhile are kept."""
        self._next_id += 1
        message: dict[str, object] = {"id": self._next_id, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._down, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + within_s
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._next_id:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._up], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser did not respond in time"
            chunk = os.read(self._up, 1 << 20)
            assert chunk, "the browser ended"
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def look(self, width: int, height: int = 900, *, dark: bool = False, media: str = "screen") -> None:
        """Set the size of the window, the colour scheme and the medium."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def open(self, path: Path) -> None:
        """Load a file from disk and wait until it is complete."""
        self.call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + 60
        while self.evaluate("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < deadline, "the page did not load"

    def evaluate(self, expression: str) -> Any:
        """Value of a JavaScript expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Write a PNG of the page."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole))
        path.write_bytes(base64.b64decode(shot["data"]))

    def _clip(self, whole: bool) -> dict[str, object]:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}}

    def complaints(self) -> list[str]:
        """Console messages, exceptions and log entries that are warnings or worse."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("warning", "error"):
                found.append(params["entry"]["text"])
            if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                found.append(json.dumps(params)[:400])
        return found

    def requests(self) -> list[str]:
        """Addresses that the page asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
