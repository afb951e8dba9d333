#!/usr/bin/env python3
"""The rules of HACKING: a module of src/ includes only modules above it, the folders of src/place form no circle, and kernels of
workloads have no inline assembly: they use words of the dialect (src/device) or of src/codegen.

include_rule.py ROOT          checks every file under ROOT/src
include_rule.py --self-test   breaks the rule in a small tree and checks that this is found
"""
import pathlib
import re
import sys
import tempfile

# Modules that each module may include besides itself; public headers count as their module.
LIBRARY = ["base", "device", "machine", "plan"]
ALLOWED = {
    "base": [],
    "io": ["base"],
    "device": ["base"],
    "graph": ["base", "device"],
    "machine": ["base", "device"],
    "plan": ["base", "device", "machine"],
    "codegen": ["base", "device"],
    "transpose": LIBRARY + ["codegen"],
    "fft": LIBRARY + ["codegen"],
    "stencil": LIBRARY + ["codegen", "fft", "graph"],
    "filterbank": LIBRARY + ["codegen", "fft"],
    "image": LIBRARY + ["codegen", "fft", "stencil", "io"],
    "sar": LIBRARY + ["codegen", "fft", "nufft", "transpose"],
    "nufft": LIBRARY + ["codegen", "fft"],
    "search": LIBRARY + ["codegen", "fft", "transpose"],
    "mpi": ["base", "device", "machine", "plan", "stencil", "fft", "filterbank", "io"],
    "report": ["base", "machine", "plan"],
    "place": ["base", "device", "machine"],
    "c": ["base", "device", "plan", "fft", "transpose"],
    "fftw": ["base", "device", "plan", "fft"],
}
WORKLOADS = ["transpose", "fft", "stencil", "filterbank", "image", "sar", "nufft", "search"]
ALLOWED["check"] = LIBRARY + WORKLOADS
ALLOWED["papers"] = LIBRARY + ["codegen", "fft", "stencil"]
ALLOWED["command"] = ["base", "graph", "mpi"]
ALLOWED["bench"] = list(ALLOWED)
ALLOWED["cli"] = list(ALLOWED)  # the top module
# Headers of include/ridge whose module has another name.
HEADERS = {"error": "base", "samples": "base", "window": "base", "trace": "base"}

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<ridge/([^>]+)>)')


def module_of(own, public):
    if own is not None:
        return own.split("/")[0] if "/" in own else None
    stem = public.split("/")[0].removesuffix(".hpp")
    return HEADERS.get(stem, stem)


def broken_rules(root):
    found = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".h", ".inc", ".c"):
            continue
        module = path.relative_to(root / "src").parts[0]
        if module not in ALLOWED:
            found.append(f"{path}: a module \"{module}\" that this script does not know: add it to ALLOWED")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            target = module_of(*match.groups()) if match else None
            if target is None or target == module or target not in ALLOWED or target in ALLOWED[module]:
                continue
            found.append(f"{path}:{number}: {module} includes {target}, which is not above it")
    return found


def inline_assembly(root):
    """Lines of .cl files outside src/device and src/codegen that contain inline assembly."""
    found = []
    for path in sorted((root / "src").rglob("*.cl")):
        if path.relative_to(root / "src").parts[0] in ("device", "codegen"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if re.search(r"\b(asm|__asm__)\b", line):
                found.append(f"{path}:{number}: inline assembly: move it to a word in src/codegen")
    return found


def folder_circles(root, module):
    """Folders of src/MODULE that include each other, directly or through other folders; files outside folders are ignored."""
    reached = {}
    for path in sorted((root / "src" / module).rglob("*.?pp")):
        for line in path.read_text(errors="replace").splitlines():
            match = INCLUDE.match(line)
            parts = (match.group(1) or "").split("/") if match else []
            own = path.relative_to(root / "src" / module).parts
            if len(own) > 1 and len(parts) > 2 and parts[0] == module and parts[1] != own[0]:
                reached.setdefault(own[0], set()).add(parts[1])
    for middle in list(reached):  # transitive closure
        for folder in reached:
            if middle in reached[folder]:
                reached[folder] |= reached[middle]
    circle = sorted(folder for folder in reached if folder in reached[folder])
    return [f"src/{module}: the folders {', '.join(circle)} include each other in a circle"] if circle else []


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)

        def broken(path, text):
            file = root / "src" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            found = broken_rules(root)
            file.unlink()
            return found

        assert not broken("fft/a.cpp", '#include "base/text.hpp"\n#include <ridge/fft.hpp>\n#include <vector>\n')
        assert not broken("fft/a.cpp", '#include "fft/other.hpp"\n#include <ridge/error.hpp>\n')
        assert "base includes fft" in broken("base/a.cpp", '#include "fft/plan.hpp"\n')[0]
        assert "plan includes stencil" in broken("plan/a.hpp", "\n# include <ridge/stencil/update.hpp>\n")[0]
        assert "a.hpp:2" in broken("plan/a.hpp", "\n#include <ridge/fft/plan.hpp>\n")[0]
        assert "fft includes cli" in broken("fft/a.cpp", '#include "cli/fft/fft.hpp"\n')[0]
        assert "fft includes command" in broken("fft/a.cpp", '#include "command/command.hpp"\n')[0]
        assert "does not know" in broken("surprise/a.cpp", "")[0]

        def circles(**includes):
            for folder, target in includes.items():
                (root / "src/place" / folder).mkdir(parents=True, exist_ok=True)
                (root / "src/place" / folder / "a.cpp").write_text(f'#include "place/{target}"\n')
            return folder_circles(root, "place")

        assert not circles(a="b/a.hpp", b="c/a.hpp", c="model.hpp")
        assert "folders a, b, c include" in circles(c="a/a.hpp")[0]
        for module, faults in (("fft", 1), ("codegen", 0)):
            (root / "src" / module).mkdir(parents=True, exist_ok=True)
            (root / "src" / module / "a.cl").write_text('#define WAIT() asm volatile("bar.sync 1;")\n// an asmatic word\n')
            assert len(inline_assembly(root)) == faults, module
            (root / "src" / module / "a.cl").unlink()
    print("every violation of the rule is found")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2:
        tree = pathlib.Path(sys.argv[1])
        problems = broken_rules(tree) + folder_circles(tree, "place") + inline_assembly(tree)
        print("\n".join(problems) or "every module includes only modules above it")
        sys.exit(1 if problems else 0)
    else:
        sys.exit(__doc__)
