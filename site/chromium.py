"""A Chromium that is driven by its remote debugging protocol over a pipe.

The browser reads commands at descriptor 3 and writes answers to 4, each JSON and a zero byte.
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

# How long a browser may take on a busy machine, in s.
PATIENCE = 120

# Errors of a page from its first script on.
EARLY = """window.faults = [];
addEventListener('error', (e) => faults.push(e.message));
addEventListener('unhandledrejection', (e) => faults.push(String(e.reason)));
addEventListener('securitypolicyviolation', (e) => faults.push(e.violatedDirective));
console.error = (...all) => faults.push(all.join(' '))"""


def program() -> str | None:
    """Chromium, where there is one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


class Browser:
    """One page in a headless browser with an empty profile."""

    def __init__(self, chromium: str) -> None:
        self._profile = tempfile.TemporaryDirectory()
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()
        # Descriptors 3 and 4 of the browser, by a shell: Python's own are closed in a child.
        self._child = subprocess.Popen(
            [
                "sh", "-c", f'exec "$0" "$@" 3<&{commands} 4>&{answers}', chromium, "--headless",
                "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}",
            ],
            pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        # What the page has asked for, by address.
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Network.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=EARLY)

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait()
        os.close(self._out)
        os.close(self._in)
        try:
            self._profile.cleanup()
        except OSError:
            # A process of the browser still writes its profile.
            shutil.rmtree(self._profile.name, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What a command of the protocol gives."""
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._answer(until, method)
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def _answer(self, until: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise TimeoutError(f"{method}: the browser does not answer")
            read = os.read(self._in, 1 << 20)
            if not read:
                raise RuntimeError(f"{method}: the browser has ended")
            self._buffer += read
        answer, self._buffer = self._buffer.split(b"\0", 1)
        return dict(json.loads(answer))

    def open(self, address: str) -> None:
        """Loads a page."""
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """The value of an expression in the page, awaited."""
        result = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression: str) -> Any:
        """Waits until an expression is true in the page; gives its value."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                if value := self.value(expression):
                    return value
            except RuntimeError as fault:
                # A page that is being left has no context.
                if "context" not in str(fault):
                    raise
            if time.monotonic() > until:
                raise TimeoutError(f"{expression}: not within {PATIENCE} s")
            time.sleep(0.01)

    def press(self, key: str, code: int = 0) -> None:
        """Presses a key, such as `Tab` (9) or `ArrowRight` (39)."""
        of = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        if len(key) == 1:
            of["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **of)
        self.call("Input.dispatchKeyEvent", type="keyUp", **of)

    def size(self, width: int, height: int) -> None:
        """Sets the size of the window, in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )

    def dark(self, is_dark: bool) -> None:
        """Sets what the reader prefers."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, file: Path, whole: bool = False) -> None:
        """Writes a picture of the page, or of what is on the screen."""
        import base64

        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))
