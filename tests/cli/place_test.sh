#!/usr/bin/env bash
# `ridge place` as users run it: every option, and every kind of source that must be rejected without writing a file.
#   place_test.sh RIDGE
page=$(cd "$(dirname "$0")/../../docs" && pwd)/place.md
source "$(dirname "$0")/../support/prelude.sh"

mkdir include
cat >include/sizes.hpp <<'END'
#define FACTOR 2
END
cat >axpy.cpp <<'END'
void axpy(const float* x, float* y, float a, int n) {
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}
END
$ridge place axpy.cpp --verdicts >"$beside/first" 2>&1 || {
  grep -q "no placement compiler" "$beside/first" && echo "skipped: $(cat "$beside/first")" && exit 77
  fail "axpy: $(cat "$beside/first")"
}

# nothing_new COMMAND...: exit 0, and no file in the folder
nothing_new() {
  local before
  before=$(ls)
  "$@" >"$beside/out" 2>&1 || fail "$* ended with $?: $(cat "$beside/out")"
  [ "$before" = "$(ls)" ] || fail "$* has written something: $(ls)"
}

# --- printed output -----------------------------------------------------------------------------------------------------
nothing_new $ridge place axpy.cpp --verdicts
has "axpy.l1 line 2: for (int i = 0; i < n; ++i)" "$beside/out"
has "parallel; on the device, axis 0 of the grid" "$beside/out"
nothing_new $ridge place axpy.cpp --function axpy --json
python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert [l["id"] for l in report["loops"]] == ["l1"] and report["loops"][0]["parallel"], report["loops"]
assert report["loops"][0]["reads"] == ["x", "y"] and report["loops"][0]["writes"] == ["y"], report["loops"]
assert report["kernels"][0]["name"] == "axpy_l1" and "y[i]" in report["kernels"][0]["text"], report["kernels"]
' "$beside/out" || fail "--json"
nothing_new $ridge place axpy.cpp --function axpy --explain l1
has "on the device: axis 0 of the grid" "$beside/out"
has "groups of" "$beside/out"
mistake "l7" $ridge place axpy.cpp --function axpy --explain l7
mistake "no function nothing" $ridge place axpy.cpp --function nothing
mistake "no such file" $ridge place nowhere.cpp --function axpy
mistake "--emit" $ridge place axpy.cpp --function axpy --emit fortran
mistake "NAME=NUMBER" $ridge place axpy.cpp --function axpy --param n --emit openmp
mistake "NAME=NUMBER" $ridge place axpy.cpp --function axpy --param n=many --emit openmp
mistake "n is of type int, which holds -2147483648 to 2147483647" $ridge place axpy.cpp --function axpy --param n=4294967297 --emit openmp
$ridge place axpy.cpp --function axpy --verdicts --report page.html >/dev/null || fail "--report"
has "data-loop='l1'" page.html
has "<svg" page.html
rm page.html

# --- docs/place.md: its example gives the quoted output ----------------------------------------------------------------------
python3 - "$page" "$beside/lines" <<'END' || fail "docs/place.md"
import re, sys
page = open(sys.argv[1]).read()
open("heat.cpp", "w").write(re.search(r"^```cpp\n(.*?)^```$", page, re.M | re.S).group(1))
shown = re.search(r"^\$ ridge place heat.cpp.*?\n(.*?)^equal to", page, re.M | re.S).group(1)
open(sys.argv[2], "w").write(shown)
END
nothing_new $ridge place heat.cpp --function heat_by_swap --verdicts
while IFS= read -r line; do has "$line" "$beside/out"; done <"$beside/lines"
[ "$(wc -l <"$beside/lines")" -eq 8 ] || fail "docs/place.md: $(cat "$beside/lines")"

# --- tiles and the time limit --------------------------------------------------------------------------------------------
cat >window.cpp <<'END'
void window(const float* a, float* b, int h, int w) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      float sum = 0;
      for (int k = -1; k <= 1; ++k)
        for (int l = -1; l <= 1; ++l) sum += a[(y + k) * w + x + l];
      b[y * w + x] = sum;
    }
}
END
nothing_new $ridge place window.cpp --function window --json --tiles always
has "LOCAL_ARRAY(" "$beside/out"
nothing_new $ridge place window.cpp --function window --json --tiles never
grep -q "LOCAL_ARRAY(" "$beside/out" && fail "--tiles never has tiles"
nothing_new $ridge place window.cpp --function window --verdicts --seconds 30
mistake "--seconds" $ridge place window.cpp --function window --verdicts --seconds 0

