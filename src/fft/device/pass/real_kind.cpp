// DCT and DST types II and III use a real transform of the same length (even samples in order, odd samples reversed),
// type IV a complex one of half the length, type I a real one of the mirrored samples.
#include "fft/device/pass/real_kind.hpp"

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "fft/device/pass/text/context.hpp"

namespace ridge::fft::on_device {
namespace {

bool type2(RealKind kind) { return kind == RealKind::dct2 || kind == RealKind::dst2; }
bool type3(RealKind kind) { return kind == RealKind::dct3 || kind == RealKind::dst3; }
bool type4(RealKind kind) { return kind == RealKind::dct4 || kind == RealKind::dst4; }

// Chooses between the two positions of a sample in the order of types II and III if all `p` of a range have the same
// one.
enum class Where { front, back, either };
Where place_of(std::size_t n, std::uint64_t first, std::uint64_t last) {
  return 2 * last < n ? Where::front : 2 * first >= n ? Where::back : Where::either;
}

struct Functions {
  const PassDesign& design;
  RealKind kind;
  std::size_t n;
  codegen::Text text = {};

  std::string at(const PassSide& side, const std::string& index) const {
    return PassContext::scaled_index("(" + index + ")", 0, side.at.point, 2 * n);
  }
  std::string x(const std::string& index) const { return fmt::format("LOAD(from + {})", at(design.load, index)); }
  void put(const std::string& index, const std::string& value) {
    text.line("STORE(to + {}, {});", at(design.store, index), value);
  }

  void sample_at() {
    text.open("FUNCTION real sample_at(GLOBAL const real* from, int p, int where)");
    if (type2(kind)) {
      text.line("const int even = where == {} ? 2 * p < {} : where == {};", static_cast<int>(Where::either), n,
                static_cast<int>(Where::front));
      text.line("const real x = {};", x(fmt::format("even ? 2 * p : {} - 2 * p", 2 * n - 1)));
      text.line("return {};", is_sine(kind) ? "even ? x : -x" : "x");
    } else if (kind == RealKind::dct1) {
      text.line("return {};", x(fmt::format("p < {} ? p : {} - p", n, 2 * (n - 1))));
    } else if (kind == RealKind::dst1) {
      text.line("if (p == 0 || p == {}) return 0;", n + 1);
      text.line("return p <= {} ? {} : -{};", n, x("p - 1"), x(fmt::format("{} - p", 2 * n + 1)));
    } else {
      text.line("return {};", x("p"));
    }
    text.close();
  }

  void value_at() {
    text.open("FUNCTION real2 value_at(GLOBAL const real* from, GLOBAL const real2* roots, int k)");
    if (type3(kind)) {
      text.line("const real2 w = LOAD_CACHED(roots + k);");
      text.line("const real a = {};", x(is_sine(kind) ? fmt::format("{} - k", n - 1) : "k"));
      text.line("const real b = k == 0 ? (real)0 : {};", x(is_sine(kind) ? "k - 1" : fmt::format("{} - k", n)));
      text.line("return make_real2(FMA(w.x, a, -w.y * b), -FMA(w.y, a, w.x * b));");
    } else {
      text.line("return make_real2({}, k == 0 || 2 * k == {} ? (real)0 : {});", x("k"), n, x(fmt::format("{} - k", n)));
    }
    text.close();
  }

  void point_at() {
    text.open("FUNCTION real2 point_at(GLOBAL const real* from, GLOBAL const real2* roots, int i)");
    const std::string front = x("2 * i"), back = x(fmt::format("{} - 2 * i", n - 1));
    text.line("return multiply(make_real2({}, {}), LOAD_CACHED(roots + i));", is_sine(kind) ? back : front,
              is_sine(kind) ? front : back);
    text.close();
  }

  void put_value() {
    text.open("FUNCTION void put_value(GLOBAL real* to, GLOBAL const real2* roots, int k, real2 z)");
    const std::string inner = fmt::format("if (k > 0 && 2 * k != {})", n);
    const std::string mirror = fmt::format("{} - k", n);
    if (type2(kind)) {
      text.line("const real2 w = LOAD_CACHED(roots + k);");
      put(is_sine(kind) ? fmt::format("{} - k", n - 1) : "k", "2 * FMA(w.x, z.x, -w.y * z.y)");
      text.open("{}", inner);
      put(is_sine(kind) ? "k - 1" : mirror, "-2 * FMA(w.x, z.y, w.y * z.x)");
      text.close();
    } else if (type4(kind)) {
      text.line("z = multiply(z, LOAD_CACHED(roots + {} + k));", n / 2);
      put("2 * k", "2 * z.x");
      put(fmt::format("{} - 2 * k", n - 1), is_sine(kind) ? "2 * z.y" : "-2 * z.y");
    } else if (kind == RealKind::dct1) {
      put("k", "z.x");
    } else if (kind == RealKind::dst1) {
      text.open("if (k > 0 && k <= {})", n);
      put("k - 1", "-z.y");
      text.close();
    } else {
      const bool hartley = kind == RealKind::hartley;
      put("k", hartley ? "z.x - z.y" : "z.x");
      text.open("{}", inner);
      put(mirror, hartley ? "z.x + z.y" : "z.y");
      text.close();
    }
    text.close();
  }

