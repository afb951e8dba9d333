#!/usr/bin/env python3
"""Mutation testing: small faults compiled into a copy of the tree, switched on one at a time by RIDGE_MUTANT=NAME.

mutants.py check ROOT                          every entry of ROOT/tests/mutants/*.txt applies to its file exactly once
mutants.py run ROOT FOLDER [--only REGEX]      builds the copy in FOLDER, runs the tests of each mutant, prints a table
               [--base BUILD]                  a build of ROOT (ROOT/build): only units that hold mutants are compiled (reuse.py)
               [--built]                       the copy in FOLDER is built already
mutants.py --self-test                         checks this script on a tree of its own

An entry of a list:

  [name]
  file   src/io/telescopes/vdif.cpp
  old    start + seconds           exact text, once in the file (or once in the text given as `at`)
  new    start
  at     return start + seconds;   optional: text that occurs once in the file and contains `old` once
  as     statement                 optional: expression (default), statement or constant
  tests  ^io\\.Vdif                 ctest's -R: the tests expected to notice

An expression becomes `(mutant on ? (new) : (old))`, a statement `if (mutant on) { new } else { old }`. A constant is an
expression after which `constexpr` earlier in the line becomes `const`. Texts of kernels (.cl) are switched where the build
embeds them. A mutant is noticed when a test fails that passes without it; a build that fails is a defect of the entry.
"""
import argparse
import ast
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import judge
import reuse

HEADER = """// Which mutant is switched on (tests/mutants/mutants.py): the checksum of its name, 0 for none.
#pragma once
#include <cstdlib>
inline unsigned ridge_mutant = 0;
namespace {
__attribute__((constructor(101), unused)) void ridge_read_mutant() {
  const char* name = std::getenv("RIDGE_MUTANT");
  if (name == nullptr) return;
  ridge_mutant = 2166136261u;  // FNV-1a
  for (; *name != 0; ++name) ridge_mutant = (ridge_mutant ^ static_cast<unsigned char>(*name)) * 16777619u;
}
}  // namespace
"""
INCLUDE = "#include <ridge_mutant.hpp>\n"
ENOUGH = 0.95  # fraction of the mutants that must be noticed


@dataclasses.dataclass
class Mutant:
    name: str
    file: str = ""
    old: str = ""
    new: str = ""
    at: str = ""
    kind: str = "expression"
    tests: str = ""
    where: str = ""  # list and line, for messages


class Fault(Exception):
    pass


def parse(path):
    mutants = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{path.name}:{number}"
        if head := re.fullmatch(r"\[([a-z0-9_-]+)\]", line):
            mutants.append(Mutant(head[1], where=where))
            continue
        word, _, text = line.strip().partition(" ")
        text = text.strip()
        if not mutants or word not in ("file", "old", "new", "at", "as", "tests"):
            raise Fault(f"{where}: expected [name], file, old, new, at, as or tests, found {line!r}")
        setattr(mutants[-1], "kind" if word == "as" else word, text.replace("\\n", "\n") if word in ("old", "new", "at") else text)
    for m in mutants:
        if not (m.file and m.old and m.tests) or m.kind not in ("expression", "statement", "constant"):
            raise Fault(f"{m.where}: {m.name} needs file, old, tests, and as: expression, statement or constant")
        if m.old == m.new:
            raise Fault(f"{m.where}: {m.name} changes nothing")
        if not m.file.endswith(".cl"):
            check_form(m)
    return mutants


def is_one_python_value(text):
    """False for an assignment, and for a list of arguments, which would become one tuple."""
    try:
        return not isinstance(ast.parse(text, mode="eval").body, ast.Tuple) or text.startswith("(")
    except SyntaxError:
        return False


