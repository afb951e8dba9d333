#!/usr/bin/env python3
"""The rule of unity builds: files that are compiled as one unit (see ridge_unity in cmake/RidgeOptions.cmake) must define
different names in their anonymous namespaces. A compiler reports a clash only in a full build; this script reads the text and takes
a second.

unity_names.py ROOT          checks every unit of src/, python/src and tests/
unity_names.py --self-test   writes the same name twice in a small tree and checks that this is found
"""
import collections
import pathlib
import re
import sys
import tempfile

# Compiled alone: Highway's files, files that replace operator new, and files that ridge_unity lists or that have their own flags.
ALONE = re.compile(r"HWY_TARGET_INCLUDE|^void\* operator new", re.M)
ALONE_PATHS = re.compile(r"/bench/peers/|/cli/fftw/|/fftw/interface_|/fcma_[^/]*$|communicator_alone")
# Folders that are one unit together, as ridge_unity lists them.
JOINED = [(re.compile(pattern), unit.replace("\\\\", "\\")) for pattern, unit in re.findall(
    r'string\(REGEX REPLACE "(\^src/[^"]*)" "([^"]*)" folder',
    (pathlib.Path(__file__).parents[2] / "cmake/RidgeOptions.cmake").read_text())]
OPENED = re.compile(r"^using namespace ([\w:]+)", re.M)
TYPE = re.compile(r"^(?:struct|class|enum(?: class)?|union) (\w+)(?! *;)\b[^;(]*(?:\{|$)|^using (\w+) =")
VALUE = re.compile(r"^(?:inline |static |thread_local )*(?:constexpr |constinit |const )[\w:<>,*& ]*?\b(\w+)(?:\[[^\]]*\])*(?: =|\{|;)")
FUNCTION = re.compile(r"^(?!using|return|namespace|template|struct|class|enum|union|case|if|for|while|TEST|EXPECT|HWY_|#|//|\})"
                      r"[\w:<>,*&\[\]. ~]+?[ *&](\w+)\((.*)$")


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.S)
    return re.sub(r'//(?! namespace)[^\n]*', "", text)


def parameters(lines, number, rest):
    """The types of a function's parameters as far as text shows them; None for a declaration."""
    text, depth = "", 1
    for line in [rest] + lines[number + 1:number + 12]:
        for at, sign in enumerate(line):
            depth += {"(": 1, ")": -1}.get(sign, 0)
            if depth == 0:
                tail = line[at + 1:]
                if not tail.rstrip().endswith("{") and "{" not in tail:
                    return None if tail.strip().endswith(";") or not tail.strip() else re.sub(r"\s+", " ", text)
                names = re.sub(r"\s*=[^,]*", "", text)
                return re.sub(r"\s+", "", re.sub(r"[ &*]\w+\s*(?=,|$)", lambda name: name.group()[0].strip(), names))
            text += sign
        text += " "
    return None


def names(text):
    """(namespace, name, kind) of what a file's anonymous namespaces define at their top level, with the line."""
    lines = without_comments(text).splitlines()
    spaces, template = [], ""
    for number, line in enumerate(lines):
        opened = re.match(r"^(?:inline )?namespace ?([\w:]*) ?(?:\[\[.*\]\] )?\{ *(\})?", line)
        if opened and not opened.group(2):
            spaces.append(opened.group(1))
            continue
        if re.match(r"^\} *// namespace", line) and spaces:
            spaces.pop()
            continue
        if line.startswith("template"):
            template = re.sub(r"\s+", "", line)
            continue
        if "" not in spaces or line[:1].isspace():  # members and bodies are indented
            continue
        kind = None
        if match := TYPE.match(line):
            name = match.group(1) or match.group(2)
            kind = None if "<" in line.split("{")[0].split(":")[0] else "type"  # a specialization defines no new name
        elif match := VALUE.match(line):
            name, kind = match.group(1), "value"
            for further in re.findall(r", (\w+) = ", line[match.end():]):
                yield ("::".join(spaces), further, kind + template), "", number + 1
        elif match := FUNCTION.match(line):
            name, types = match.group(1), parameters(lines, number, match.group(2))
            # An overload by value or reference, or a template next to a plain function, makes calls ambiguous.
            kind = None if types is None else "function(" + re.sub(r"const(?=[A-Za-z])|&", "", types) + ")"
        if kind:
            alias = line if line.startswith("using") else ""  # the same twice is allowed
            yield ("::".join(spaces), name, kind if kind.startswith("function") else kind + template), alias, number + 1
        if line and not line.startswith(" "):
            template = ""


def unit_of(root, path, text):
    folder = path.parent.relative_to(root).as_posix()
    for pattern, unit in JOINED:
        folder = pattern.sub(unit, folder)
    if ALONE.search(text) or ALONE_PATHS.search(path.as_posix()):
        return None
    return folder if re.match("src/(?!bench|check(?!/image)|mpi)", folder) else " ".join([folder] + OPENED.findall(text))


def collisions(root):
    found, units = [], collections.defaultdict(dict)
    paths = [path for part in ("src", "python/src", "tests") for path in sorted((root / part).rglob("*.cpp"))]
    for path in paths:
        text = path.read_text(errors="replace")
        unit = unit_of(root, path, text)
        if unit is None:
            continue
        for key, alias, line in names(text):
            place = f"{path.relative_to(root)}:{line}"
            other, same = units[unit].setdefault(key, (place, alias))
            if other.split(":")[0] != place.split(":")[0] and not (alias and alias == same):
                found.append(f"{place}: {key[1]} is also at {other}: one of the two needs another name, or both a header")
    return found


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "src/fft").mkdir(parents=True)
        for name, own in (("a", "int helper(int a)"), ("b", "int helper(int b)"), ("c", "int helper(double b)")):
            (root / f"src/fft/{name}.cpp").write_text(
                f"namespace ridge {{\nnamespace {{\n\n{own} {{\n  return 1;\n}}\nstruct Only{name} {{}};\n\n}}  // namespace\n}}  // namespace ridge\n")
        seen = collisions(root)
        assert len(seen) == 1 and "src/fft/b.cpp:4: helper" in seen[0], seen
        (root / "src/fft/d.cpp").write_text("namespace {\nconstexpr int kMost = 3;\n}  // namespace\n")
        (root / "src/fft/e.cpp").write_text("namespace {\nconstexpr double kLeast = 2, kMost = 3;\n}  // namespace\n")
        assert len(collisions(root)) == 2, collisions(root)
        for name, own in (("f", "int overloaded(const int& a)"), ("g", "template <class T>\nint overloaded(int a)")):
            (root / f"src/fft/{name}.cpp").write_text(f"namespace {{\n{own} {{\n  return 1;\n}}\n}}  // namespace\n")
        assert len(collisions(root)) == 3, collisions(root)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        sys.exit(self_test())
    problems = collisions(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "no unit defines a name twice")
    sys.exit(1 if problems else 0)
