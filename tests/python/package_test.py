"""Tests the package as a whole: docstring examples, devices, notebook display, and that calls do not leak memory."""
import doctest
import importlib
import os
import resource
import sys
import xml.etree.ElementTree

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge

MODULES = ("ridge", "ridge.array", "ridge.fft", "ridge._fft_cosine", "ridge._fft_device", "ridge._fft_plan", "ridge.filterbank", "ridge.image", "ridge._machine", "ridge._array_api", "ridge.planner", "ridge.sar", "ridge.search", "ridge.stencil")
failed = tried = 0
for name in MODULES:
    module = sys.modules.get(name) or importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.attempted > 0, f"{name} has no examples"
    failed, tried = failed + result.failed, tried + result.attempted
assert failed == 0

assert ridge.devices()[0]["id"] == "host"
assert isinstance(ridge.wisdom(), list)

# The notebook display is one well-formed drawing that contains the chosen variant.
x = np.ones(64, np.complex128)
plans = [ridge.fft.plan(x, measured=False), ridge.stencil.plan({0: 0.5, 1: 0.5}, np.zeros(100, np.float32)),
         ridge.filterbank.plan(channels=16, taps=4), ridge.sar.Radar().plan(),
         ridge.image.OperatorPlan("gauss 2", (40, 30), np.uint8), ridge.image.FlowPlan((40, 30, 3)),
         ridge.image.VariancePlan((40, 30), np.float32)]
for plan in plans:
    html = plan._repr_html_()
    drawing = xml.etree.ElementTree.fromstring(html[html.index("<svg"):html.index("</svg>") + 6])
    assert len(drawing.findall("{http://www.w3.org/2000/svg}rect")) >= 1, f"{type(plan)} draws nothing"
    assert plan.explain() and "\n" not in repr(plan) and len(repr(plan)) < 400, repr(plan)

# Predictions are in a separate chart: a variant that was not run never has a bar beside the winner's measured one.
from ridge._picture import bars  # noqa: E402
trials = [("p", "winner", 1e-3, 4e-3, "", True), ("p", "slow", 2e-3, 9e-3, "", False), ("p", "not run", 3e-3, None, "", False)]
drawing = xml.etree.ElementTree.fromstring(bars(trials))
texts = [e.text for e in drawing.findall("{http://www.w3.org/2000/svg}text")]
widths = [float(e.get("width")) for e in drawing.findall("{http://www.w3.org/2000/svg}rect")]
assert texts == ["winner", "4 ms", "slow", "9 ms", "predicted, not run", "winner", "1 ms", "not run", "3 ms"], texts
assert widths[0] < widths[1] == 280 and widths[2] < widths[3] == 280, widths

# Memory must not grow with the number of calls. RIDGE_SLOW=1 makes a million calls.
calls = 1_000_000 if os.environ.get("RIDGE_SLOW") else 30_000
u = np.ones(32, np.float32)
decided, step = ridge.fft.plan(x, measured=False), ridge.stencil.plan({-1: 0.5, 1: 0.5}, u, border="periodic")
small = np.zeros((8, 8), np.uint8)
box, out = ridge.image.OperatorPlan("box 3", small.shape, small.dtype), np.empty_like(small)


def everything(count):
    for i in range(count):
        ridge.fft.fft(x)
        if i % 10 == 0:
            decided(x)
            step.run(u)
            box(small, out=out)
            ridge.asarray(u).numpy()
            try:
                decided(u)
            except ValueError:
                pass


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * resource.getpagesize() // 1024


everything(3000)
before = resident()
everything(calls)
grown = resident() - before
assert grown < 2048, f"{grown} KiB more after {calls} calls"
print(f"{tried} doctests, {grown} KiB grown in {calls} calls")