def check_form(mutant):
    """Refuses an entry that cannot compile after the switch: an expression that is a statement, unbalanced brackets."""
    for text in (mutant.old, mutant.new):
        if any(text.count(pair[0]) != text.count(pair[1]) for pair in ("()", "[]", "{}")):
            raise Fault(f"{mutant.where}: {mutant.name}: the brackets of {text!r} are not balanced")
        if mutant.kind == "statement" and text and not text.endswith((";", "}")):
            raise Fault(f"{mutant.where}: {mutant.name}: the statement {text!r} has no end")
        if mutant.kind == "statement" and re.match(r"(?:const|constexpr|auto|bool|int|float|double|std::size_t)\b", text):
            raise Fault(f"{mutant.where}: {mutant.name}: {text!r} declares a name, whose scope would end with the switch: mutate its value instead")
        if mutant.kind != "statement" and re.match(r"\.\D|(if|for|return|const|auto)\b|.*;|[^?]* : |$|.*_cast<[^>]*>$", text):
            raise Fault(f"{mutant.where}: {mutant.name}: {text!r} is not an expression")
        if mutant.file.endswith(".py") and not is_one_python_value(text):
            raise Fault(f"{mutant.where}: {mutant.name}: {text!r} is not one Python value; name its surroundings by 'at'")


def read_lists(root):
    mutants = [m for path in sorted((root / "tests/mutants").glob("*.txt")) for m in parse(path)]
    names = [m.name for m in mutants]
    for name in names:
        if names.count(name) > 1:
            raise Fault(f"{name} is the name of {names.count(name)} mutants")
    return mutants


def checksum(name):
    """FNV-1a, as in HEADER."""
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value


def place_of(mutant, text):
    """Where `old` begins; a Fault unless there is exactly one place."""
    around = mutant.at or mutant.old
    if text.count(around) != 1:
        raise Fault(f"{mutant.where}: {mutant.name}: {around!r} occurs {text.count(around)} times in {mutant.file}, expected 1")
    if around.count(mutant.old) != 1:
        raise Fault(f"{mutant.where}: {mutant.name}: {mutant.old!r} occurs {around.count(mutant.old)} times in {around!r}, expected 1")
    return text.index(around) + around.index(mutant.old)


def switched(mutant):
    """The text that replaces `old`."""
    old, new = mutant.old, mutant.new
    suffix = pathlib.PurePath(mutant.file).suffix
    if suffix == ".py":
        on = f'__import__("os").environ.get("RIDGE_MUTANT") == "{mutant.name}"'
        if mutant.kind == "statement":
            raise Fault(f"{mutant.where}: {mutant.name}: statements of Python are not switched, use an expression")
        return f"(({new}) if {on} else ({old}))"
    on = f"ridge_mutant == {checksum(mutant.name)}u"
    if suffix == ".cl":
        return f')kernel" + std::string({on} ? R"kernel({new})kernel" : R"kernel({old})kernel") + R"kernel('
    if mutant.kind == "statement":
        return f"{{ if ({on}) {{ {new} }} else {{ {old} }} }}"
    return f"({on} ? ({new}) : ({old}))"


