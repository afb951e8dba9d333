"""Checks the documentation: every relative link has a target; user pages are short and contain no development history."""
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
print("\n".join(faults) or f"{len(pages)} pages")
sys.exit(bool(faults))
