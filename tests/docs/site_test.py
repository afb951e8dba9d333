"""Checks the documentation site: it builds, every link and anchor has a target, every picture of docs/pictures is in
the site with a text alternative, nothing is loaded from a network, and every function of
every public header is in the reference. Skipped without python3-markdown; without Doxygen the reference is not checked.

  site_test.py SOURCE
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile

root = os.path.abspath(sys.argv[1])
try:
    import markdown  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.loads, self.pictures, self.text = [], set(), [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "img":
            self.pictures[os.path.basename(given.get("src", ""))] = given.get("alt", "")
        if tag in ("script", "link", "img"):
            self.loads.append(given.get("src") or given.get("href") or "")

    def handle_data(self, data):
        self.text += data


def functions_of(header):
    """Names before a parenthesis in public declarations: no bodies, comments, private parts or detail namespaces."""
    text = re.sub(r"//[^\n]*", "", open(header, encoding="utf-8").read())
    text = re.sub(r"\n( *) private:.*?(?=\n\1\};)", "", text, flags=re.S)
    text = re.sub(r"namespace detail \{.*?\n\}  ?", "", text, flags=re.S)
    text = re.sub(r"\(([^()]|\([^()]*\))*\)(?=[^;{]*\{[^{}]*\})", "()", text)
    text = re.sub(r"\) : \w[^{;]*(?=\{)", ") ", text)  # initializer list of a constructor
    names = set()
    for match in re.finditer(r"^ {0,2}(?:(?:static|constexpr|inline|explicit|friend|virtual|template|requires)\b[^\n;{]*?)?"
                             r"(?:[\w:]+(?:<[^;{}()]*>)?[&*]* +)+[&*]*(\w+)\(", text, re.M):
        before = match.group(0)
        if not match.group(1).endswith("_") and not re.search(r"\b(return|else|new|throw|if|for|while|requires|private|using|operator)\b|=", before):
            names.add(match.group(1))
    return names


faults = []
with tempfile.TemporaryDirectory() as work:
    site = os.path.join(work, "site")
    done = subprocess.run([sys.executable, os.path.join(root, "docs", "site"), site], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"docs/site failed:\n{done.stdout}")
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[path] = Page(open(path, encoding="utf-8").read())
    if len(pages) < 40:
        faults.append(f"only {len(pages)} pages")
    for path, page in pages.items():
        name = os.path.relpath(path, site)
        for address in page.loads:
            if "://" in address or not os.path.exists(os.path.normpath(os.path.join(os.path.dirname(path), address))):
                faults.append(f"{name} loads {address}, which is not in the site")
        for address in page.links:
            if re.match(r"[a-z]+:", address):
                continue
            file, _, anchor = address.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if target not in pages:
                faults.append(f"{name}: the link to {address} leads nowhere")
            elif anchor and anchor not in pages[target].anchors:
                faults.append(f"{name}: {address} has no such place")
    shown = {name: text for page in pages.values() for name, text in page.pictures.items()}
    for name in sorted(os.listdir(os.path.join(root, "docs", "pictures"))):
        if name.endswith(".svg") and not shown.get(name):
            faults.append(f"the site does not show {name} with a text alternative")
    checked = 0
    if shutil.which("doxygen"):
        for folder, _, names in os.walk(os.path.join(root, "include", "ridge")):
            for header in sorted(names):
                path = os.path.join(folder, header)
                short = os.path.relpath(path, os.path.join(root, "include"))
                target = os.path.join(site, "reference", short.replace("/", "_").replace(".hpp", "") + ".html")
                wanted = functions_of(path)
                if target not in pages:
                    if wanted:
                        faults.append(f"{short} has no page, and it has {sorted(wanted)[:3]}")
                    continue
                entries = {m.group(1) for m in (re.search(r"-(\w+)(?:-\d+)?$", a) for a in pages[target].anchors) if m}
                faults += [f"{short}: {name}() is not in the reference" for name in sorted(wanted - entries)]
                checked += len(wanted)
        if checked < 200:
            faults.append(f"only {checked} functions were found in the headers")
        index = open(os.path.join(site, "index.js"), encoding="utf-8").read()
        for name in ("ridge::stencil::Plan::run_until", "ridge::fft::Plan::forward"):
            if name not in index:
                faults.append(f"the search does not know {name}")
    else:
        print("doxygen is not installed: the reference was not looked at")
    sys.path.insert(0, os.path.join(root, "tests", "page"))
    import browser
    if browser.find() is not None:
        with browser.Browser(browser.find()) as chromium:
            complaints, told = chromium.open(os.path.join(site, "index.html"), """(() => {
                const root = document.documentElement, field = document.getElementById('search'), themes = [];
                const look = () => themes.push([root.dataset.theme, getComputedStyle(document.body).backgroundColor]);
                look(); document.getElementById('theme').click(); look(); document.getElementById('theme').click(); look();
                field.value = 'filter bank'; field.oninput();
                const hits = [...document.querySelectorAll('#found a')].map(a => a.getAttribute('href'));
                const excerpts = [...document.querySelectorAll('#found a')].map(a => a.nextElementSibling.textContent);
                field.value = 'zzqqxx'; field.oninput();
                return {themes, hits, excerpts, nothing: document.getElementById('found').textContent};
            })()""")
            _, phone = chromium.open(os.path.join(site, "index.html"), """(() => {
                const title = () => document.querySelector('h1').getBoundingClientRect().top, menu = document.getElementById('menu');
                const closed = title();
                menu.click();
                const opened = title();
                menu.click();
                return {closed, opened, again: title(), height: innerHeight, wide: document.documentElement.scrollWidth - innerWidth};
            })()""", width=400)
        faults += [c for c in complaints if not c.startswith("asks for another resource: file://")]  # parts of the site
        (first, bright), (second, dark), (third, again) = told["themes"]
        if {first, second} != {"light", "dark"} or third != first or bright == dark or again != bright:
            faults.append(f"the button does not turn light and dark: {told['themes']}")
        if "filterbank.html" not in told["hits"] or told["nothing"] != "nothing found":
            faults.append(f"the search for \"filter bank\" finds {told['hits']}, for nonsense \"{told['nothing']}\"")
        if not all(told["excerpts"]) or not any("filter" in text.lower() and "bank" in text.lower() for text in told["excerpts"]):
            faults.append(f"search results have no excerpts: {told['excerpts']}")
        if not phone["closed"] < phone["height"] / 4 or not phone["opened"] > phone["closed"] or phone["again"] != phone["closed"]:
            faults.append(f"at 400 pixels the page does not begin below the header, with a menu that opens: {phone}")
        if phone["wide"] > 0:
            faults.append(f"at 400 pixels the page is {phone['wide']} pixels too wide")
    else:
        print("no Chromium here: search and the dark side were not tried")
print("\n".join(faults[:40]) or f"{len(pages)} pages, {checked} functions in the reference")
sys.exit(bool(faults))