LEVELS = {"?": 0, "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<=": 7, ">=": 7, "<": 7, ">": 7, "<<": 8, ">>": 8,
          "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
OPERATOR = r"\|\||&&|==|!=|<=|>=|<<|>>|[-?|^&<>+*/%]"


def levels_of(text):
    """Precedence of each binary operator outside of brackets."""
    text = re.sub(r"\b\d[\d.]*e[-+]?\d+", "1", text)
    text = re.sub(r"<[\w:]+(?: const)?[ *&]*>|->|'.'|\"[^\"]*\"", "a", text)
    while (shorter := re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}", "", text)) != text:
        text = shorter
    return [LEVELS[m[1]] for m in re.finditer(rf"(?<=[\w ])\s*({OPERATOR})\s*", text) if text[:m.start(1)].strip(" \n")]


def check_neighbours(mutant, text, start):
    """Refuses an expression that its brackets would separate from what it belongs to, as `b + c` of `a / b + c`."""
    line = re.sub(r"\\\\.|'.'", "", text[text.rfind("\n", 0, start) + 1:start])
    if line.count('"') % 2 == 1:
        raise Fault(f"{mutant.where}: {mutant.name}: {mutant.old!r} is part of a string: name the whole string")
    if text[:start].endswith(("fmt::format(", "fmt::print(")):
        raise Fault(f"{mutant.where}: {mutant.name}: {mutant.old!r} is a format, which must be a constant: name the whole call")
    own = min(levels_of(mutant.old), default=99)
    before, after = text[:start].rstrip(), text[start + len(mutant.old):].lstrip()
    left = re.search(rf"[\w)\]]\s*({OPERATOR})$", before[-40:])
    right = re.match(OPERATOR, after)
    if left and (LEVELS[left[1]] > own or (left[1] in "-/%" and LEVELS[left[1]] == own)) or right and LEVELS[right[0]] > own:
        raise Fault(f"{mutant.where}: {mutant.name}: {mutant.old!r} is not a whole operand between {before[-8:]!r} and {after[:8]!r}")


def mutate(file, text, mutants):
    """The file's text with all of its mutants, last one first so that places stay."""
    placed = sorted(((place_of(m, text), m) for m in mutants), key=lambda pair: -pair[0])
    for (start, m), (later, n) in zip(placed[1:], placed):
        if start + len(m.old) > later:
            raise Fault(f"{m.where}: {m.name} overlaps {n.name}")
    for start, m in placed:
        if m.kind == "expression" and not file.endswith(".cl"):
            check_neighbours(m, text, start)
        before, after = text[:start], text[start + len(m.old):]
        if m.kind == "constant":
            line = before.rfind("\n") + 1
            before = before[:line] + before[line:].replace("constexpr", "const")
        text = before + switched(m) + after
    if file.endswith((".cpp", ".hpp")):
        once = text.find("#pragma once\n")
        cut = once + len("#pragma once\n") if once >= 0 else 0
        text = text[:cut] + INCLUDE + text[cut:]
    return text


def by_file(mutants):
    files = {}
    for m in mutants:
        files.setdefault(m.file, []).append(m)
    return files


def check(root):
    """The number of entries; a Fault for the first that does not apply."""
    mutants = read_lists(root)
    faults = []
    for file, those in by_file(mutants).items():
        try:
            mutate(file, (root / file).read_text(), those)
        except (Fault, OSError) as fault:
            faults.append(str(fault))
    if faults:
        raise Fault("\n".join(faults))
    return mutants


def write(path, data):
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def copy_tree(root, tree, mutants):
    """The files git knows, with mutants; what did not change keeps its time, so that it is not compiled again."""
    names = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                           capture_output=True, text=True).stdout.split("\0")
    files = by_file(mutants)
    wanted = set()
    for name in filter(None, names):
        source = root / name
        if source.is_symlink() or not source.is_file():
            continue
        data = source.read_bytes()
        if name in files:
            data = mutate(name, data.decode(), files[name]).encode()
        if name == "cmake/EmbedKernels.cmake":  # writes the texts of kernels, with their switches
            data = data.replace(b"#include", INCLUDE.encode() + b"#include", 1)
        write(tree / name, data)
        shutil.copymode(source, tree / name)
        wanted.add(name)
    write(tree / "include/ridge_mutant.hpp", HEADER.encode())
    wanted.add("include/ridge_mutant.hpp")
    for path in tree.rglob("*"):
        name = path.relative_to(tree)
        if name.parts[0] != "build" and "__pycache__" not in name.parts and path.is_file() and str(name) not in wanted:
            path.unlink()


def settings(base):
    """CMake arguments that give another build folder the composition of `base`, so that their objects have the same names."""
    cached = re.findall(r"^((?:RIDGE_\w+|CMAKE_BUILD_TYPE|CMAKE_CXX_COMPILER)):(\w+)=(.*)$", (base / "CMakeCache.txt").read_text(), re.M)
    return [f"-D{name}={value}" for name, kind, value in cached
            if kind not in ("INTERNAL", "STATIC") and name not in ("RIDGE_WERROR", "RIDGE_TESTS") and "NOTFOUND" not in value]


