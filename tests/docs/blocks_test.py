"""Checks the code blocks of README and docs/: Python runs, C++ compiles (with RIDGE_SLOW=1 it also runs), commands have the options shown.

  blocks_test.py SOURCE BUILD COMPILER [FLAGS...]

A page's Python blocks run one after the other in one process. Each C++ block is compiled against the public headers as a
function, with the declarations of CONTEXT; a block with "…" is abbreviated and is skipped. Every `ridge ... --option` must be in that
command's --help.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

slow = os.environ.get("RIDGE_SLOW", "") not in ("", "0")
source, build, compiler, flags = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[4:]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
SPANS = "std::vector<std::complex<float>> in(1 << 20), out(1 << 20);"
BUFFERS = ("ridge::Device place = accelerator(); ridge::Buffer in = place.buffer(1 << 22), out = place.buffer(1 << 22); "
           "ridge::Queue queue = place.queue();")

# Declarations that a block needs, by a text that occurs in it.
CONTEXT = {
    "fft.forward(in, out);   ": SPANS,
    "both.forward(in, out);": SPANS,
    "fft::plan<float>(gpu": BUFFERS,
    "auto dct = tensor_plan<double>": "double in[1000] = {}, out[1000];",
    "stream.push(bytes, channels)": "std::vector<std::byte> bytes(1 << 16); std::vector<std::complex<float>> channels(1 << 16);",
    "PowerStream power(": "using namespace ridge::filterbank; Problem problem{.channels = 64, .taps = 4}; "
                          "ridge::Device device = accelerator(); std::vector<std::byte> bytes(1 << 16); std::vector<float> "
                          "sums(1 << 16); ridge::Queue queue = device.queue(); ridge::Buffer spectra = device.buffer(1 << 22), "
                          "visibilities = device.buffer(1 << 22);",
    "mpi::filterbank::Plan bank(all": "auto all = ridge::mpi::Communicator::world(); std::vector<std::byte> bytes(1 << 16); "
                                      "std::vector<std::complex<float>> spectra(1 << 18);",
    "mat.data": "std::vector<unsigned char> pixels(108 * 192 * 3); struct { unsigned char* data; std::size_t step; } mat{pixels.data(), 192 * 3};"
                "ridge::image::Image second({.rows = 108, .columns = 192, .channels = 3});",
    "OperatorProblem problem{": "using namespace ridge::image; Image in({.rows = 30, .columns = 40, .channels = 3});",
    "Grid<float>::over(pixels": "std::vector<float> memory(1080 * 2048); float *pixels = memory.data(), *states = pixels; "
                                "std::ptrdiff_t pitch = 2048;",
    'variant = "chains"': "std::size_t count = 1; double n = 1;",
    "seconds_of(variants[i]": "ridge::planner::Problem problem{.workload = \"sum\", .key = \"sum\", .flops = 1, .bytes = 1}; "
                              "std::vector<ridge::planner::Candidate> candidates{{.variant = \"one\"}}; int variants[1] = {}, data = 0; "
                              "auto seconds_of = [](int, int) { return 1.0; };",
    "transpose::plan<": SPANS,
}
# Replaces sizes and devices that the test machine may not have.
SMALLER = (("8192", "256"), ("2048, 2048", "128, 128"), ("512, 512, 512", "16, 16, 16"), ("points = 1000, batch = 4096", "points = 100, batch = 40"),
           ("16384", "64"), ("1080", "108"), ("1920", "192"), ('ridge::device("cuda:0")', "accelerator()"))
NOT_RUN = ["machine::measure()"]  # takes minutes and has its own tests
PLUGIN = os.path.join(build, "libridge-place.so")
if not os.path.exists(PLUGIN):
    NOT_RUN.append("place::analyze(")
PRELUDE = "\n".join(f"#include <ridge/{name}>" for name in (
    "fft.hpp", "fft/columns.hpp", "fft/dealias.hpp", "fft/tensor.hpp", "fft/zoom.hpp", "fft/hybrid.hpp", "filterbank.hpp", "image.hpp", "machine.hpp", "nufft.hpp", "place.hpp", "plan.hpp", "sar.hpp", "sar/backprojection.hpp", "sar/omega_k.hpp", "search.hpp",
    "stencil.hpp", "transpose.hpp")) + "\n#include <complex>\n#include <iostream>\n#include <string>\n#include <vector>\n"
PRELUDE += """static ridge::Device accelerator() {
  for (const ridge::Device& device : ridge::devices().devices) if (!device.is_host()) return device;
  return ridge::host();
}
"""

pages = ["README.md"] + sorted(f"docs/{n}" for n in os.listdir(os.path.join(source, "docs")) if n.endswith(".md"))
pages += ["docs/lessons/README.md"]
# Pages for developers: their commands are checked too, their code is not compiled.
quoted = ["HACKING.md"] + sorted(f"docs/{folder}/{n}" for folder in ("design", "measurements")
                                 for n in os.listdir(os.path.join(source, "docs", folder)) if n.endswith(".md"))
texts = {page: open(os.path.join(source, page), encoding="utf-8").read() for page in pages}
faults, notes, count = [], [], {"python": 0, "cpp": 0, "command": 0}


def run_python():
    package = os.path.join(build, "python", "ridge")
    if not os.path.isdir(package) or not any(n.startswith("_ridge.") for n in os.listdir(package)):
        notes.append("the Python package is not built: Python blocks were not run")
        return
    for page, text in texts.items():
        blocks = [body for language, body in BLOCK.findall(text) if language == "python"]
        if not blocks:
            continue
        with tempfile.TemporaryDirectory() as work:
            done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=work, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=250,
                                  env={**os.environ, "PYTHONPATH": os.path.join(build, "python")})
        if done.returncode != 0:
            if "No module named" in done.stdout:
                notes.append(f"{page}: {done.stdout.strip().splitlines()[-1]}")
                continue
            faults.append(f"{page}: its Python fails:\n{done.stdout}")
        count["python"] += len(blocks)


def compile_cpp():
    """One unit for all of them: the headers are what takes time."""
    includes, functions, calls = set(), [], []
    for page, text in texts.items():
        for match in BLOCK.finditer(text):
            if match.group(1) != "cpp" or "…" in match.group(2):
                continue
            line = text[:match.start()].count("\n") + 2
            body = match.group(2)
            includes |= set(re.findall(r"^#include .*$", body, re.M))
            body = re.sub(r"^#include .*$", "", body, flags=re.M)
            context = " ".join(declared for needle, declared in CONTEXT.items() if needle in body)
            head = f'#line {line} "{page}"\n'
            name = f"block{len(functions)}"
            for large, small in SMALLER if slow else ():
                body = body.replace(large, small)
            program = "int main(" in body
            if re.search(r"^(?:[\w:]+[ *&]+)+\w+\([^;]*\) \{$", body, re.M):
                functions.append(f"namespace {name} {{\n{head}{body}\n}}\n")
            else:
                functions.append(f"[[maybe_unused]] static void {name}() {{\n{context}\n{head}{body}\n}}\n")
            if (program or f"void {name}()" in functions[-1]) and not any(words in body for words in NOT_RUN):
                calls.append(f'std::cerr << "{page}:{line}\\n"; {name + "::program" if program else name}();')
            count["cpp"] += 1
    with tempfile.TemporaryDirectory() as work:
        unit = os.path.join(work, "blocks.cpp")
        text = PRELUDE + "\n".join(sorted(includes)) + "\n" + "".join(functions).replace("int main(", "int program(")
        with open(unit, "w", encoding="utf-8") as f:
            f.write(text + "int main() {\n" + "\n".join(calls) + "\n}\n")
        libraries = link_flags() if slow else None
        how = ["-o", os.path.join(work, "blocks")] if libraries else ["-fsyntax-only"]
        done = subprocess.run([compiler, "-std=c++20", "-w", *flags, "-I", os.path.join(source, "include"), unit, *how, *(libraries or [])],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=build)
        if done.returncode != 0:
            errors = [line for line in done.stdout.splitlines() if "error:" in line] or done.stdout.splitlines()
            faults.append("C++ blocks do not compile (CONTEXT in blocks_test.py declares what they take for granted):\n"
                          + "\n".join(errors[:20]))
        elif libraries:
            with open(os.path.join(work, "blur.cpp"), "w", encoding="utf-8") as f:
                f.write("void blur(float* a, const float* b, int n) {\n  for (int i = 1; i < n - 1; ++i) a[i] = b[i - 1] + b[i + 1];\n}\n")
            os.symlink(PLUGIN, os.path.join(work, os.path.basename(PLUGIN)))  # ridge searches for it beside the program
            ran = subprocess.run([os.path.join(work, "blocks")], cwd=work, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 timeout=500)
            if ran.returncode != 0:
                faults.append(f"a C++ block fails, the last of these:\n{ran.stderr}")
            notes.append(f"{len(calls)} C++ blocks run")


def link_flags():
    """Linker flags of the command `ridge`; None if Ninja is not the build tool."""
    told = subprocess.run(["ninja", "-C", build, "-t", "commands", "ridge"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    links = [line for line in told.stdout.splitlines() if " -o ridge " in line]
    if not links:
        notes.append("no command of Ninja's links ridge: C++ blocks were not run")
        return None
    words = shlex.split(links[-1].split(" -o ridge ")[1].split("&&")[0])
    return [word for word in words if not word.endswith(".o")]


helps = {}


def help_of(words):
    if words not in helps:
        done = subprocess.run([os.path.join(build, "ridge"), *words, "--help"], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=60, env={**os.environ, "RIDGE_BACKENDS": "host"})
        helps[words] = done.stdout if done.returncode == 0 else None
    return helps[words]


def check_commands():
    names = re.findall(r"^  ([a-z-]+) ", help_of(()).split("Options:")[-1].split("First steps:")[0], re.M)
    for page, text in [*texts.items(), *((page, open(os.path.join(source, page), encoding="utf-8").read()) for page in quoted)]:
        pieces = [body for language, body in BLOCK.findall(text) if language in ("sh", "")]
        pieces += re.findall(r"^    (\S.*)$", BLOCK.sub("", text), re.M)
        for line in "\n".join(pieces).splitlines():
            for found in re.finditer(r"(?:^|[\s/(|])ridge ((?:(?!\s\s|\s#|\s\|\s|[)`]|$).)+)", line):
                try:
                    words = shlex.split(found.group(1).replace("[", " ").replace("]", " "), comments=True)
                except ValueError:
                    continue
                if not words or words[0] not in names:
                    continue
                path = (words[0],)
                if len(words) > 1 and re.fullmatch(r"[a-z][a-z-]*", words[1]) and f"\n  {words[1]} " in help_of(path):
                    path += (words[1],)
                shown = help_of(path)
                if shown is None:
                    faults.append(f"{page}: there is no command ridge {' '.join(path)}")
                    continue
                count["command"] += 1
                words = words[:words.index("--")] if "--" in words else words
                for word in words:
                    option = word.split("=")[0]
                    if re.fullmatch(r"--[a-z][a-z-]*", option) and option not in ("--help", "--trace") and not re.search(
                            rf"{option}\b(?!-)", shown) and not re.search(rf"{option}\b(?!-)", help_of(path[:1])):
                        faults.append(f"{page}: ridge {' '.join(path)} has no {option}: {line.strip()}")


run_python()
compile_cpp()
if os.path.exists(os.path.join(build, "ridge")):
    check_commands()
if count["cpp"] < 10:
    faults.append(f"only {count['cpp']} C++ blocks found: is this the source tree?")
print("\n".join(faults + notes) or "ok")
print(f"{count['python']} Python blocks run, {count['cpp']} C++ blocks compiled, {count['command']} commands checked")
sys.exit(bool(faults))
