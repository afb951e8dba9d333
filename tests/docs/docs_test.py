"""Checks the documentation: every relative link has a target; user pages are short and contain no development history; every picture
has a text alternative and a caption, follows the reader's light or dark setting, is small, and is used by a page."""
import os
import re
import sys

root = sys.argv[1]
pages = [os.path.join(folder, name)
         for folder in (root, *(os.path.join(root, "docs", part) for part in ("", "design", "measurements", "lessons")))
         if os.path.isdir(folder) for name in sorted(os.listdir(folder)) if name.endswith(".md")]
faults = []
if len(pages) < 10:
    faults.append(f"only {len(pages)} pages found below {root}: is this the source tree?")
for page in pages:
    text = open(page, encoding="utf-8").read()
    name = os.path.relpath(page, root)
    prose = re.sub(r"```.*?```", "", text, flags=re.S)  # a lambda in an example looks like a link
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(page), target)):
            faults.append(f"{name}: the link to {target} leads nowhere")
    of_users = os.path.dirname(name) == "docs" and name != "docs/experiments.md"
    if of_users and text.count("\n") > 150:
        faults.append(f"{name}: {text.count(chr(10))} lines; a user's page has 150 at most")
    if of_users:
        for word in re.findall(r"\b(?:goal|session \d|commits? [0-9a-f]{7})\b", text):
            faults.append(f"{name}: \"{word}\" belongs to measurements/ or nowhere")
folder = os.path.join(root, "docs", "pictures")
pictures = {name: 0 for name in sorted(os.listdir(folder)) if name.endswith(".svg")}
for page in pages:
    lines, name = open(page, encoding="utf-8").read().split("\n"), os.path.relpath(page, root)
    for line, below in zip(lines, lines[1:] + [""]):
        shown = re.fullmatch(r"!\[(.*)\]\((\S+)\)<br>", line)
        if not shown:
            faults += [f"{name}: \"{line[:60]}\": a picture has a line of its own that ends in <br>"] if line.startswith("![") else []
            continue
        if len(shown.group(1)) < 40:
            faults.append(f"{name}: the text alternative of {shown.group(2)} has {len(shown.group(1))} characters; at least 40 are needed")
        if not re.match(r"[A-Z`].{30,}", below):
            faults.append(f"{name}: no sentence below {shown.group(2)} says what to see")
        pictures[os.path.basename(shown.group(2))] = pictures.get(os.path.basename(shown.group(2)), 0) + 1
for name, uses in pictures.items():
    path = os.path.join(folder, name)
    if uses == 0:
        faults.append(f"docs/pictures/{name}: no page shows it")
    if not os.path.exists(path):
        continue  # the link was reported above
    text = open(path, encoding="utf-8").read()
    if len(text) > 20000:
        faults.append(f"docs/pictures/{name}: {len(text)} bytes; 20000 at most")
    if "<title>" not in text or "prefers-color-scheme:dark" not in text or re.search(r"(?:href|src|url)\W+https?:", text):
        faults.append(f"docs/pictures/{name}: needs a <title> and colours for dark pages, and loads nothing")
if sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder) if name.endswith(".svg")) > 400000:
    faults.append("docs/pictures: more than 400000 bytes")
print("\n".join(faults) or f"{len(pages)} pages, {len(pictures)} pictures")
sys.exit(bool(faults))