def build_tree(root, folder, base, mutants, jobs, targets):
    """Compiles the units that hold mutants; the objects of all others are copied from `base` if it exists."""
    tree, build = folder / "tree", folder / "tree/build"
    copy_tree(root, tree, mutants)
    table = folder / "reuse.json"
    how = ["-DRIDGE_UNITY=ON", "-DCMAKE_BUILD_TYPE=Release"]
    if base:
        objects = reuse.write_table(table, base, root, build, tree, by_file(mutants))
        launcher = [sys.executable, "-B", str(root / "tests/mutants/reuse.py"), str(table)]
        how = [*settings(base), "-DCMAKE_CXX_COMPILER_LAUNCHER=" + ";".join(launcher)]
        print(f"{len(objects)} objects of {base} can be copied", flush=True)
    with open(folder / "log", "a") as log:
        for command in (["cmake", "-S", str(tree), "-B", str(build), "-G", "Ninja", "-DRIDGE_TESTS=ON", "-DRIDGE_WERROR=OFF", *how],
                        ["cmake", "--build", str(build), "--parallel", str(jobs), *(["--target", *targets] if targets else []), "--", "-k", "0"]):
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    return build


def targets_of(base, mutants):
    """Test programs that the tests of the mutants need; empty: all targets."""
    names = {judge.program(t) for t in judge.listed(base) if any(re.search(m.tests, t.name) for m in mutants)} if base else {None}
    return [] if None in names else sorted(names)


def run(root, folder, only, jobs, base, skip_build):
    mutants = check(root)
    chosen = [m for m in mutants if re.search(only, f"{m.where.split('.')[0]}/{m.name}")]
    if not chosen:
        raise Fault(f"no mutant matches {only!r}")
    started = time.monotonic()
    build = folder / "tree/build"
    if not skip_build:
        build = build_tree(root, folder, base, chosen, jobs, targets_of(base, chosen))
        print(f"built in {time.monotonic() - started:.0f} s", flush=True)
    tests, seconds = judge.listed(build), judge.costs(base or build)
    for test in tests:
        test.seconds = seconds.get(test.name, test.seconds)
    wanted = {m.name: [t for t in tests if re.search(m.tests, t.name)] for m in chosen}
    for name, found in wanted.items():
        if not found:
            raise Fault(f"no test matches the expression of {name}")
    runner = judge.Runner(folder, (base or build) / "test-cache")
    started = time.monotonic()
    width = max(len(m.name) for m in chosen)

    def one(m):
        begun = time.monotonic()
        test, result = runner.judge(m.name, wanted[m.name])
        how = "NOT NOTICED" if test is None else f"{result}: {test}" if result == judge.SLOW else test
        print(f"{m.name:{width}}  {m.file:44}  {time.monotonic() - begun:4.0f} s  {how}", flush=True)
        return result
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(one, chosen))
    for name, result in runner.outcomes.items():
        if result != judge.PASSED:
            print(f"without any mutant: {name}: {result}; it judges none")
    noticed = len(chosen) - results.count(judge.PASSED)
    print(f"{noticed} of {len(chosen)} mutants noticed, {100 * noticed / len(chosen):.0f} %, {results.count(judge.SLOW)} of them by a time limit; "
          f"{time.monotonic() - started:.0f} s (logs: {folder})")
    return noticed >= ENOUGH * len(chosen)


