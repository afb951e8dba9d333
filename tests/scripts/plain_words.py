#!/usr/bin/env python3
"""Keeps words of a private dialect out of new text. ALLOWED counts the lines that may have them, per folder: none. The first line of
each source file must be a comment, which says what the file computes or holds.

plain_words.py ROOT           fails if a folder has more lines with a phrase than ALLOWED says
plain_words.py ROOT --write   sets ALLOWED to today's counts, after lines were rewritten
plain_words.py --self-test    checks that each phrase is found and that a new line fails
"""
import json
import pathlib
import re
import sys

UNITS = ("point|line|thread|pixel|cell|device|workload|variant|file|folder|command|channel|tile|group|length|axis|sample|step|launch|warp|"
         "unit|core|process|rank|plan|call|problem|parser|kernel|row|column|byte|value|stage|page|pass|frame|module|block|chunk|lane|operator")
# "1 of a channel" and "one on a block" are not "a launch a stage".
LINKS = ("of|in|on|to|at|or|and|as|for|from|with|over|along|than|has|have|needs?|gives?|would|writes|reads")
PHRASES = [  # name, pattern, advice, a line that must be found; tests/refusals reads the patterns
    ("wishes", r"wish(es)?\b", "options", "struct BenchWishes {"),
    ("whoever", r"\bwhoever\b|\beverybody\b|\bsomebody\b", "name the thread, rank or caller", "rows for whoever is free"),
    ("conductor", r"\bconduct(or|ors|ed)\b", "producer warp, warp-specialized", "groups have a conductor more"),
    ("there and back", r"\bthere and back\b", "forward and inverse, round trip", "a transform there and back"),
    ("as it lies", r"\bas (it|they) lies?\b", "with its strides, in place", "an array as it lies"),
    ("a launch a stage", rf"\b(one|a|an|two|\d+) (?!({LINKS})\b)\w+ an? ({UNITS})\b", "say 'per': one launch per stage", "a launch a stage"),
    ("numbers that are none", r"\bthat (is|are) none\b|\bwhich is none\b|\bis no numbers?\b", "NaN, not a number", "numbers that are none"),
    ("so many", r"\bso many\b", "give the number, or 'this many'", "by so many registers"),
    ("in turn", r"\bin turn\b", "alternately, one after another", "blocks of both in turn"),
    ("come by themselves", r"\bcomes? by (itself|themselves)\b|\b(come|tiles) ahead\b", "prefetched, fetched by TMA", "tiles come ahead"),
    ("go round", r"\bgo(es)? round\b", "is reused, circulates", "a ring goes round"),
    ("comment: What", r"//+ (What|Whether|Who|So that)\b", "start with what it computes", "// What a border has"),
    ("not looked up", r"\bissue \d+'s\b|\bmain of \d\d:\d\d\b|\bsession \d+\b", "a commit, or nothing", "issue 18's figures"),
]
WORDS = {  # of which a match of the pattern has at least one: searched first
    "wishes": "wish",
    "whoever": "whoever|everybody|somebody",
    "conductor": "conduct",
    "there and back": "there and back",
    "as it lies": " lie",
    "a launch a stage": " a | an ",
    "numbers that are none": "none|number",
    "so many": "so many",
    "in turn": "in turn",
    "come by themselves": "come",
    "go round": "round",
    "comment: What": "//",
    "not looked up": "issue |main of |session ",
}
FOLDERS = ("src", "include", "python", "tests", "docs")
ENDINGS = {".cpp", ".hpp", ".h", ".cl", ".py", ".pyi", ".md", ".txt", ".sh", ".cmake"}
ALLOWED = {
    "src": {},
    "include": {},
    "python": {},
    "tests": {},
    "docs": {},
}


def texts_of(root, folder):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix in ENDINGS and path.is_file() and path.name != "plain_words.py" and "__pycache__" not in path.parts:
            yield str(path.relative_to(root)), path.read_text(errors="replace")


def found_in(texts):
    """Lines with each phrase. The words are searched first, then the whole text: patterns alone take five times as long, single lines fifty times."""
    patterns = [(name, WORDS[name].split("|"), re.compile(pattern, 0 if "//" in pattern else re.I)) for name, pattern, *_ in PHRASES]
    found = {name: [] for name, *_ in PHRASES}
    for place, text in texts:
        lower = text.lower()
        for name, words, pattern in patterns:
            if any(word in lower for word in words) and pattern.search(text):
                found[name] += [f"{place}:{number}: {line.strip()[:120]}"
                                for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]
    return found


def faults(folder, found, allowed):
    for name, _, advice, _ in PHRASES:
        if len(found[name]) > allowed.get(name, 0):
            yield (f"{folder}/: {len(found[name])} lines with \"{name}\", {allowed.get(name, 0)} allowed. Write: {advice}. All of them:\n  "
                   + "\n  ".join(found[name]))


def without_first_line(texts):
    """Source files that do not begin with a comment."""
    for place, text in texts:
        if place.endswith((".cpp", ".hpp", ".h", ".cl", ".py")):
            first = next((line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#!")), "//")
            if not first.startswith(("//", "/*", '"""', 'r"""', "# ")):
                yield f"{place}:1: begin with a comment that says what the file computes or holds"


if sys.argv[1:] == ["--self-test"]:
    bad = [name for name, _, _, line in PHRASES if not found_in([("x", line)])[name]]
    bad += [name for name, _, _, line in PHRASES if len(list(faults("x", found_in([("x", (line + "\n") * 3)]), {name: 2}))) < 1]
    bad += [name for name, found in found_in([("x", "One launch per stage; a file of a format.")]).items() if found]
    cases = [("a.cpp", "// Adds numbers.\n", 0), ("a.cpp", "#include <a>\n", 1), ("a.py", '#!/usr/bin/python3\n"""Adds."""\n', 0), ("a.cl", "\n", 0)]
    bad += [text for name, text, count in cases if len(list(without_first_line([(name, text)]))) != count]
    sys.exit(f"not noticed: {bad}" if bad else 0)
root = pathlib.Path(sys.argv[1])
texts = {folder: list(texts_of(root, folder)) for folder in FOLDERS}
counts = {folder: found_in(texts[folder]) for folder in FOLDERS}
if "--write" in sys.argv:
    short = [f"    {json.dumps(f)}: {json.dumps({n: len(p) for n, p in found.items() if p})},\n" for f, found in counts.items()]
    text = pathlib.Path(__file__).read_text()
    start, end = text.index("ALLOWED = {") + 11, text.index("}\n\n\ndef")
    pathlib.Path(__file__).write_text(text[:start] + "\n" + "".join(short) + text[end:])
    sys.exit(0)
bad = [fault for folder, found in counts.items() for fault in faults(folder, found, ALLOWED.get(folder, {}))]
bad += [fault for folder in FOLDERS if folder != "docs" for fault in without_first_line(texts[folder])]  # pages explain lessons
print("\n".join(bad) or f"{sum(len(p) for found in counts.values() for p in found.values())} lines left to rewrite")
sys.exit(bool(bad))