  // Type II: the two values of a point and their positions. The root of the opposite point is this one's conjugate
  // times an eighth root of unity, so one table entry serves both; it is read before the exchange.
  void rotated_values() {
    text.line("FUNCTION real2 rotated(real2 w, real2 z) {{");
    text.line("  return make_real2(2 * FMA(w.x, z.x, -w.y * z.y), -2 * FMA(w.x, z.y, w.y * z.x));");
    text.line("}}");
    const std::string eighth = codegen::literal(0.70710678118654752440084436210484904, design.float64);
    text.line("FUNCTION real2 opposite(real2 w) {{ return make_real2((w.x - w.y) * {0}, -(w.x + w.y) * {0}); }}",
              eighth);
    const std::string first = is_sine(kind) ? fmt::format("{} - k", n - 1) : "k";
    const std::string second = is_sine(kind) ? "k - 1" : fmt::format("{} - k", n);
    const bool local = design.store.staged;
    text.open("FUNCTION void put_pair({} real* to, int k, real2 values)", local ? "LOCAL" : "GLOBAL");
    local ? text.line("to[{}] = values.x;", first) : put(first, "values.x");
    text.open("if (k > 0 && 2 * k != {})", n);
    local ? text.line("to[{}] = values.y;", second) : put(second, "values.y");
    text.close();
    text.close();
  }

  void put_sample() {
    text.open("FUNCTION void put_sample(GLOBAL real* to, int p, real x)");
    if (type3(kind)) {
      text.line("const int even = 2 * p < {};", n);
      put(fmt::format("even ? 2 * p : {} - 2 * p", 2 * n - 1), is_sine(kind) ? "even ? x : -x" : "x");
    } else {
      put("p", "x");
    }
    text.close();
  }
};

}  // namespace

KindRoots real_kind_roots(RealKind kind, std::size_t n) {
  if (type4(kind)) return {8 * n, n, n / 2};
  if (type2(kind) || type3(kind)) return {4 * n, n / 2 + 1};
  return {};
}

bool real_kind_quads(const PassDesign& design, bool load) {
  const PassSide& side = load ? design.load : design.store;
  const RealKind kind = design.real_to_real()->kind;
  const bool serves =
      load ? type2(kind) && side.values == Values::pairs
           : (type3(kind) && side.values == Values::pairs) || (type2(kind) && side.values == Values::half);
  return serves && side.at.point == 1 && design.real_to_real()->points % 4 == 0 && design.load_order == Order::points &&
         design.store_order == Order::points;
}

bool real_kind_in_pairs(const PassDesign& design) {
  return design.real_to_real() && type2(design.real_to_real()->kind) && design.store.values == Values::half;
}

std::size_t real_kind_pitch(const PassDesign& design) {
  return design.real_to_real()->points + (design.threads + 3) / 4 * 4;
}

std::string real_kind_functions(const PassDesign& design) {
  Functions functions{design, design.real_to_real()->kind, design.real_to_real()->points};
  if (type4(functions.kind)) {
    functions.point_at();
    functions.put_value();
  } else if (design.direction == Direction::forward) {
    functions.sample_at();
    real_kind_in_pairs(design) ? functions.rotated_values() : functions.put_value();
  } else {
    functions.value_at();
    functions.put_sample();
  }
  return functions.text.str();
}

std::string real_kind_fetched(const PassDesign& design, std::size_t table, const std::string& index,
                              std::uint64_t constant, std::size_t butterflies) {
  const std::string place = constant == 0 ? index : fmt::format("{} + {}", index, constant);
  const std::uint64_t last = constant + butterflies - 1;
  const std::size_t n = design.real_to_real()->points;
  switch (design.load.values) {
    case Values::reals:
      return fmt::format("make_real2(sample_at(from, {}, {}), 0)", place,
                         static_cast<int>(place_of(n, constant, last)));
    case Values::pairs:
      return fmt::format("make_real2(sample_at(from, 2 * ({0}), {1}), sample_at(from, 2 * ({0}) + 1, {2}))", place,
                         static_cast<int>(place_of(n, 2 * constant, 2 * last)),
                         static_cast<int>(place_of(n, 2 * constant + 1, 2 * last + 1)));
    default:
      return fmt::format("point_at(from, tables + {}, {})", table, place);
  }
}

std::string real_kind_stored(const PassDesign& design, std::size_t table, const std::string& value,
                             const std::string& place) {
  switch (design.store.values) {
    case Values::reals:
      return fmt::format("put_sample(to, {}, {}.x);", place, value);
    case Values::pairs:
      return fmt::format(
          "{{ const real2 z = {0}; put_sample(to, 2 * ({1}), z.x); put_sample(to, 2 * ({1}) + 1, z.y); }}", value,
          place);
    default:
      return fmt::format("put_value(to, tables + {}, {}, {});", table, place, value);
  }
}

}  // namespace ridge::fft::on_device