def self_test():
    judge.self_test()
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        lists = root / "tests/mutants"
        lists.mkdir(parents=True)
        (root / "a.cpp").write_text("int f(int x) { return x + 1; }\nconstexpr int kMost = 7;\nvoid g() { h(1); }\nint i = x - 1;\n")
        (root / "d.cpp").write_text('int k = 6 / x + 1;\nf("y + 1");\nfmt::format("n {}", 1 / static_cast<T>(2));\n')
        (root / "b.py").write_text("def f(x):\n    return x + 1\n")
        (root / "c.cl").write_text("y = x + 1;\n")
        entry = "[{}]\nfile {}\nold {}\nnew {}\nas {}\ntests t\n"

        def texts(*entries):
            (lists / "some.txt").write_text("".join(entry.format(*e) for e in entries))
            return {file: mutate(file, (root / file).read_text(), those) for file, those in by_file(check(root)).items()}

        made = texts(("one", "a.cpp", "x + 1", "x - 1", "expression"), ("two", "a.cpp", "7", "8", "constant"),
                     ("three", "a.cpp", "h(1);", "h(2);", "statement"), ("four", "b.py", "x + 1", "x", "expression"),
                     ("five", "c.cl", "x + 1", "x", "expression"))
        assert f"return (ridge_mutant == {checksum('one')}u ? (x - 1) : (x + 1));" in made["a.cpp"], made["a.cpp"]
        assert f"const int kMost = (ridge_mutant == {checksum('two')}u ? (8) : (7));" in made["a.cpp"], made["a.cpp"]
        assert f"{{ if (ridge_mutant == {checksum('three')}u) {{ h(2); }} else {{ h(1); }} }}" in made["a.cpp"], made["a.cpp"]
        for on, value in (("four", 1), ("", 2)):
            os.environ["RIDGE_MUTANT"] = on
            scope = {}
            exec(made["b.py"], scope)
            assert scope["f"](1) == value
        assert 'R"kernel(x)kernel" : R"kernel(x + 1)kernel"' in made["c.cl"]
        for entries, message in (
                ([("one", "a.cpp", "x + 2", "x", "expression")], "occurs 0 times"),
                ([("one", "a.cpp", "int", "x", "expression")], "occurs 4 times"),
                ([("one", "a.cpp", "x + 1", "x", "expression"), ("one", "a.cpp", "7", "8", "expression")], "the name of 2"),
                ([("one", "a.cpp", "x + 1", "x", "expression"), ("two", "a.cpp", "x +", "x -", "expression")], "overlaps"),
                ([("one", "a.cpp", "return x", "x", "expression")], "is not an expression"),
                ([("one", "a.cpp", "x : 1", "x : 2", "expression")], "is not an expression"),
                ([("one", "d.cpp", "x + 1", "x", "expression")], "not a whole operand"),
                ([("one", "d.cpp", "y + 1", "y", "expression")], "is part of a string"),
                ([("one", "d.cpp", '"n {}"', '"m {}"', "expression")], "is a format"),
                ([("one", "d.cpp", "1 / static_cast<T>", "2 / static_cast<T>", "expression")], "is not an expression"),
                ([("one", "a.cpp", ".f(x)", ".f(1)", "expression")], "is not an expression"),
                ([("one", "a.cpp", "int i = x - 1;", "int i = x;", "statement")], "declares a name"),
                ([("one", "b.py", "x + 1", "x, 1", "expression")], "not one Python value"),
                ([("one", "b.py", "x + 1", "x = 1", "expression")], "not one Python value"),
                ([("one", "gone.cpp", "x", "y", "expression")], "gone.cpp"),
                ([("one", "a.cpp", "x + 1", "x + 1", "expression")], "changes nothing")):
            try:
                texts(*entries)
            except Fault as fault:
                assert message in str(fault), fault
            else:
                raise AssertionError(f"{entries} was accepted")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "run"])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--only", default="", help="regular expression of LIST/NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--base", type=pathlib.Path, help="a build of ROOT whose objects are copied; default: ROOT/build if it is one")
    parser.add_argument("--built", action="store_true", help="judge with the copy that FOLDER holds")
    given = parser.parse_args()
    try:
        if given.action == "check":
            mutants = check(given.root)
            print(f"{len(mutants)} mutants of {len(by_file(mutants))} files apply")
            return 0
        if given.folder is None:
            parser.error("run needs FOLDER")
        given.folder.mkdir(parents=True, exist_ok=True)
        root, base = given.root.resolve(), given.base or given.root / "build"
        base = base.resolve() if given.base or (base / ".ninja_deps").exists() else None
        return 0 if run(root, given.folder.resolve(), given.only, given.jobs, base, given.built) else 1
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(error.cmd)} failed: see {given.folder / 'log'}", file=sys.stderr)
        return 1


sys.exit(main())
