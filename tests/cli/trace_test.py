"""Tests --trace, RIDGE_TRACE and ridge trace: well-formed files, nested spans, sums, refusals."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

ridge = os.path.abspath(sys.argv[1])
TOOL = """#include <stdio.h>
#include <nvtx3/nvToolsExt.h>
static int depth;
static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  printf("range %d %s\\n", depth, event->message.ascii);
  return domain ? depth++ : -1;
}
static int pop(nvtxDomainHandle_t domain) { return domain ? --depth : -1; }
static nvtxDomainHandle_t create(const char* name) { return (nvtxDomainHandle_t)name; }
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const NvtxExportTableCallbacks* callbacks = (const NvtxExportTableCallbacks*)get(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table = 0;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
  return 1;
}
"""


def run(*words, expect=0, **environment):
    done = subprocess.run([ridge, *words], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == expect, (words, done.returncode, done.stderr)
    return done.stdout if expect == 0 else done.stderr


def spans(path):
    """The names of the spans and of counted short calls, after checking the format: known phases, spans of a track nest."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    assert {event["ph"] for event in events} <= set("XMi"), events
    tracks = {}
    for event in events:
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0, event
            tracks.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    for track in tracks.values():
        enclosing = []
        for begin, end in sorted(track, key=lambda span: (span[0], -span[1])):
            while enclosing and enclosing[-1] <= begin + 1e-3:
                enclosing.pop()
            assert not enclosing or end <= enclosing[-1] + 2e-3, (begin, end, enclosing[-1])
            enclosing.append(end)
    short = [event["args"]["name"] for event in events if event["name"] == "short calls"]
    return [event["name"] for event in events if event["ph"] == "X"] + short


def npy(name, count):
    header = "{'descr': '<c8', 'fortran_order': False, 'shape': (%d,), }" % count
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(8 * count))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    npy("in.npy", 4096)
    for words in (["--trace", "a.json"], ["--trace=a.json"]):
        run("fft", "in.npy", "out.npy", *words)
        names = spans("a.json")
        assert names.count("command") == 1 and "plan" in names, names
        os.remove("a.json")
    run("--trace", "b.json", "fft", "in.npy", "out.npy", "--memory", "30000")
    assert {"command", "read", "panel"} <= set(spans("b.json"))
    run("fft", "in.npy", "out.npy", RIDGE_TRACE="c.json")
    assert "plan" in spans("c.json")
    text = run("trace", "b.json")
    assert "command" in text and "panel" in text and "own ms" in text, text
    assert len(run("trace", "b.json", "--rows", "1").splitlines()) < len(text.splitlines())

    made = {"traceEvents": [{"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "thread 1"}},
                            {"ph": "X", "pid": 1, "tid": 1, "name": "outer", "ts": 0, "dur": 1000},
                            {"ph": "X", "pid": 1, "tid": 1, "name": "inner", "ts": 100, "dur": 600},
                            {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "cuda:0 queue 1"}},
                            {"ph": "X", "pid": 1, "tid": 2, "name": "upload", "ts": 0, "dur": 200, "args": {"what": "400000 bytes"}},
                            {"ph": "X", "pid": 1, "tid": 2, "name": "kernel", "ts": 700, "dur": 100},
                            {"ph": "X", "pid": 1, "tid": 1, "name": "compile", "ts": 800, "dur": 9, "args": {"what": "k, from the cache"}},
                            {"ph": "i", "pid": 1, "tid": 1, "name": "short calls", "ts": 0, "args": {"name": "run", "count": 7, "seconds": 0.5}}]}
    with open("made.json", "w", encoding="ascii") as file:
        json.dump(made, file)
    rows = {line.split()[0]: line.split() for line in run("trace", "made.json").splitlines() if line.startswith("  ")}
    assert rows["outer"][1:5] == ["1", "1.000", "0.391", "39.1%"], rows["outer"]
    assert rows["inner"][3] == "0.600" and rows["upload"][5] == "2.00", rows
    text = run("trace", "made.json")
    assert "busy 0.300 of 0.800 ms (37.5 %), idle 0.500 ms" in text, text
    assert "0 compiled, 1 from the cache" in text and '7 of "run", 500.000 ms' in text, text

    with open("names.json", "w", encoding="ascii") as file:  # no escape sequence of a file reaches the terminal
        file.write('{"traceEvents": [{"ph": "X", "tid": 1, "ts": 1, "dur": 5, "name": "\\u001b[2Jspan"},'
                   '{"ph": "M", "tid": 1, "name": "thread_name", "args": {"name": "thread \\u001b[2J"}},'
                   '{"ph": "i", "name": "short calls", "args": {"name": "\\u001b[2Jcall", "count": 1}}]}')
    text = run("trace", "names.json")
    assert "span" in text and "call" in text and "\x1b" not in text, text
    for content, reason in (("", "empty"), ("\x7fELF", "line 1, column 1"), ("[]", "traceEvents"), ('{"traceEvents": 3}', "traceEvents"),
                            ('{"traceEvents": [{"ph": "X", "name": "x", "ts": 0, "dur": -1}]}', "negative"),
                            ('{"traceEvents": [{"ph": "X", "name": 3}]}', "type")):
        with open("bad.json", "w", encoding="latin-1") as file:
            file.write(content)
        error = run("trace", "bad.json", expect=1)
        assert error.count("\n") == 1 and "bad.json: " in error and reason in error, error
    before = sorted(os.listdir("."))
    for words in (["fft", "in.npy", "new.npy", "--trace"], ["fft", "in.npy", "new.npy", "--trace="], ["fft", "in.npy", "new.npy", "--trace", "no/such/x.json"]):
        error = run(*words, expect=1)
        assert error.count("\n") == 1, error
    # The file of the trace may be neither an input nor another output.
    with open("in.npy", "rb") as file:
        kept = file.read()
    for words, variables in ((["--trace", "./in.npy"], {}), (["--trace=new.npy"], {}), ([], {"RIDGE_TRACE": "in.npy"})):
        error = run("fft", "in.npy", "new.npy", *words, expect=1, **variables)
        assert error.count("\n") == 1 and "the trace" in error, error
    with open("in.npy", "rb") as file:
        assert file.read() == kept, "the trace replaced the input"
    assert sorted(os.listdir(".")) == before, os.listdir(".")

    # A library in the place of Nsight Systems: it prints the ranges that the command pushes, and counts those that are open.
    include = next((p for p in ("/usr/local/cuda/include", "/usr/include") if os.path.exists(p + "/nvtx3/nvToolsExt.h")), None)
    if include and shutil.which("cc"):
        with open("tool.c", "w", encoding="ascii") as file:
            file.write(TOOL)
        subprocess.run(["cc", "-shared", "-fPIC", "-I", include, "tool.c", "-o", "tool.so"], check=True)
        ranges = run("fft", "in.npy", "out.npy", NVTX_INJECTION64_PATH=os.path.abspath("tool.so")).splitlines()
        ranges = [line for line in ranges if line.startswith("range ")]
        assert any(line.startswith("range 0 command: ") for line in ranges), ranges
        assert any(line.startswith("range 1 plan: fft complex 4096") for line in ranges), ranges
    os.chdir("/")
print("all well")