# --- compiler flags: after --, and from compile_commands.json -------------------------------------------------------------
cat >scaled.cpp <<'END'
#include "sizes.hpp"
void scaled(float* a, int n) {
  for (int i = 0; i < n; ++i) a[SHIFT + i] *= FACTOR;
}
END
mistake "sizes.hpp" $ridge place scaled.cpp --function scaled
has "give compiler flags after --" "$beside/err"
mistake "SHIFT" $ridge place scaled.cpp --function scaled -- -Iinclude
nothing_new $ridge place scaled.cpp --function scaled --verdicts --param n=9 --param n=10 -- -Iinclude -DSHIFT=1
nothing_new $ridge place scaled.cpp --function scaled --verdicts -- -Iinclude -DSHIFT=1
has "parallel" "$beside/out"
cat >compile_commands.json <<END
[{"directory": "$folder", "file": "scaled.cpp", "command": "c++ -Iinclude -DSHIFT=1 -c scaled.cpp"}]
END
nothing_new $ridge place scaled.cpp --function scaled --verdicts -p .
has "parallel" "$beside/out"

# --- written files ----------------------------------------------------------------------------------------------------------
$ridge place axpy.cpp --function axpy --emit openmp --param n=5000 --elements 5000 --out threads.cpp >"$beside/out" 2>&1
code=$?
if grep -q "slower\|not faster" "$beside/out"; then
  [ $code -eq 0 ] && [ ! -e threads.cpp ] || fail "slower, but a file was written: $code $(ls)"
else
  has "equal to the original, bit for bit" "$beside/out"
  has "#pragma omp parallel for" threads.cpp
  c++ -std=c++20 -fopenmp -c -o threads.o threads.cpp || fail "threads.cpp does not compile"
  rm -f threads.o threads.cpp
fi
# 60 iterations take less time than starting threads.
cat >short.cpp <<'END'
void shorter(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] *= 0.5f;
}
END
OMP_NUM_THREADS=4 $ridge place short.cpp --function shorter --emit openmp >"$beside/out" 2>&1 || fail "short: $(cat "$beside/out")"
has "threads are not faster at generated sizes (--param sets real ones): the original loops run there" "$beside/out"
has "short_placed.cpp written" "$beside/out"
rm -f short_placed.cpp
[ -z "${RIDGE_SLOW-}" ] || cat >whole.cpp <<'END'
#include <cstdio>
void halve(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] *= 0.5f;
}
int main() {
  static float a[1000];
  for (int i = 0; i < 1000; ++i) a[i] = static_cast<float>(i);
  halve(a, 1000);
  std::printf("%g\n", a[999]);
}
END
if [ -n "${RIDGE_SLOW-}" ]; then  # place.page runs a program too
  $ridge place whole.cpp --function halve --emit openmp --run '{}' >"$beside/out" 2>&1 || fail "--run: $(cat "$beside/out")"
  has "same output" "$beside/out"
  has "whole_placed.cpp written: compile it with -fopenmp" "$beside/out"
  [ -e whole_placed.cpp ] || fail "no whole_placed.cpp"
  rm -f whole_placed.cpp
fi

# --- sources that must be rejected: the line, a reason, no file ---------------------------------------------------------------
cat >hostile.cpp <<'END'
void jumping(float* a, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] < 0) goto out;
    a[i] = 1;
  }
out:
  a[0] = 2;
}
extern "C" int setjmp(long* where);
long somewhere[64];
void leaping(float* a, int n) {
  if (setjmp(somewhere) != 0) return;
  for (int i = 0; i < n; ++i) a[i] = 1;
}
float deeper(float x, int n) { return n == 0 ? x : deeper(x * 0.5f, n - 1); }
void recursing(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = deeper(a[i], 3);
}
struct Shape {
  virtual float area(float x) const { return x; }
  virtual ~Shape();
};
void dispatching(const Shape& shape, float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = shape.area(a[i]);
}
void observed(volatile float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = 1;
}
void assembled(float* a, int n) {
  for (int i = 0; i < n; ++i) {
    asm volatile("" ::: "memory");
    a[i] = 1;
  }
}
#define EACH(i, n) for (int i = 0; i < n; ++i)
void hidden(float* a, int n) { EACH(i, n) a[i] = 1; }
union Bits {
  float real;
  int whole;
};
void overlaid(Bits* a, int n) {
  for (int i = 0; i < n; ++i) a[i].real = 1;
}
void called(float (*f)(float), float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = f(a[i]);
}
void wrapping(float* a, unsigned n) {
  for (unsigned i = 0; i < n; ++i) a[(i * 3000000000u) % 7u] = 1;
}
void overflowing(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i * 2147483647] = 1;
}
END
refused() {  # FUNCTION LINE WORDS
  nothing_new $ridge place hostile.cpp --function "$1" --emit openmp
  has "no loop can run on threads, no file is written" "$beside/out"
  grep -E "hostile.cpp:$2: |line $2: " "$beside/out" | grep -qF -- "$3" || fail "$1 does not say \"$3\" of line $2: $(cat "$beside/out")"
}
refused jumping 3 goto
refused leaping 11 setjmp
refused recursing 15 recursive
refused dispatching 24 virtual
refused observed 27 volatile
refused assembled 31 "inline assembly"
refused hidden 36 macro
refused overlaid 42 union
refused called 45 "through a pointer"
refused wrapping 48 wrap
mistake "no file is written" $ridge place hostile.cpp --function overflowing --emit openmp
has "line 51: a[i * 2147483647] leaves 32 bits" "$beside/out"
printf 'void f(float* a) {\n  for (int i = 0; i < ; ++i) a[i] = 1;\n}\n' >broken.cpp
mistake "broken.cpp:2:" $ridge place broken.cpp --function f --emit openmp
printf '#include "nowhere.hpp"\nvoid f() {}\n' >missing.cpp
mistake "nowhere.hpp" $ridge place missing.cpp --function f --emit openmp

