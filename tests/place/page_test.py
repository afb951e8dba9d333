"""Opens the HTML page of a function in a browser, full and compact: every loop is drawn, a click shows its verdict, and the console has no errors.
Then the page of a program measured with --run, with its ring chart.

page_test.py RIDGE SOURCE FUNCTION FOLDER"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "page"))
import browser  # noqa: E402

CHECK = """(() => {
  const out = [];
  const nodes = (form) => [...document.querySelectorAll(".loop")].filter((n) => !n.closest("figure[hidden]")).map((n) => [form, n]);
  const whole = nodes("whole");
  const look = ([form, node]) => {
    const id = node.dataset.loop;
    node.dispatchEvent(new MouseEvent("click", {bubbles: true}));
    const shown = [...document.querySelectorAll(".verdict")].filter((v) => !v.hidden);
    const box = node.getBoundingClientRect();
    out.push({id, form, shown: shown.map((v) => v.id), text: shown.map((v) => v.textContent).join(""), drawn: box.width > 0 && box.height > 0,
              title: node.querySelector("title").textContent});
  };
  whole.forEach(look);
  document.getElementById("compact").click();
  nodes("compact").forEach(look);
  return Promise.resolve(out);
})()"""


PROGRAM = """#include <cmath>
#include <cstdio>
#include <vector>
void work(std::vector<double>& v, int times) {
  for (int t = 0; t < times; ++t)
    for (int i = 0; i < int(v.size()); ++i) v[i] = std::sqrt(v[i] + t);
}
int main() {
  std::vector<double> v(200000, 1.0);
  work(v, 50);
  std::printf("%.6f\\n", v[7]);
}
"""


def pages(ridge, source, function, folder):
    """Yields each page with its loops: of the source, and of a program measured with --run."""
    program = os.path.join(folder, "program.cpp")
    with open(program, "w") as file:
        file.write(PROGRAM)
    for name, words in (("spine.html", [source, "--function", function]), ("ring.html", [program, "--function", "work", "--run", "{}"])):
        page = os.path.join(folder, name)
        run = subprocess.run([ridge, "place", *words, "--json", "--report", page], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(run.stderr.strip())
        yield page, {loop["id"]: loop for loop in json.loads(run.stdout)["loops"]}


def main(ridge, source, function, folder):
    program = browser.find()
    if program is None:
        print("skipped: no Chromium here (apt-get install chromium, or name one in RIDGE_CHROMIUM)")
        return 77
    os.makedirs(folder, exist_ok=True)
    problems = []
    count = 0
    with browser.Browser(program) as chromium:
        for page, loops in pages(ridge, source, function, folder):
            complaints, found = chromium.open(page, CHECK)
            problems += complaints
            count += len(found)
            for form in ("whole", "compact"):
                for missing in sorted(set(loops) - {node["id"] for node in found if node["form"] == form}):
                    problems.append(f"loop {missing} is not in the {form} spine of {page}")
            if page.endswith("ring.html") and "<td>work()</td>" not in open(page).read():
                problems.append("the page of a run does not show the time of work()")
            if page.endswith("ring.html") and len(found) <= 2 * len(loops):
                problems.append("no ring chart in the page of a run")
            for node in found:
                if node["shown"] != ["v-" + node["id"]]:
                    problems.append(f"a click on {node['id']} shows {node['shown']}")
                if not node["drawn"]:
                    problems.append(f"{node['id']} is not drawn")
                wanted = "parallel" if loops[node["id"]]["parallel"] else "sequential"
                if wanted not in node["text"] or str(loops[node["id"]]["line"]) not in node["title"]:
                    problems.append(f"{node['id']} does not show {wanted} or its line")
    print("\n".join(problems) or f"{count} loops, all pages complete")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
