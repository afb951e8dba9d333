#!/usr/bin/env python3
"""An aggregate inside the braces of another one names its type if a later initializer may throw.

g++ 12 destroys `problem` of `Case{.problem = {.shape = shape}, .grid = Grid(shape)}` twice if Grid throws: a double free in place
of an error message. With `.problem = Problem{.shape = shape}` it is destroyed once. The rule finds braces that begin with a
designator, inside other braces, before a sibling with a call; aggregates without designators need the same care.

braces_rule.py ROOT          checks every source of ROOT/src and ROOT/include
braces_rule.py --self-test   checks that the pattern is found, and nothing else
"""
import pathlib
import re
import sys

CLOSING = {"{": "}", "(": ")", "[": "]"}
NESTED = re.compile(r"(\.\w+\s*=\s*)?\{\s*\.\w")
CALL = re.compile(r"[\w>]\s*\(|\]\s*(?:\([^)]*\))?\s*\{|[\w>]\{")  # a call, a closure, a constructor
STATEMENT = re.compile(r"(?:if|for|while|switch|return|case|using|const|constexpr|static|auto)\b")


def without_text(source):
    """Comments and the contents of literals removed, lines kept."""
    def blank(match):
        kept = match.group()[0] if match.group()[0] in "\"'" else ""
        return kept + "\n" * match.group().count("\n") + kept
    literals = r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/'
    return re.sub(literals, lambda m: '""' if m.group().startswith('R"') and "\n" not in m.group() else blank(m), source, flags=re.S)


def parts_of(text, start):
    """The items between the brackets that open at `start`, as (offset, text); None if they do not match."""
    stack, items, begin = [], [], start + 1
    for i in range(start, len(text)):
        c = text[i]
        if c in CLOSING:
            stack.append(CLOSING[c])
        elif c in "})]":
            if not stack or stack.pop() != c:
                return None
            if not stack:
                return items + [(begin, text[begin:i])]
        elif len(stack) == 1 and c == ";":
            return None  # a block of statements
        elif len(stack) == 1 and c == ",":
            items.append((begin, text[begin:i]))
            begin = i + 1
    return None


def found_in(source):
    """(line, text) of every nested aggregate without a type."""
    text = without_text(source)
    for match in re.finditer(r"\{", text):
        items = parts_of(text, match.start())
        if not items or len(items) < 2 or any(STATEMENT.match(item.strip()) for _, item in items):
            continue
        if all(item.strip().startswith("{") or not item.strip() for _, item in items):
            continue  # elements of a list: destroyed once
        for number, (offset, item) in enumerate(items):
            later = [other for _, other in items[number + 1:]]
            if NESTED.match(item.strip()) and any(CALL.search(other) for other in later):
                at = offset + len(item) - len(item.lstrip())
                yield text.count("\n", 0, at) + 1, re.sub(r"\s+", " ", item.strip())[:70]


def self_test():
    for source in ("Case a{.problem = {.shape = s}, .grid = Grid(s)};", "f({.p = {.name = n}, .run = [p] { return g(p); }});",
                   "return {{.name = n, .text = t}, bytes_of(n)};", "Case a{.p = {\n .name = n}, // x\n .g = h()};",
                   'x = {.p = {.name = "a)"}, .q = std::vector<int>{1}};'):
        assert list(found_in(source)), source
    for source in ("Case a{.problem = Problem{.shape = s}, .grid = Grid(s)};", "Case a{.grid = Grid(s), .problem = {.shape = s}};",
                   "v = {{.name = a}, {.name = f(b)}};", "Case a{.problem = {.shape = s}, .n = 3};", "p = {\"{.a = 1}\", f(1)};",
                   "// {.p = {.n = 1}, .q = f()}", "void f() { int a = 1; g({.a = 1}); h(); }", "Case a{.names = {f(1)}, .q = g()};"):
        assert not list(found_in(source)), (source, list(found_in(source)))
    print("the pattern is noticed")


def main(root):
    found = []
    for folder in ("src", "include", "python/src"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                for line, text in found_in(path.read_text(errors="replace")):
                    found.append(f"{path.relative_to(root)}:{line}: name the type of {text}")
    print("\n".join(found) or "every nested aggregate before a call names its type")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2:
        sys.exit(main(pathlib.Path(sys.argv[1])))
    else:
        sys.exit(__doc__)
