"""A headless Chromium for tests: opens one page at a time and reports its errors and requests.

Speaks the DevTools protocol over --remote-debugging-pipe (JSON messages that end in a zero byte, on descriptors 3 and
4), so that neither a driver nor a web-socket library is needed.
"""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-extensions", "--window-size=1280,1024", "--remote-debugging-pipe",
)


class BrowserError(Exception):
    """The browser itself failed: it did not start, ended, or did not answer in time."""


def find():
    """The path of a Chromium, or None."""
    wanted = os.environ.get("RIDGE_CHROMIUM")
    names = (wanted,) if wanted else NAMES
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    def __init__(self, program, seconds=120):
        self._seconds = seconds  # time limit of one reply; a busy machine may take long to start a browser
        self._folder = tempfile.TemporaryDirectory(prefix="ridge-page-", ignore_cleanup_errors=True)
        self._next = 0
        self._bytes = b""
        self._events = []
        self._start(program)

    def _start(self, program):
        # Descriptors above 9, so that dup2 to 3 and 4 in the child cannot overwrite one of them.
        (child_in, self._to), (self._from, child_out) = [
            tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends) for ends in (os.pipe(), os.pipe())]

        def place():
            os.dup2(child_in, 3)
            os.dup2(child_out, 4)

        self._errors = open(os.path.join(self._folder.name, "stderr"), "w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self._folder.name}/profile", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._errors,
            preexec_fn=place, pass_fds=(3, 4), start_new_session=True)
        os.close(child_in)
        os.close(child_out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self._process.pid, signal.SIGKILL)  # only the session started above
        except ProcessLookupError:
            pass
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._errors.close()
        self._folder.cleanup()

    def _fail(self, what):
        self._errors.seek(0)
        raise BrowserError(f"{what}; it said:\n{self._errors.read()[-2000:]}")

    def _read(self, deadline):
        """The next message of any kind."""
        while b"\0" not in self._bytes:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                self._fail(f"the browser did not answer within {self._seconds} s")
            chunk = os.read(self._from, 1 << 16)
            if not chunk:
                self._fail("the browser ended")
            self._bytes += chunk
        message, self._bytes = self._bytes.split(b"\0", 1)
        return json.loads(message)

    def _call(self, method, session=None, **parameters):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._to, data):]
        except BrokenPipeError:
            self._fail("the browser ended")
        deadline = time.monotonic() + self._seconds
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._events.append(answer)

    def _wait_for(self, method, session):
        deadline = time.monotonic() + self._seconds
        while not any(event.get("method") == method and event.get("sessionId") == session for event in self._events):
            self._events.append(self._read(deadline))

    def open(self, path, expression, width=1280, screenshot=None):
        """Opens a file or an address in a window of `width` pixels. Returns (complaints, the value of the expression's promise after the page has
        settled). `screenshot` names a PNG file for the whole page."""
        self._events = []
        address = path if "://" in str(path) else pathlib.Path(path).resolve().as_uri()
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable", session)
        self._call("Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1,
                   mobile=False)  # mobile emulation would shrink a page that is too wide
        failure = self._call("Page.navigate", session, url=address).get("errorText")
        if failure:
            raise BrowserError(f"{address}: {failure}")
        self._wait_for("Page.loadEventFired", session)
        # After two frames and a pause, late scripts have run and the page is drawn.
        settled = "new Promise(go => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go, 100))))"
        answer = self._call("Runtime.evaluate", session, expression=f"{settled}.then(() => {expression})",
                            awaitPromise=True, returnByValue=True)
        if screenshot:
            picture = self._call("Page.captureScreenshot", session, captureBeyondViewport=True, format="png")
            pathlib.Path(screenshot).write_bytes(base64.b64decode(picture["data"]))
        complaints = [text for event in self._events if event.get("sessionId") == session
                      for text in [complaint(event, address)] if text]
        if "exceptionDetails" in answer:
            complaints.append("the check itself failed: " + describe(answer["exceptionDetails"]))
        self._call("Target.closeTarget", targetId=target)
        return complaints, answer["result"].get("value")


def describe(details):
    return details.get("exception", {}).get("description") or details.get("text", "an exception")


def complaint(event, address):
    """Describes the error in an event of a page at `address`; None if there is none."""
    method, given = event.get("method"), event.get("params", {})
    if method == "Runtime.exceptionThrown":
        return "exception: " + describe(given["exceptionDetails"])
    if method == "Runtime.consoleAPICalled" and given["type"] in ("error", "assert"):
        return "console error: " + " ".join(str(part.get("value", part.get("description"))) for part in given["args"])
    if method == "Log.entryAdded" and given["entry"]["level"] == "error":
        return "logged error: " + given["entry"]["text"]
    if method == "Network.requestWillBeSent":
        wanted = given["request"]["url"]
        if wanted.split("#")[0] != address and not wanted.startswith(("data:", "blob:", "about:")):
            return "asks for another resource: " + wanted
    return None
