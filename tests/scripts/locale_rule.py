#!/usr/bin/env python3
"""Numbers and names are read and written independently of the locale that a program sets (setlocale, std::locale::global):
src/base/number.hpp has the functions to use. fmt's {:a} and C's printf write a decimal comma, strtod and sscanf read one,
tolower('I') is not 'i' in Turkish, and C++ streams group digits.

locale_rule.py ROOT          checks the sources of ROOT/src, ROOT/include and ROOT/python/src, generated text included
locale_rule.py --self-test   checks that each pattern is found
"""
import pathlib
import re
import sys

FLOAT = r"%[-+ #0-9.*]*[lL]?[aefgAEFG]"
WAYS = [
    (re.compile(r"\b(?:strto(?:d|f|ld)|sto(?:d|f|ld)|atof)\s*\("), "use base::number_of or base::leading_number"),
    (re.compile(r"\b(?:tolower|toupper|str(?:n)?casecmp|strcoll)\b"), "use base::lower_case"),
    (re.compile(r"\b(?:setlocale|strftime|put_time|get_time|put_money|strptime)\b"), "depends on the locale"),
    (re.compile(r"scanf\s*\([^;]*?" + FLOAT.replace("[-+ #0-9.*]", "[*0-9]")), "use base::leading_number"),
    (re.compile(r"printf\s*\([^;]*?" + FLOAT), "use fmt or base::decimal_text"),
    (re.compile(r"\"[^\"\n]*\{\w*:[^{}\"]*[aAL]\}"), "use base::hexadecimal_text"),
]
STREAM = r"std::[io]?(?:string|f)stream"
DECLARED = re.compile(r"\b(?:double|float)\s+([^;(){}]*)")
# File and variable: whole numbers of the kernel and of our own instrumentation, and a stream with the classic locale.
KNOWN = {("src/device/host/host.cpp", "khz"), ("src/place/dynamic/instrument.cpp", "calls"),
         ("src/place/dynamic/instrument.cpp", "ns"),
         *(("src/machine/trust.cpp", name) for name in "user nice system idle waiting interrupts soft stolen".split())}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def faults(text):
    """Yields line number, text and advice for each fault."""
    text = without_comments(text)
    for way, advice in WAYS:
        for match in way.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0].split("\n")[0].strip(), advice
    if "locale::classic()" in text:
        return
    declared = {name for match in DECLARED.finditer(text) for name in re.findall(r"(\w+)\s*(?:=|,|$)", match[1])}
    streams = "|".join({STREAM + r"\([^;]*?\)", *re.findall(STREAM + r"\s+(\w+)", text)})
    for match in re.finditer(rf"(?:\b(?:{streams}))((?:\s*(?:>>|<<)\s*[^;<>]+)+)", text):
        line = text.count("\n", 0, match.start()) + 1
        for way, word in re.findall(r"(>>|<<)\s*([^\s;<>()]+)", match[1]):
            if way == ">>" and word in declared:
                yield line, word, "read a word and use base::number_of"
            if way == "<<" and not re.match(r"\"|'|fmt::|std::flush", word) and not word.endswith("rdbuf"):
                yield line, word, "use fmt: streams group digits in some locales"


def self_test():
    for line in ("x = std::strtod(a, &end);", "std::atof(word)", "std::stod(text)", 'std::sscanf(t, "%d:%lf%n", &a, &b);',
                 'snprintf(t, sizeof t, "%.9g", x);', 'std::printf("seconds\\n"\n "%g\\n", s);', 'fmt::format("{:a}", x)',
                 'fmt::format("{0:L} points", n)', "std::tolower(c)", "std::ifstream in(x);\ndouble a = 0, b;\nin >> a >> b;", "double ns = 0; std::istringstream(line) >> ns;",
                 "std::ofstream(file) << number;", "strftime(t, 9, f, &when)"):
        assert list(faults(line)), line
    for line in ("base::number_of(word)", 'std::sscanf(t, "%9zux%9zu", &a, &b);', 'printf("%s %lld\\n", a, b);',
                 'fmt::format("{:.9g} {:x}", x, y)', "std::string word; in >> word;", "// strtod(x)", "double b; a >> b", "std::ofstream out(name); out << fmt::format(\"{}\", 1) << std::flush;",
                 'std::ofstream(file) << fmt::format("{}", x);'):
        assert not list(faults(line)), (line, list(faults(line)))
    print("all forbidden functions are found")


def main(root):
    found, count = [], 0
    for folder in ("src", "include", "python/src"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".h", ".c"):
                continue
            name = str(path.relative_to(root))
            count += 1
            found += [f"{name}:{number}: {text}: {advice}" for number, text, advice in faults(path.read_text(errors="replace"))
                      if (name, text) not in KNOWN]
    print("\n".join(found) or f"{count} files do not depend on the locale")
    return 1 if found or not count else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2:
        sys.exit(main(pathlib.Path(sys.argv[1])))
    else:
        sys.exit(__doc__)
