"""Checks the lessons: a page's program equals the file beside it, and its output equals what the program prints.

  lessons_test.py SOURCE BUILD [--write]        --write updates the pages from the files and their output

A code block names its file after its language; the block of output follows it. A block that begins with "$ " is a command,
run in a scratch folder that holds the lessons' files. <...> in an output matches a figure that depends on the machine, a line
of "..." matches any lines.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

source, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
write = "--write" in sys.argv
folder = os.path.join(source, "docs", "lessons")
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
faults, ran, skipped = [], 0, []


def output_of(command, work):
    environment = {**os.environ, "PYTHONPATH": os.path.join(build, "python"), "PATH": build + os.pathsep + os.environ["PATH"]}
    done = subprocess.run(command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=280)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def missing(name):
    """The reason why a program cannot be run here; empty if it can."""
    if name.startswith("12_") or name == "ridge place":
        if not os.path.exists(os.path.join(build, "libridge-place.so")):
            return "the placement compiler is not built"
    if name.endswith(".py"):
        package = os.path.join(build, "python", "ridge")
        if not os.path.isdir(package) or not any(n.startswith("_ridge.") for n in os.listdir(package)):
            return "the Python package is not built"
        try:
            import numpy  # noqa: F401
        except ImportError:
            return "NumPy is not here"
    if name == "ridge place":
        if not re.search(r"opencl:|cuda:", output_of([os.path.join(build, "ridge"), "devices"], source)):
            return "no device beside the host"
    return ""


def fits(shown, printed):
    pattern = ""
    for line in shown.splitlines():
        if line == "...":
            pattern += r"(?:.*\n)*"
        else:
            parts = re.split(r"<[^<>]*>", line)
            pattern += r"\S+( [num]?s)?".join(re.escape(part) for part in parts) + r"\n"
    return re.fullmatch(pattern, printed) is not None


def run(name, work):
    if name.startswith("$ "):
        return output_of(name[2:].split(), work)
    if name.endswith(".py"):
        return output_of([sys.executable, os.path.join(folder, name)], work)
    return output_of([os.path.join(build, "docs", "lessons", "lessons"), name[:-4]], work)


pages = sorted(n for n in os.listdir(folder) if re.match(r"\d\d-.*\.md$", n))
programs = {n for n in os.listdir(folder) if re.match(r"\d\d_.*\.(py|cpp)$", n)}
if len(pages) < 12:
    faults.append(f"only {len(pages)} lessons")
with tempfile.TemporaryDirectory() as work:
    for program in programs:
        shutil.copy(os.path.join(folder, program), work)
    for page in pages:
        path = os.path.join(folder, page)
        text = open(path, encoding="utf-8").read()
        last, new, at = None, "", 0
        for block in BLOCK.finditer(text):
            info, body = block.groups()
            words = info.split()
            if len(words) == 2 and words[1] != "output":
                last = words[1]
                wanted = open(os.path.join(folder, last), encoding="utf-8").read()
                programs.discard(last)
                if body != wanted and not write:
                    faults.append(f"{page}: the program differs from {last} (--write updates the page)")
                body = wanted
            elif words == ["text", "output"] or body.startswith("$ "):
                command = body.splitlines()[0] if body.startswith("$ ") else None
                why = missing("ridge place" if command else last)
                if why:
                    skipped.append(f"{page}: {why}")
                else:
                    try:
                        printed = run(command or last, work)
                        ran += 1
                    except (RuntimeError, OSError, subprocess.TimeoutExpired) as failure:
                        faults.append(f"{page}: {failure}")
                        continue
                    shown = body.split("\n", 1)[1] if command else body
                    if not fits(shown, printed):
                        if not write:
                            faults.append(f"{page}: {command or last} prints\n{printed}and the page shows\n{shown}")
                        body = (command + "\n" if command else "") + printed
            new += text[at:block.start()] + f"```{info}\n{body}```"
            at = block.end()
        if write and new + text[at:] != text:
            with open(path, "w", encoding="utf-8") as f:
                f.write(new + text[at:])
faults += [f"{program} is in no lesson" for program in sorted(programs)]
for page in pages:  # every lesson in both languages
    faults += [f"{page}: there is no {name}" for name in (page[:-3].replace("-", "_") + end for end in (".py", ".cpp"))
               if not os.path.exists(os.path.join(folder, name))]
print("\n".join(faults + skipped) or f"{len(pages)} lessons, {ran} programs ran")
sys.exit(1 if faults else 77 if ran == 0 else 0)
