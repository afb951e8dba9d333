"""Opens the spine of a function in a browser: every loop is there, a click shows its verdict, nothing is complained of.

page_test.py RIDGE SOURCE FUNCTION FOLDER"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "page"))
import browser  # noqa: E402

CHECK = """(() => {
  const out = [];
  for (const node of document.querySelectorAll(".loop")) {
    const id = node.dataset.loop;
    node.dispatchEvent(new MouseEvent("click", {bubbles: true}));
    const shown = [...document.querySelectorAll(".verdict")].filter((v) => !v.hidden);
    const box = node.getBoundingClientRect();
    out.push({id, shown: shown.map((v) => v.id), text: shown.map((v) => v.textContent).join(""), drawn: box.width > 0 && box.height > 0,
              title: node.querySelector("title").textContent});
  }
  return Promise.resolve(out);
})()"""


def main(ridge, source, function, folder):
    program = browser.find()
    if program is None:
        print("skipped: no Chromium here (apt-get install chromium, or name one in RIDGE_CHROMIUM)")
        return 77
    os.makedirs(folder, exist_ok=True)
    page = os.path.join(folder, "spine.html")
    run = subprocess.run([ridge, "place", source, "--function", function, "--json", "--report", page], capture_output=True, text=True)
    if run.returncode != 0:
        print("skipped: " + run.stderr.strip())
        return 77 if "no placement compiler" in run.stderr else 1
    loops = {loop["id"]: loop for loop in json.loads(run.stdout)["loops"]}
    with browser.Browser(program) as chromium:
        problems, found = chromium.open(page, CHECK)
    for missing in sorted(set(loops) - {node["id"] for node in found}):
        problems.append(f"loop {missing} is not in the page")
    for node in found:
        if node["shown"] != ["v-" + node["id"]]:
            problems.append(f"a click on {node['id']} shows {node['shown']}")
        if not node["drawn"]:
            problems.append(f"{node['id']} is not drawn")
        wanted = "parallel" if loops[node["id"]]["parallel"] else "sequential"
        if wanted not in node["text"] or str(loops[node["id"]]["line"]) not in node["title"]:
            problems.append(f"{node['id']} does not say {wanted} or its line")
    print("\n".join(problems) or f"{len(found)} loops, the page is whole")
    return 1 if problems or not found else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
