#!/usr/bin/env python3
"""Every path, command and variant that the documentation names exists, and every file named in a comment of src/.

doc_names.py ROOT          checks docs/, README.md, HACKING.md, CONTRIBUTING.md and the comments of src/
doc_names.py --self-test   checks that wrong names are noticed

A path that begins with a folder of the tree is looked up from ROOT; `*` and `<name>` stand for anything. On a page, another path
with one of our endings must be the end of some file's path; in a comment it is relative to the comment's folder or one above it.
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = "src|tests|include|python|docs|cmake|fuzz|bench|examples|packaging"
ROOTED = re.compile(rf"(?<![\w/.$~{{-])(?:{FOLDERS})/[\w./*<>+-]*[\w/*>]")
FILE = re.compile(r"(?<![\w/.<>${~*-])(?:[\w-]+/)*\w[\w-]*(?<!_placed)\.(?:hpp|cpp|cl|md|cmake)(?!\w|/|\.\w)")
INLINE = re.compile(r"```.*?```|`([^`\n]+)`", re.S)
COMMAND = re.compile(r"(?:(?<=`)|^)(?:\$ )?(?:build/)?ridge ([a-z][a-z-]*)(?: ([a-z][a-z-]*)(?=[ `\n]))?", re.M)
VARIANT = re.compile(r"--variant[ =]'?([a-z][\w/]*)")
DEEP = {"bench", "wisdom"}  # their second word is always a command
USERS = {"blur.cpp"}  # files of the reader, in examples


def glob_of(path):
    return re.sub(r"<[^>]*>", "*", path).rstrip("/.")


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = [p.relative_to(self.root) for folder in FOLDERS.split("|") for p in (self.root / folder).rglob("*")]
        self.files += [p.relative_to(self.root) for p in self.root.iterdir() if p.is_file()]
        self.ends = {*FOLDERS.split("|"), "build"} | {"/".join(p.parts[i:]) for p in self.files for i in range(len(p.parts))}
        sources = [self.root / p for p in self.files if p.parts[0] == "src" and p.suffix in (".cpp", ".hpp")]
        self.sources = {p: p.read_text(errors="replace") for p in sources}
        code = "\n".join(self.sources.values())
        self.commands = set(re.findall(r'subcommand\(\s*"([a-z-]+)"', code)) | set(re.findall(r'define\(\w+, "([a-z-]+)"', code))
        self.commands |= set(re.findall(r'Workload bench\{\s*\.name = "([a-z-]+)"', code))
        self.words = {part for text in re.findall(r'"([\w/]+)[("]', code) for part in text.split("/")}
        self.words |= {"device_" + word for word in self.words}  # the flow's variants on devices

    def exists(self, path):
        return any(True for _ in self.root.glob(glob_of(path)))

    def faults_of_page(self, page):
        text = (self.root / page).read_text()
        code = [m.group(1) for m in INLINE.finditer(text) if m.group(1)]
        names = {path for path in ROOTED.findall(text) if not self.exists(path)}
        names |= {path for part in code for path in FILE.findall(part)
                  if not ROOTED.match(path) and path not in self.ends and path not in USERS}
        names |= {part for part in code if re.fullmatch(r"(?:\w+/)+", part) and part.rstrip("/") not in self.ends}
        yield from (f"{page}: {name} does not exist" for name in sorted(names))
        for first, second in sorted(set(COMMAND.findall(text))):
            if first not in self.commands or (first in DEEP and second and second not in self.commands):
                yield f"{page}: ridge {first} {second}: no such command"
        for variant in sorted(set(VARIANT.findall(text))):
            if not self.words.issuperset(variant.split("/")):
                yield f"{page}: --variant {variant}: no such variant"

    def faults_of_comments(self):
        for path, text in self.sources.items():
            comments = " ".join(re.findall(r"(?<![:\"])//(?!/)(.*)", text))
            for name in sorted(set(FILE.findall(comments)) | set(ROOTED.findall(comments))):
                places = [*path.parents, self.root, self.root / "src", self.root / "docs", self.root / "include/ridge"]
                if not self.exists(name) and not any((place / name).exists() for place in places):
                    yield f"{path.relative_to(self.root)}: the comment names {name}, which does not exist"


def faults(root):
    tree = Tree(root)
    pages = [page for page in ("README.md", "HACKING.md", "CONTRIBUTING.md") if (tree.root / page).exists()]
    pages += [str(p) for p in tree.files if p.parts[0] == "docs" and p.suffix == ".md"]
    return [fault for page in pages for fault in tree.faults_of_page(page)] + list(tree.faults_of_comments())


if sys.argv[1:] == ["--self-test"]:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "src/fft").mkdir(parents=True)
        (root / "src/fft/plan.cpp").write_text('subcommand("fft"); x = "tiles";  // as src/fft/gone.hpp and plan.cpp\n')
        (root / "README.md").write_text("`src/fft/` and `fft/plan.cpp`, `src/<any>/*.cpp`: `ridge fft --variant tiles`\n")
        good = [fault for fault in faults(root) if "README" in fault]
        (root / "README.md").write_text("`src/gone/`, `fft/gone.cpp`, `ridge gone`, `ridge fft --variant gone`\n")
        found = faults(root)
    sys.exit(f"found {good} and {found}" if good or len(found) != 5 else 0)
bad = faults(sys.argv[1])
print("\n".join(bad) or "every name exists")
sys.exit(bool(bad))
