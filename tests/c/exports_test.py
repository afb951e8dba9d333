"""Compares the symbols that libridge_c.so exports with the functions of include/ridge.h, and calls every one through ctypes."""
import ctypes as c
import re
import resource
import shutil
import subprocess
import sys

header, library = open(sys.argv[1], encoding="ascii").read(), sys.argv[2]
declared = sorted(set(re.findall(r"\b(ridge_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.S))))
listed = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], capture_output=True, text=True, check=True)
exported = sorted(line.split()[2] for line in listed.stdout.splitlines() if line.split()[1] != "A")
wanted = [f"{name}@@RIDGE_1" for name in declared]
assert exported == wanted, f"exported but not declared: {set(exported) - set(wanted)}; declared but not exported: {set(wanted) - set(exported)}"

if shutil.which("cc"):  # the header is C, without a compiler's extensions
    for standard in ("c89", "c11", "c++98", "c++20"):
        subprocess.run(["cc", f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x",
                        "c++" if "+" in standard else "c", sys.argv[1]], check=True)

ridge = c.CDLL(library)
ridge.ridge_version.restype = ridge.ridge_last_error.restype = c.c_char_p
assert ridge.ridge_abi() == int(re.search(r"#define RIDGE_ABI (\d+)", header).group(1))
assert re.fullmatch(rb"\d+\.\d+\.\d+", ridge.ridge_version())


class Dimension(c.Structure):
    _fields_ = [("length", c.c_int64), ("input", c.c_int64), ("output", c.c_int64)]


class Fft(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("kind", c.c_int), ("precision", c.c_int), ("axes", c.c_size_t), ("loops", c.c_size_t),
                ("axis", c.POINTER(Dimension)), ("loop", c.POINTER(Dimension)), ("real_kind", c.POINTER(c.c_int)), ("scale", c.c_double),
                ("in_place", c.c_int), ("measured", c.c_int), ("threads", c.c_size_t)]


class Transpose(c.Structure):
    _fields_ = [(name, c.c_size_t) for name in ("struct_size", "rows", "columns", "batch", "element_bytes", "input_row", "output_row",
                                                "threads")] + [("measured", c.c_int)]


class Convolution(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("precision", c.c_int), ("complex_values", c.c_int), ("filter_size", c.c_size_t),
                ("filter", c.c_void_p), ("threads", c.c_size_t)]


def doubles(*values):
    return (c.c_double * len(values))(*values)


def text_of(function, *arguments):
    size = c.c_size_t(0)
    assert function(*arguments, None, c.byref(size)) == 0
    text = c.create_string_buffer(size.value)
    assert function(*arguments, text, c.byref(size)) == 0 and len(text.value) == size.value - 1
    assert function(*arguments, text, c.byref(c.c_size_t(size.value - 1))) == 1, "a buffer without room for the last zero"
    assert function(*arguments, text, c.byref(c.c_size_t(1))) == 1 and b"bytes" in ridge.ridge_last_error()
    return text.value


plan, adjoint = c.c_void_p(), c.c_void_p()
axis = Dimension(3, 1, 1)
problem = Fft(c.sizeof(Fft), 2, 1, 1, 0, c.pointer(axis))
assert ridge.ridge_fft_plan_create(b"host", c.byref(problem), c.byref(plan)) == 0, ridge.ridge_last_error()
out, back = doubles(*[0] * 4), doubles(*[0] * 3)
assert ridge.ridge_fft_run(plan, doubles(1, 2, 4), out) == 0
assert [round(v, 9) for v in out] == [7, 0, -2, round(3 ** 0.5, 9)], list(out)
assert ridge.ridge_fft_adjoint(plan, c.byref(adjoint)) == 0
g = doubles(1, 5, 2, -3)
assert ridge.ridge_fft_run(adjoint, g, back) == 0
assert abs(sum(a * b for a, b in zip(out, g)) - sum(a * b for a, b in zip((1, 2, 4), back))) < 1e-12
assert text_of(ridge.ridge_fft_explain, plan)
ridge.ridge_fft_plan_free(plan), ridge.ridge_fft_plan_free(adjoint), ridge.ridge_fft_plan_free(None)

for change, status, word in (({"kind": 9}, 1, b"kind"), ({"precision": 4}, 1, b"precision"), ({"struct_size": 3}, 1, b"struct_size"),
                             ({"axes": 1000}, 1, b"64"), ({"kind": 4}, 1, b"real_kind")):
    wrong = Fft.from_buffer_copy(problem)
    for name, value in change.items():
        setattr(wrong, name, value)
    plan.value = 1
    assert ridge.ridge_fft_plan_create(b"host", c.byref(wrong), c.byref(plan)) == status, change
    assert plan.value is None and word in ridge.ridge_last_error(), ridge.ridge_last_error()
for kind in (-1, 0, 10, 11):
    kinds = (c.c_int * 1)(kind)
    real = Fft(c.sizeof(Fft), 4, 1, 1, 0, c.pointer(axis), None, kinds)
    assert ridge.ridge_fft_plan_create(b"host", c.byref(real), c.byref(plan)) == (0 if kind in (0, 10) else 1), kind
    if kind in (0, 10):
        ridge.ridge_fft_plan_free(plan)
    else:
        assert f"real_kind must be 0 to 10, got {kind}".encode() in ridge.ridge_last_error(), ridge.ridge_last_error()
for scale, in_place in ((0, 0), (0.5, 0), (-3, 1)):
    scaled = Fft(c.sizeof(Fft), 0, 1, 1, 0, c.pointer(axis), scale=scale, in_place=in_place)
    assert ridge.ridge_fft_plan_create(b"host", c.byref(scaled), c.byref(plan)) == 0, ridge.ridge_last_error()
    one, out = doubles(0, 2, 0, 0, 0, 0), doubles(*[7] * 6)
    assert ridge.ridge_fft_run(plan, one, one if in_place else out) == 0, ridge.ridge_last_error()
    assert list(one if in_place else out) == [0, 2 * (scale or 1)] * 3, (scale, list(one), list(out))
    ridge.ridge_fft_plan_free(plan)
# Three lines of 8 reals, whose spectra of 5 values overlap the next line: a plan in place reads it first.
line, lines, values = Dimension(8, 1, 1), Dimension(3, 8, 5), [float(i * i % 11) for i in range(24)]
made = []
for in_place in (0, 1):
    real = Fft(c.sizeof(Fft), 2, 1, 1, 1, c.pointer(line), c.pointer(lines), in_place=in_place)
    assert ridge.ridge_fft_plan_create(b"host", c.byref(real), c.byref(plan)) == 0, ridge.ridge_last_error()
    one, out = doubles(*values, *[0] * 6), doubles(*[0] * 30)
    assert ridge.ridge_fft_run(plan, one, one if in_place else out) == 0, ridge.ridge_last_error()
    made.append(list(one if in_place else out))
    ridge.ridge_fft_plan_free(plan)
assert made[0][0] == sum(values[:8]) and max(abs(x - y) for x, y in zip(*made)) < 1e-12, made
# Without memory for its tables a plan is refused as such.
with open("/proc/self/statm", encoding="ascii") as sizes:
    size = int(sizes.read().split()[0]) * resource.getpagesize()
limits = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (size + (64 << 20), limits[1]))
long = Dimension(1 << 24, 1, 1)
large = Fft(c.sizeof(Fft), 0, 1, 1, 0, c.pointer(long))
status = ridge.ridge_fft_plan_create(b"host", c.byref(large), c.byref(plan))
resource.setrlimit(resource.RLIMIT_AS, limits)
assert status == 2, (status, ridge.ridge_last_error())
empty = Dimension(0, 1, 1)
wrong = Fft(c.sizeof(Fft), 0, 1, 1, 0, c.pointer(empty))
assert ridge.ridge_fft_plan_create(b"host", c.byref(wrong), c.byref(plan)) == 1 and b"length 0" in ridge.ridge_last_error()
assert ridge.ridge_fft_plan_create(b"no such", c.byref(problem), c.byref(plan)) == 3
assert ridge.ridge_fft_plan_create(b"host", None, c.byref(plan)) == 1 and ridge.ridge_fft_run(None, None, None) == 1
short = Fft(Fft.scale.offset, 0, 1, 1, 0, c.pointer(axis))  # an older caller: later members count as zero
short.scale, short.threads = 77.0, 1 << 60
assert ridge.ridge_fft_plan_create(b"host", c.byref(short), c.byref(plan)) == 0, ridge.ridge_last_error()
out = doubles(*[0] * 6)
assert ridge.ridge_fft_run(plan, doubles(1, 0, 0, 0, 0, 0), out) == 0 and list(out) == [1, 0] * 3
ridge.ridge_fft_plan_free(plan)

