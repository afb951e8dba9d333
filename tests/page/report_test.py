"""Runs `ridge tour` and checks the page it writes:  report_test.py RIDGE FOLDER"""
import json
import os
import shutil
import subprocess
import sys

import browser
import page_check


def drawings_wanted(data):
    """The least number of drawings: one roofline per device and one chart per benchmark."""
    if not data["device"] or not data["bench"]:
        sys.exit("the report has no device or no benchmark")
    return len(data["device"]) + len(data["bench"])


def main(ridge, folder):
    program = browser.find()
    if program is None:
        print("skipped: no Chromium here (apt-get install chromium, or name one in RIDGE_CHROMIUM)")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    page = os.path.join(folder, "report.html")
    environment = dict(os.environ, RIDGE_CACHE_DIR=os.path.join(folder, "cache"))
    subprocess.run([ridge, "tour", "--quick", "--out", page], check=True, env=environment)
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        data = file.read()
    with browser.Browser(program) as chromium:
        found = [f"{width} pixels: {line}" for width in (1280, 400)
                 for line in page_check.problems(chromium, page, data, drawings_wanted(json.loads(data)), width)]
    print("\n".join(found) or "the page is whole")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
