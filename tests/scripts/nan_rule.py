#!/usr/bin/env python3
"""The largest of many errors must keep a NaN: std::max ignores one, and `if (!(e <= worst)) worst = e` loses it at the
next number. Tests add errors to Worst (tests/support/worst.hpp).

nan_rule.py ROOT          checks every source of ROOT/src and ROOT/tests
nan_rule.py --self-test   checks that each pattern is found
"""
import pathlib
import re
import sys

NAME = r"(?:worst|error|err|far|apart|off|difference)\w*"
WAYS = [
    re.compile(r"if \(!\((\w+) <= (\w+)\)\)\s*\{?\s*\2 = \1\b"),                 # loses it at the next number
    re.compile(r"(\w+) = (\w+) <= \1 \? \1 : \2"),
    re.compile(rf"if \((?:\w+) > ({NAME})\)\s*\{{?\s*\1 = "),                    # ignores it
    re.compile(rf"({NAME}) = (?:std::)?f?max\(\1, (?!.*(?:isnan|to_integer|worse|louder))"),
]
# Code that checks for NaN before this line.
KNOWN = {("src/place/judge/compare.cpp", "worst"), ("tests/sar/focus_test.cpp", "farthest"), ("src/bench/stencil_case.cpp", "apart")}


def matches_of(text):
    for number, line in enumerate(text.splitlines(), 1):
        for way in WAYS:
            match = way.search(line)
            if match:
                yield number, line.strip(), match.groups()


def self_test():
    for line in ("if (!(d <= worst)) worst = d;", "worst = d <= worst ? worst : d;", "if (e > worst) worst = e;",
                 "worst = std::max(worst, std::abs(a - b));", "error = std::max(error, one);"):
        assert list(matches_of(line)), line
    for line in ("worst.add(std::abs(a - b));", "worst = worse(worst, d);", "largest = std::max(largest, a);",
                 "far = std::max(far, std::isnan(one) ? infinity : one);"):
        assert not list(matches_of(line)), line
    print("every pattern is found")


def main(root):
    found = []
    for folder in ("src", "tests"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".h", ".c"):
                continue
            name = str(path.relative_to(root))
            for number, line, groups in matches_of(path.read_text(errors="replace")):
                if not any((name, group) in KNOWN for group in groups):
                    found.append(f"{name}:{number}: {line}")
    print("\n".join(found) or "no NaN is ignored")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2:
        sys.exit(main(pathlib.Path(sys.argv[1])))
    else:
        sys.exit(__doc__)
