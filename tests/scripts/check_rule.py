#!/usr/bin/env python3
"""References share nothing with the code they check: src/check includes public headers, src/base and itself, nothing else.

check_rule.py ROOT          checks every file of ROOT/src/check
check_rule.py --self-test   breaks the rule in a small tree and checks that this is found
"""
import pathlib
import re
import sys
import tempfile

ALLOWED = {"base", "check"}
# To be removed when the file has its own reference.
EXCEPTIONS = {}


def faults(root):
    found = []
    files = sorted([*(root / "src/check").glob("**/*.cpp"), *(root / "src/check").glob("**/*.hpp")])
    for path in files:
        name = str(path.relative_to(root))
        included = set(re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.M))
        allowed = EXCEPTIONS.get(name, set())
        found += [f'{name}: "{header}": a reference includes <ridge/...>, base/ and check/ only'
                  for header in sorted(included - allowed) if header.split("/")[0] not in ALLOWED]
        found += [f'{name}: "{header}" is no longer included: take it off the exceptions of check_rule.py'
                  for header in sorted(allowed - included)]
    if not files:
        found.append(f"no files under {root}/src/check")
    return found


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "src/check").mkdir(parents=True)
        assert faults(root)
        good = root / "src/check/good.cpp"
        good.write_text('#include <ridge/fft.hpp>\n#include "base/worst.hpp"\n#include "check/check.hpp"\n')
        assert not faults(root), faults(root)
        for header in ("fft/reference.hpp", "device/random.hpp", "plan/comparison.hpp", "../fft/layout.hpp"):
            (root / "src/check/bad.hpp").write_text(f'#include "{header}"\n')
            assert len(faults(root)) == 1 and header in faults(root)[0], faults(root)
        (root / "src/check/bad.hpp").unlink()
        (root / "src/check/sar.cpp").write_text("")
        assert len(faults(root)) == len(EXCEPTIONS.get("src/check/sar.cpp", ())), faults(root)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = faults(pathlib.Path(sys.argv[1]))
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
