#!/usr/bin/env python3
"""Syntax-checks source files one by one, as the ordinary build (RIDGE_UNITY=OFF) compiles them, with warnings as errors.

    plain_files.py SOURCE BUILD [--cxx COMPILER] [--all] [--precompiled] [--commits N] [--most N] [--jobs N]
    plain_files.py --self-test

The build of ./run and ./test compiles a folder as one unit, which hides missing includes and most of -Wshadow. This
script configures BUILD/plain-COMPILER and runs the compiler with -fsyntax-only on the files that were changed in the
working tree and in the last N commits. A changed header is checked through one file that includes it. With --precompiled
the standard headers are read once per target, which saves most of the time but hides missing includes.
Exit status: 0 fine, 1 a file does not compile, 77 nothing can be checked (no git history).
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
FOLDERS = ("src", "include", "tests", "python", "examples", "fuzz", "docs")


def configure(source, build, compiler, precompiled):
    command = ["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
               "-DRIDGE_UNITY=OFF", f"-DRIDGE_PCH={'ON' if precompiled else 'OFF'}", "-DRIDGE_WERROR=ON", "-DRIDGE_TESTS=ON",
               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    if compiler:
        command.append(f"-DCMAKE_CXX_COMPILER={compiler}")
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(f"{run.stdout}\n{shlex.join(command)} failed")


def commands_of(build):
    """File -> (directory, compiler command with -fsyntax-only), in the order of the build; commands of precompiled headers."""
    result, headers = {}, []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        while words[0] == "env" or "=" in words[0] or words[0].endswith("ccache"):
            words.pop(0)
        if "cmake_pch" in pathlib.PurePath(entry["file"]).name:
            headers.append((entry["directory"], words))
            continue
        at = words.index("-o")
        del words[at:at + 2]
        words.remove("-c")
        file = pathlib.Path(entry["file"])
        if file.exists():  # embedded kernels are written by the build
            result.setdefault(file, (entry["directory"], words + ["-fsyntax-only"]))
    return result, headers


def git_lines(source, *arguments):
    run = subprocess.run(["git", "-C", str(source), *arguments], capture_output=True, text=True)
    return run.stdout.splitlines() if run.returncode == 0 else None


def changed_files(source, commits):
    """Changed files, latest first; None without a history."""
    lists = [git_lines(source, "diff", "--name-only", "HEAD"),
             git_lines(source, "ls-files", "--others", "--exclude-standard"),
             git_lines(source, "log", f"-n{commits}", "--name-only", "--format=")]
    if None in lists:
        return None
    names = dict.fromkeys(name for some in lists for name in some if name)
    return [source / name for name in names if (source / name).exists()]


def includers(source, compiled):
    """Name as written in #include, without folders -> files that have such a line."""
    found = {}
    headers = [file for folder in FOLDERS for file in sorted((source / folder).rglob("*.hpp"))]
    for file in [*compiled, *headers]:
        for included in INCLUDE.findall(file.read_text(errors="replace")):
            found.setdefault(pathlib.PurePath(included).name, []).append((included, file))
    return found


def compiled_users(header, found, compiled):
    """Compiled files that include a header, directly or through others, nearest first."""
    seen, level = {header}, [header]
    while level:
        following = []
        for one in level:
            for included, file in found.get(one.name, []):
                if file in seen or not str(one).endswith("/" + included.removeprefix("../")):
                    continue
                seen.add(file)
                if file in compiled:
                    yield file
                following.append(file)
        level = following


def choose(source, changed, compiled):
    chosen = {}
    found = None
    for file in changed:
        if file in compiled:
            chosen[file] = True
        elif file.suffix == ".hpp":
            found = found or includers(source, compiled)
            users = list(compiled_users(file, found, compiled))
            if users and not any(user in chosen for user in users):
                chosen[users[0]] = True
    return list(chosen)


def check(files, commands, jobs):
    """Names the files that fail; returns their number."""
    def one(file):
        directory, words = commands[file]
        return subprocess.run(words, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for file, run in zip(files, pool.map(one, files)):
            if run.returncode != 0:
                failed += 1
                print(f"FAILED: {file}\n{run.stdout}", flush=True)
    return failed


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / "src/a").mkdir(parents=True)
        texts = {"src/a/low.hpp": "struct A { int n = 0; int f(int n) { return n; } };\n",
                 "src/a/high.hpp": '#include "a/low.hpp"\n',
                 "src/a/user.cpp": '#include "a/high.hpp"\n',
                 "src/a/fine.cpp": "int fine() { return 1; }\n",
                 "src/a/bare.cpp": "std::string bare();\n"}
        for name, text in texts.items():
            (source / name).write_text(text)
        paths = {name: source / name for name in texts}
        compiler = os.environ.get("CXX", "c++")
        commands = {paths[name]: (folder, [compiler, "-std=c++20", f"-I{folder}/src", "-Wshadow", "-Werror", str(paths[name]),
                                          "-fsyntax-only"]) for name in texts if name.endswith(".cpp")}
        assert choose(source, [paths["src/a/low.hpp"]], commands) == [paths["src/a/user.cpp"]]
        assert choose(source, [paths["src/a/user.cpp"], paths["src/a/high.hpp"]], commands) == [paths["src/a/user.cpp"]]
        assert check([paths["src/a/fine.cpp"]], commands, 1) == 0
        assert check(list(commands), commands, 2) == 2, "the shadowed name and the missing include"
    print("all as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--cxx", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--precompiled", action="store_true")
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    changed = None if options.all else changed_files(options.source, options.commits)
    if changed is None and not options.all:
        print("no git history: cannot tell which files changed")
        return 77
    build = options.build / f"plain-{pathlib.PurePath(options.cxx or 'default').name}{'-precompiled' * options.precompiled}"
    configure(options.source, build, options.cxx, options.precompiled)
    commands, headers = commands_of(build)
    for directory, words in headers:
        subprocess.run(words, cwd=directory, check=True)
    files = list(commands) if options.all else choose(options.source, changed, commands)[:options.most]
    failed = check(files, commands, options.jobs)
    print(f"{len(files)} of {len(commands)} files checked, {failed} do not compile")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