# --- the user's decisions and claims -----------------------------------------------------------------------------------------
cat >two.cpp <<'END'
void two(const float* x, float* y, float* z, int n) {
  for (int i = 0; i < 8; ++i) y[i] = x[i];
  for (int i = 1; i < n; ++i) z[i] += z[i - 1];
  for (int i = 0; i < n; ++i) z[i] = x[i];
}
END
two="$ridge place two.cpp --function two --verdicts --emit openmp"
nothing_new $two --pin l3=host
has "not placed: pinned to the host" "$beside/out"
nothing_new $two
has "fewer than 64 iterations" "$beside/out"
nothing_new $two --force l1=device
! grep -q "fewer than 64" "$beside/out" || fail "--force: $(cat "$beside/out")"
mistake "l2 cannot be forced: line 3: flow dependence" $two --force l2=device
mistake "needs LOOP=host" $two --pin l3=device
mistake "there is no loop l9" $two --pin l9=host
mistake "need --function" $ridge place two.cpp --verdicts --pin l3=host
$two --write-plan plan.json >/dev/null || fail "--write-plan"
python3 - <<'END' || fail "plan.json: $(cat plan.json)"
import json
plan = json.load(open("plan.json"))
assert [l["on"] for l in plan["loops"]] == ["host", "host", "device"], plan
plan["loops"][0]["on"], plan["loops"][2]["on"] = "device", "host"
json.dump(plan, open("plan.json", "w"))
END
$two --plan plan.json --write-plan again.json >/dev/null || fail "--plan"
python3 -c 'import json; assert [l["on"] for l in json.load(open("again.json"))["loops"]] == ["device", "host", "host"]' ||
  fail "--plan: $(cat again.json)"
echo '{"loops": [{"id": "l1", "on": "moon"}]}' >wrong.json
mistake "wrong.json: needs" $two --plan wrong.json
cat >scatter.cpp <<'END'
#include <cstdio>
#include <cstdlib>
void scatter(const int* at, float* out, int n) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) out[at[i]] = 2 * out[at[i]] + i;
}
void other(float* out, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) out[i] = 0;
}
int main(int, char** words) {
  static int at[1000];
  static float out[1000];
  other(out, 1000);
  for (int i = 0; i < 1000; ++i) at[i] = i * 7 % std::atoi(words[1]);
  scatter(at, out, 1000);
  for (int i = 0; i < 1000; ++i) std::printf("%g\n", out[i]);
}
END
scatter="$ridge place scatter.cpp --function scatter --emit openmp"
mistake "if no number occurs twice" $scatter
mistake "another order" $scatter --run '{} 500' -- -fopenmp
$scatter --run '{} 1000' -- -fopenmp >"$beside/out" 2>&1 || fail "a true claim: $(cat "$beside/out")"
has "parallel by your claim" "$beside/out"
has "//ridge omp parallel for schedule(static)" scatter_placed.cpp
[ "$(grep -c "^#pragma omp parallel for" scatter_placed.cpp)" -eq 2 ] || fail "pragmas: $(grep pragma scatter_placed.cpp)"

# --- devices: the placed program compared with the original ------------------------------------------------------------------
if [ -n "${RIDGE_SLOW-}" ] && $ridge devices 2>/dev/null | grep -q "opencl:0"; then
  mistake "nowhere" $ridge place axpy.cpp --function axpy --device nowhere
  for emit in ridge opencl cuda; do
    out=axpy_$emit.cpp
    $ridge place axpy.cpp --function axpy --device opencl:0 --emit $emit --out $out >"$beside/out" 2>&1 ||
      fail "--emit $emit: $(cat "$beside/out")"
    has "$out written" "$beside/out"
    [ -s $out ] || fail "no $out"
  done
fi
finish
