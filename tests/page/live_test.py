"""Opens the live page of `ridge run` in a browser while packets arrive:  live_test.py RIDGE FOLDER"""
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request

import browser

PAGE = """(async () => {
  const text = id => document.getElementById(id).textContent;
  for (let i = 0; i < 300 && (!text("state").startsWith("finished") || document.getElementById("candidates").rows.length < 2); ++i)
    await new Promise(go => setTimeout(go, 200));
  const c = document.getElementById("waterfall"), p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  return {state: text("state"), margin: +(text("state").match(/margin ([0-9.e+-]+) times real time/) || [0, 0])[1], stages: text("stages"), candidates: document.getElementById("candidates").rows.length - 1,
          columns: c.width, rows: c.height, colours: new Set(Array.from(p).filter((_, i) => i % 4 === 0)).size};
})()"""


def main(ridge, folder):
    program = browser.find()
    if program is None:
        print("skipped: no Chromium here (apt-get install chromium, or name one in RIDGE_CHROMIUM)")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)
    subprocess.run([ridge, "search", "signal", "test.fil", "--channels", "64", "--bandwidth", "32", "--interval", "256e-6",
                    "--seconds", "6", "--pulse", "50:2:8:25"], check=True, stdout=subprocess.DEVNULL)
    with open("day.toml", "w", encoding="ascii") as file:
        file.write('[page]\nport = 0\n[[stage]]\nrun = "search"\nin = "test.fil"\ndm = "0..100"\ndevice = "host"\n')
    wrong = []
    pipeline = subprocess.Popen([ridge, "run", "day.toml", "--linger", "100"], stdout=subprocess.PIPE, text=True)
    try:
        address = pipeline.stdout.readline().split()[-1]
        with browser.Browser(program) as chromium:
            complaints, found = chromium.open(address, PAGE)
        wrong += [line for line in complaints if address not in line]
        for good, what in ((found["state"].startswith("finished"), "the state"),
                           (found["margin"] > 0 and "(search)" in found["state"], "the margin"), ("search" in found["stages"], "the stage"),
                           (found["candidates"] == 1, "one candidate"), (found["columns"] > 10 and found["rows"] == 64, "the waterfall"),
                           (found["colours"] > 10, "colours")):
            if not good:
                wrong.append(f"the page does not show {what}: {found}")
        with urllib.request.urlopen(address + "status.json", timeout=60) as answer:
            status = json.load(answer)
        if status["stages"][0]["status"]["count"] != 1:
            wrong.append(f"status.json: {status['stages'][0]}")
        try:
            urllib.request.urlopen(address + "other", timeout=60)
            wrong.append("an unknown path is answered")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                wrong.append(f"an unknown path: {error}")
    finally:
        pipeline.terminate()
        deadline = time.monotonic() + 60
        while pipeline.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if pipeline.poll() is None:
            wrong.append("ridge run did not end")
            pipeline.kill()
    print("\n".join(wrong) or "the page is whole")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
