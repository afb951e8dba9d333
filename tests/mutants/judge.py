"""Runs the tests of a build with one mutant switched on: the tests as ctest lists them, the cheapest first."""
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

PASSED, FAILED, SKIPPED, SLOW = "passed", "failed", "skipped", "time limit"


@dataclasses.dataclass
class Test:
    name: str
    command: list
    folder: str
    environment: dict
    skip_code: int
    skip_text: str
    locks: list
    seconds: float = 1.0  # expected


def listed(build):
    """The tests of a build folder."""
    text = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    tests = []
    for entry in json.loads(text)["tests"]:
        own = {p["name"]: p["value"] for p in entry.get("properties", [])}
        if "command" in entry:
            tests.append(Test(entry["name"], entry["command"], own.get("WORKING_DIRECTORY", str(build)),
                              dict(line.split("=", 1) for line in own.get("ENVIRONMENT", [])), own.get("SKIP_RETURN_CODE", -1),
                              "|".join(own.get("SKIP_REGULAR_EXPRESSION", [])), own.get("RESOURCE_LOCK", []),
                              float(own.get("COST", 0)) or 1.0))
    return tests


def program(test):
    """Target that must be built for a test; None: more than one program."""
    name = os.path.basename(test.command[0])
    return name if name.startswith("test_") else None


def costs(build):
    """Seconds of each test in earlier runs, by name."""
    path = pathlib.Path(build) / "Testing/Temporary/CTestCostData.txt"
    lines = path.read_text().split("---")[0].splitlines() if path.exists() else []
    return {name: float(seconds) for name, _, seconds in (line.rsplit(" ", 2) for line in lines if line.count(" ") >= 2)}


class Runner:
    """Runs tests, each mutant with a copy of the cache folder `kept`: plans and kernels cached by one would change the next."""

    least = 20.0  # seconds that every test may take; ten times its seconds, if that is more

    def __init__(self, folder, kept=None):
        self.folder, self.kept = folder, kept
        self.guard = threading.Lock()
        self.locks = {}
        self.outcomes = {}  # without a mutant, by name

    def lock(self, name):
        with self.guard:
            return self.locks.setdefault(name, threading.Lock())

    def outcome(self, test, mutant, cache, log):
        environment = {**os.environ, **test.environment, "PYTHONDONTWRITEBYTECODE": "1", "RIDGE_CACHE_DIR": str(cache)}
        environment.pop("RIDGE_MUTANT", None)
        if mutant:
            environment["RIDGE_MUTANT"] = mutant
        with contextlib.ExitStack() as stack:
            for name in sorted(test.locks):
                stack.enter_context(self.lock(name))
            ran = subprocess.Popen(test.command, env=environment, cwd=test.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
            try:
                output, slow = ran.communicate(timeout=max(self.least, 10 * test.seconds))[0], False
            except subprocess.TimeoutExpired:
                os.killpg(ran.pid, signal.SIGKILL)
                output, slow = ran.communicate()[0], True
        output = output.decode(errors="replace")
        log.write(f"== {test.name}\n{output}\n")
        if slow:
            return SLOW
        if ran.returncode == test.skip_code or test.skip_text and re.search(test.skip_text, output):
            return SKIPPED
        return PASSED if ran.returncode == 0 else FAILED

    def without(self, test):
        """The outcome of a test without a mutant; it is run once."""
        with self.lock(f"without {test.name}"):
            if test.name not in self.outcomes:
                with self.cache(f"without-{test.name.replace('/', '_')}") as cache, open(self.folder / "without.log", "a") as log:
                    self.outcomes[test.name] = self.outcome(test, "", cache, log)
        return self.outcomes[test.name]

    @contextlib.contextmanager
    def cache(self, name):
        folder = self.folder / f"cache-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        if self.kept and self.kept.exists():
            shutil.copytree(self.kept, folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def judge(self, mutant, tests):
        """The first test that notices the mutant and passes without it, and how it does; (None, passed) if none does."""
        with self.cache(mutant) as cache, open(self.folder / f"{mutant}.log", "w") as log:
            for test in sorted(tests, key=lambda t: t.seconds):
                if self.outcomes.get(test.name, PASSED) != PASSED:
                    continue
                result = self.outcome(test, mutant, cache, log)
                if result in (FAILED, SLOW) and self.without(test) == PASSED:
                    return test.name, result
        return None, PASSED


def self_test():
    with tempfile.TemporaryDirectory() as name:
        runner = Runner(pathlib.Path(name))
        runner.least = 0.3
        tests = [Test(which, ["sh", "-c", text], name, {}, 77, "", ["one"])
                 for which, text in (("fails anyway", "exit 1"), ("answer", 'test "$RIDGE_MUTANT" != wrong'),
                                     ("ends", 'test "$RIDGE_MUTANT" != endless || sleep 60'), ("left out", "exit 77"))]
        assert runner.judge("wrong", tests) == ("answer", FAILED)
        assert runner.judge("other", tests) == (None, PASSED)
        assert runner.judge("endless", tests) == ("ends", SLOW)
        assert runner.outcomes == {"fails anyway": FAILED, "answer": PASSED, "ends": PASSED}, runner.outcomes
        folder = pathlib.Path(name) / "Testing/Temporary"
        folder.mkdir(parents=True)
        (folder / "CTestCostData.txt").write_text("a.b/c 2 0.25\nd 1 3\n---\nd\n")
        assert costs(name) == {"a.b/c": 0.25, "d": 3.0}
