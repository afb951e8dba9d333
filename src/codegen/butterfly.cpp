// Emits butterflies: 2 and 4 by hand, odd primes by sums and differences, products by Good-Thomas or with twiddles.
#include "codegen/butterfly.hpp"

#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/unit_root.hpp"
#include "codegen/text.hpp"
#include "device/kernel_text.hpp"

namespace ridge::codegen {

// For powers of two the larger part comes first, which needs fewer twiddles.
std::size_t first_part(std::size_t radix) {
  switch (radix) {
    case 8:
      return 2;
    case 16:
      return 4;
    case 32:
      return 8;
    case 64:
      return 8;
    default:
      break;
  }
  for (const std::size_t prime : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
    if (radix % prime != 0) continue;
    // All factors of one prime together, so that the parts are coprime and need no twiddles.
    std::size_t power = prime;
    while (radix % (power * prime) == 0) power *= prime;
    return power < radix ? power : prime;
  }
  return radix;
}

namespace {

bool is_leaf(std::size_t radix) { return radix <= 5 || first_part(radix) == radix; }

bool is_coprime(std::size_t radix) { return std::gcd(first_part(radix), radix / first_part(radix)) == 1; }

void collect(std::size_t radix, std::set<std::size_t>& all) {
  if (radix < 2 || !all.insert(radix).second || is_leaf(radix)) return;
  collect(first_part(radix), all);
  collect(radix / first_part(radix), all);
}

void emit_two(Text& text) {
  text.line("const real2 a = v[0], b = v[1];");
  text.line("v[0] = add(a, b);");
  text.line("v[1] = subtract(a, b);");
}

void emit_four(Text& text) {
  text.line("const real2 a = add(v[0], v[2]), b = subtract(v[0], v[2]);");
  text.line("const real2 c = add(v[1], v[3]), d = subtract(v[1], v[3]);");
  text.line("v[0] = add(a, c);");
  text.line("v[1] = make_real2(b.x + d.y, b.y - d.x);");
  text.line("v[2] = subtract(a, c);");
  text.line("v[3] = make_real2(b.x - d.y, b.y + d.x);");
}

// Odd primes: sums and differences of mirrored points, multiplied by cosines and sines.
void emit_odd(Text& text, std::size_t p, bool float64) {
  const std::size_t half = (p - 1) / 2;
  for (std::size_t j = 1; j <= half; ++j) {
    text.line("const real2 s{0} = add(v[{0}], v[{1}]), d{0} = subtract(v[{0}], v[{1}]);", j, p - j);
  }
  text.line("const real2 v0 = v[0];");
  std::string sum = "v0";
  for (std::size_t j = 1; j <= half; ++j) sum = fmt::format("add({}, s{})", sum, j);
  text.line("v[0] = {};", sum);
  // Sines are divided by the first one, which is multiplied in when both sums are combined.
  for (std::size_t k = 1; k <= half; ++k) {
    const double first = -base::unit_root(k, p).im;
    std::string cx = "v0.x", cy = "v0.y", sx = "d1.y", sy = "d1.x";
    for (std::size_t j = 1; j <= half; ++j) {
      const base::UnitRoot root = base::unit_root(j * k % p, p);
      const std::string c = literal(root.re, float64), s = literal(-root.im / first, float64);
      cx = fmt::format("FMA(s{}.x, {}, {})", j, c, cx);
      cy = fmt::format("FMA(s{}.y, {}, {})", j, c, cy);
      if (j == 1) continue;
      sx = fmt::format("FMA(d{}.y, {}, {})", j, s, sx);
      sy = fmt::format("FMA(d{}.x, {}, {})", j, s, sy);
    }
    const std::string plus = literal(first, float64), minus = literal(-first, float64);
    text.open();
    text.line("const real2 c = make_real2({}, {});", cx, cy);
    text.line("const real2 s = make_real2({}, {});", sx, sy);
    text.line("v[{}] = make_real2(FMA(s.x, {}, c.x), FMA(s.y, {}, c.y));", k, plus, minus);
    text.line("v[{}] = make_real2(FMA(s.x, {}, c.x), FMA(s.y, {}, c.y));", p - k, minus, plus);
    text.close();
  }
}

// c[k] times exp(-2 pi i e / r), trivial factors without a multiplication.
std::string rotated(const std::string& c, std::size_t e, std::size_t r, bool float64) {
  e %= r;
  if (e == 0) return c;
  if (4 * e == r) return fmt::format("make_real2({0}.y, -{0}.x)", c);
  if (2 * e == r) return fmt::format("make_real2(-{0}.x, -{0}.y)", c);
  if (4 * e == 3 * r) return fmt::format("make_real2(-{0}.y, {0}.x)", c);
  const std::string diagonal = literal(std::sqrt(0.5), float64);
  if (8 * e == r) return fmt::format("make_real2(({0}.x + {0}.y) * {1}, ({0}.y - {0}.x) * {1})", c, diagonal);
  if (8 * e == 3 * r) return fmt::format("make_real2(({0}.y - {0}.x) * {1}, -({0}.x + {0}.y) * {1})", c, diagonal);
  const base::UnitRoot w = base::unit_root(e, r);
  return fmt::format("multiply({}, make_real2({}, {}))", c, literal(w.re, float64), literal(w.im, float64));
}

// Index below a * b from its residues modulo coprime a and b.
std::size_t index_with_residues(std::size_t of_a, std::size_t a, std::size_t of_b, std::size_t b) {
  std::size_t k = of_a;
  while (k % b != of_b) k += a;
  return k;
}

// radix = a * b, coprime: orders points and values so that no twiddles are left (Good-Thomas).
void emit_coprime(Text& text, std::size_t radix) {
  const std::size_t a = first_part(radix), b = radix / a;
  text.line("real2 u[{}];", radix);
  for (std::size_t j = 0; j < b; ++j) {
    text.open();
    text.line("real2 c[{}];", a);
    for (std::size_t i = 0; i < a; ++i) text.line("c[{}] = v[{}];", i, (b * i + a * j) % radix);
    text.line("dft{}(c);", a);
    for (std::size_t k = 0; k < a; ++k) text.line("u[{}] = c[{}];", k * b + j, k);
    text.close();
  }
  for (std::size_t k = 0; k < a; ++k) {
    text.line("dft{}(u + {});", b, k * b);
    for (std::size_t l = 0; l < b; ++l) text.line("v[{}] = u[{}];", index_with_residues(k, a, l, b), k * b + l);
  }
}

// radix = a * b: b transforms of a points, twiddles, a transforms of b points.
void emit_composite(Text& text, std::size_t radix, bool float64) {
  const std::size_t a = first_part(radix), b = radix / a;
  text.line("real2 u[{}];", radix);
  for (std::size_t j = 0; j < b; ++j) {
    text.open();
    text.line("real2 c[{}];", a);
    for (std::size_t i = 0; i < a; ++i) text.line("c[{}] = v[{}];", i, j + b * i);
    text.line("dft{}(c);", a);
    for (std::size_t k = 0; k < a; ++k) {
      text.line("u[{}] = {};", k * b + j, rotated(fmt::format("c[{}]", k), j * k, radix, float64));
    }
    text.close();
  }
  for (std::size_t k = 0; k < a; ++k) {
    text.line("dft{}(u + {});", b, k * b);
    for (std::size_t l = 0; l < b; ++l) text.line("v[{}] = u[{}];", k + a * l, k * b + l);
  }
}

// Multiplies a point by exp(-2 pi i e / r) as a factor times a pair of sums.
struct RootInSum {
  double factor;
  std::string re, im;
};
RootInSum root_in_sum(const std::string& z, std::size_t e, std::size_t r, bool float64) {
  const base::UnitRoot w = base::unit_root(e, r);
  const auto sum = [&](double ratio, const char* times, const char* plus, const char* minus) {
    if (std::abs(std::abs(ratio) - 1) < 1e-9) {
      return fmt::format("({}{}.{} {} {}.{})", minus, z, plus, ratio > 0 ? '+' : '-', z, times);
    }
    return fmt::format("FMA({}, {}.{}, {}{}.{})", literal(ratio, float64), z, times, minus, z, plus);
  };
  if (std::abs(w.re) >= std::abs(w.im) - 1e-9) {
    const double tangent = w.im / w.re;
    return {w.re, sum(-tangent, "y", "x", ""), sum(tangent, "x", "y", "")};
  }
  const double cotangent = -w.re / w.im;
  return {-w.im, sum(cotangent, "x", "y", ""), sum(cotangent, "y", "x", "-")};
}

// 16 points: four radix-4 butterflies, twiddles, four radix-4 butterflies. Pairs of points in the second set share a
// factor up to its sign.
void emit_sixteen(Text& text, bool float64) {
  text.line("real2 u[16];");
  for (std::size_t j = 0; j < 4; ++j) {
    text.open();
    text.line("real2 c[4];");
    for (std::size_t i = 0; i < 4; ++i) text.line("c[{}] = v[{}];", i, j + 4 * i);
    text.line("dft4(c);");
    for (std::size_t k = 0; k < 4; ++k) text.line("u[{}] = c[{}];", k * 4 + j, k);
    text.close();
  }
  text.line("dft4(u);");
  for (std::size_t l = 0; l < 4; ++l) text.line("v[{}] = u[{}];", 4 * l, l);
  for (std::size_t k = 1; k < 4; ++k) {
    const auto point = [&](std::size_t j) { return fmt::format("u[{}]", 4 * k + j); };
    text.open();
    text.line("const real2 a = {};", point(0));
    if (k == 2) {
      text.line("const real2 s = make_real2(a.x + {0}.y, a.y - {0}.x), t = make_real2(a.x - {0}.y, a.y + {0}.x);",
                point(2));
    } else {
      const RootInSum c = root_in_sum(point(2), 2 * k, 16, float64);
      text.line("const real2 c = make_real2({}, {});", c.re, c.im);
      text.line("const real2 s = make_real2(FMA({0}, c.x, a.x), FMA({0}, c.y, a.y));", literal(c.factor, float64));
      text.line("const real2 t = make_real2(FMA({0}, c.x, a.x), FMA({0}, c.y, a.y));", literal(-c.factor, float64));
    }
    const RootInSum b = root_in_sum(point(1), k, 16, float64), d = root_in_sum(point(3), 3 * k, 16, float64);
    text.line("const real2 b = make_real2({}, {});", b.re, b.im);
    text.line("const real2 d = make_real2({}, {});", d.re, d.im);
    const bool same = b.factor * d.factor > 0;
    text.line("const real2 p = {}(b, d), m = {}(b, d);", same ? "add" : "subtract", same ? "subtract" : "add");
    const std::string plus = literal(b.factor, float64), minus = literal(-b.factor, float64);
    text.line("v[{0}] = make_real2(FMA({1}, p.x, s.x), FMA({1}, p.y, s.y));", k, plus);
    text.line("v[{0}] = make_real2(FMA({1}, m.y, t.x), FMA({2}, m.x, t.y));", k + 4, plus, minus);
    text.line("v[{0}] = make_real2(FMA({1}, p.x, s.x), FMA({1}, p.y, s.y));", k + 8, minus);
    text.line("v[{0}] = make_real2(FMA({1}, m.y, t.x), FMA({2}, m.x, t.y));", k + 12, minus, plus);
    text.close();
  }
}

// 32 points: two butterflies of 16, then pairs.
void emit_thirty_two(Text& text, bool float64) {
  text.line("real2 e[16], o[16];");
  for (std::size_t i = 0; i < 16; ++i) text.line("e[{0}] = v[{1}], o[{0}] = v[{2}];", i, 2 * i, 2 * i + 1);
  text.line("dft16(e);");
  text.line("dft16(o);");
  for (std::size_t k = 0; k < 16; ++k) {
    const RootInSum root = root_in_sum(fmt::format("o[{}]", k), k, 32, float64);
    text.open();
    if (k % 8 == 0) {
      text.line("const real2 a = e[{0}], b = {1};", k, rotated(fmt::format("o[{}]", k), k, 32, float64));
      text.line("v[{}] = add(a, b);", k);
      text.line("v[{}] = subtract(a, b);", k + 16);
    } else {
      text.line("const real2 a = e[{}], b = make_real2({}, {});", k, root.re, root.im);
      for (const double sign : {1.0, -1.0}) {
        text.line("v[{0}] = make_real2(FMA({1}, b.x, a.x), FMA({1}, b.y, a.y));", sign > 0 ? k : k + 16,
                  literal(sign * root.factor, float64));
      }
    }
    text.close();
  }
}

void emit_butterfly(Text& text, std::size_t radix, bool float64, Roots roots) {
  text.open("FUNCTION void dft{}(real2* v)", radix);
  const bool assembly = roots == Roots::apart_assembled && has_assembly(radix);
  if (assembly) {
    text.raw("#ifdef TAKES_PTX\n");
    text.raw(butterfly_assembly(radix, float64) + "\n");
    text.raw("#else\n");
  }
  if (roots == Roots::in_sums && radix == 16) {
    emit_sixteen(text, float64);
  } else if (roots == Roots::in_sums && radix == 32) {
    emit_thirty_two(text, float64);
  } else if (radix == 2) {
    emit_two(text);
  } else if (radix == 4) {
    emit_four(text);
  } else if (is_leaf(radix)) {
    emit_odd(text, radix, float64);
  } else if (is_coprime(radix)) {
    emit_coprime(text, radix);
  } else {
    emit_composite(text, radix, float64);
  }
  if (assembly) text.raw("#endif\n");
  text.close();
}

// Generated once per process: 32 points take a tenth of a millisecond, and a plan uses them four times.
std::string kept_butterfly(std::size_t radix, bool float64, Roots roots) {
  static std::mutex mutex;
  static std::map<std::tuple<std::size_t, bool, Roots>, std::string> known;
  const std::lock_guard lock(mutex);
  std::string& text = known[{radix, float64, roots}];
  if (text.empty()) {
    Text writer;
    emit_butterfly(writer, radix, float64, roots);
    text = writer.str();
  }
  return text;
}

}  // namespace

std::string butterfly_text(const std::set<std::size_t>& radices, bool float64, Roots roots) {
  std::set<std::size_t> all;
  for (const std::size_t radix : radices) collect(radix, all);
  if (roots == Roots::in_sums && all.contains(32)) collect(16, all);
  Text text;
  const char* real = float64 ? "double" : "float";
  text.line("typedef {} real;", real);
  text.line("typedef {}2 real2;", real);
  text.line("#define make_real2(x, y) make_{}2(x, y)", real);
  text.raw(ridge::detail::kernel_text("codegen/arithmetic"));
  for (const std::size_t radix : all) {  // ascending, so that parts precede their users
    text.raw("\n");
    text.raw(kept_butterfly(radix, float64, roots));
  }
  return text.str();
}

double butterfly_operations(std::size_t radix) {
  if (radix < 2) return 0;
  if (radix == 2) return 4;
  if (radix == 4) return 16;
  if (is_leaf(radix)) {
    const double half = static_cast<double>(radix - 1) / 2;
    return 4 * half + 2 * half + 2 * half * half + half * (2 * (half - 1) + 4);
  }
  const std::size_t a = first_part(radix), b = radix / a;
  double sum = static_cast<double>(b) * butterfly_operations(a) + static_cast<double>(a) * butterfly_operations(b);
  if (is_coprime(radix)) return sum;
  for (std::size_t j = 1; j < b; ++j) {
    for (std::size_t k = 1; k < a; ++k) sum += 4 * j * k % radix == 0 ? 0 : 4;
  }
  return sum;
}

}  // namespace ridge::codegen