turn = Transpose(c.sizeof(Transpose), 2, 3, 0, 8)
assert ridge.ridge_transpose_plan_create(b"host", c.byref(turn), c.byref(plan)) == 0, ridge.ridge_last_error()
out, back = doubles(*[0] * 6), doubles(*[0] * 6)
size = c.c_size_t(48)
assert ridge.ridge_transpose_run(plan, doubles(1, 2, 3, 4, 5, 6), size, out, size) == 0 and list(out) == [1, 4, 2, 5, 3, 6]
assert ridge.ridge_transpose_adjoint(plan, c.byref(adjoint)) == 0
assert ridge.ridge_transpose_run(adjoint, out, size, back, size) == 0 and list(back) == [1, 2, 3, 4, 5, 6]
for arrays in ((None, out), (out, None)):
    assert ridge.ridge_transpose_run(plan, arrays[0], size, arrays[1], size) == 1 and b"is NULL" in ridge.ridge_last_error()
assert ridge.ridge_transpose_run(plan, out, c.c_size_t(8), back, size) == 1 and text_of(ridge.ridge_transpose_explain, plan)
ridge.ridge_transpose_plan_free(plan), ridge.ridge_transpose_plan_free(adjoint)

weights = doubles(1, 2)
smooth = Convolution(c.sizeof(Convolution), 1, 0, 2, c.addressof(weights))
assert ridge.ridge_convolution_plan_create(b"host", c.byref(smooth), c.byref(plan)) == 0, ridge.ridge_last_error()
out, back = doubles(0, 0, 0, 0), doubles(0, 0, 0)
assert ridge.ridge_convolution_run(plan, doubles(1, 0, 3), c.c_size_t(3), out, c.c_size_t(4)) == 0
assert [round(v, 9) + 0 for v in out] == [1, 2, 3, 6], list(out)
assert ridge.ridge_convolution_adjoint(plan, c.byref(adjoint)) == 0
assert ridge.ridge_convolution_run(adjoint, doubles(1, 1, 0, 1), c.c_size_t(4), back, c.c_size_t(3)) == 0
assert [round(v, 9) + 0 for v in back] == [3, 1, 2], list(back)
for arrays in ((None, out), (out, None)):
    assert ridge.ridge_convolution_run(plan, arrays[0], c.c_size_t(3), arrays[1], c.c_size_t(4)) == 1
    assert b"is NULL" in ridge.ridge_last_error(), ridge.ridge_last_error()
for count in (2**64 - 1, 2**63, 2**61):  # sums with the filter's size overflow
    assert ridge.ridge_convolution_run(plan, out, c.c_size_t(count), back, c.c_size_t(3)) == 1, count
assert text_of(ridge.ridge_convolution_explain, plan)
ridge.ridge_convolution_plan_free(plan), ridge.ridge_convolution_plan_free(adjoint)
assert b"host\n" in text_of(ridge.ridge_devices)
assert ridge.ridge_improve(3) == 1 and b"0 to 2, got 3" in ridge.ridge_last_error() and ridge.ridge_improve(0) == 0
assert ridge.ridge_hold() == 0 and ridge.ridge_release() == 0 and ridge.ridge_release() == 1
assert ridge.ridge_trace_stop() == 0 and ridge.ridge_trace_start(None) == 1
print(f"{len(exported)} functions")
