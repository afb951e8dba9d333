// Generates butterflies of 8 to 64 points as one PTX statement.
#include "codegen/butterfly.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/unit_root.hpp"

namespace ridge::codegen {
namespace {

// A register or its negation: signs are propagated into sums and factors.
struct Number {
  std::string name;
  bool negative = false;
  Number operator-() const { return {name, !negative}; }
};

struct Point {
  Number re, im;
};

class Assembly {
 public:
  Assembly(std::size_t radix, bool float64) : radix_(radix), float64_(float64) {}

  std::string write() {
    std::vector<Point> points;
    for (std::size_t i = 0; i < radix_; ++i) {
      points.push_back({{fmt::format("%{}", 2 * i)}, {fmt::format("%{}", 2 * i + 1)}});
    }
    const std::vector<Point> values = transformed(points);
    for (std::size_t i = 0; i < radix_; ++i) {
      give(2 * i, values[i].re);
      give(2 * i + 1, values[i].im);
    }
    std::string operands;
    for (std::size_t i = 0; i < radix_; ++i) {
      operands += fmt::format("{0}\"+{1}\"(v[{2}].x), \"+{1}\"(v[{2}].y)", i == 0 ? "" : ", ", float64_ ? "d" : "f", i);
    }
    return fmt::format("asm(\"{{.reg .{} r<{}>; {}}}\" : {});", type(), used_, text_, operands);
  }

 private:
  const char* type() const { return float64_ ? "f64" : "f32"; }

  std::string constant(double value) const {
    if (float64_) return fmt::format("0d{:016x}", std::bit_cast<std::uint64_t>(value));
    return fmt::format("0f{:08x}", std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }

  Number result(const std::string& operation, bool negative = false) {
    const std::string name = fmt::format("r{}", used_++);
    const std::size_t blank = operation.find(' ');
    text_ += fmt::format("{}.{} {},{}; ", operation.substr(0, blank), type(), name, operation.substr(blank));
    return {name, negative};
  }

  Number sum(const Number& a, const Number& b) {
    if (a.negative == b.negative) return result(fmt::format("add.rn {}, {}", a.name, b.name), a.negative);
    if (a.negative) return result(fmt::format("sub.rn {}, {}", b.name, a.name));
    return result(fmt::format("sub.rn {}, {}", a.name, b.name));
  }
  Number difference(const Number& a, const Number& b) { return sum(a, -b); }

  Number times(const Number& a, double factor) {
    return result(fmt::format("mul.rn {}, {}", a.name, constant(factor)), a.negative);
  }
  // a factor + c
  Number fused(const Number& a, double factor, const Number& c) {
    const double of_a = a.negative == c.negative ? factor : -factor;
    return result(fmt::format("fma.rn {}, {}, {}", a.name, constant(of_a), c.name), c.negative);
  }

  void give(std::size_t operand, const Number& value) {
    text_ += fmt::format("{}.{} %{}, {}; ", value.negative ? "neg" : "mov", type(), operand, value.name);
  }

  // Times exp(-2 pi i e / r), with the cases of `rotated` in butterfly.cpp.
  Point rotated(const Point& c, std::size_t e, std::size_t r) {
    e %= r;
    if (e == 0) return c;
    if (4 * e == r) return {c.im, -c.re};
    if (2 * e == r) return {-c.re, -c.im};
    if (4 * e == 3 * r) return {-c.im, c.re};
    const double diagonal = std::sqrt(0.5);
    if (8 * e == r) return {times(sum(c.re, c.im), diagonal), times(difference(c.im, c.re), diagonal)};
    if (8 * e == 3 * r) return {times(difference(c.im, c.re), diagonal), times(-sum(c.re, c.im), diagonal)};
    const base::UnitRoot w = base::unit_root(e, r);
    return {fused(c.re, w.re, -times(c.im, w.im)), fused(c.re, w.im, times(c.im, w.re))};
  }

  std::vector<Point> transformed(const std::vector<Point>& v) {
    const std::size_t n = v.size();
    if (n == 2) {
      return {{sum(v[0].re, v[1].re), sum(v[0].im, v[1].im)},
              {difference(v[0].re, v[1].re), difference(v[0].im, v[1].im)}};
    }
    if (n == 4) {
      const std::vector<Point> even = transformed({v[0], v[2]}), odd = transformed({v[1], v[3]});
      const Point &a = even[0], &b = even[1], &c = odd[0], &d = odd[1];
      return {{sum(a.re, c.re), sum(a.im, c.im)},
              {sum(b.re, d.im), difference(b.im, d.re)},
              {difference(a.re, c.re), difference(a.im, c.im)},
              {difference(b.re, d.im), sum(b.im, d.re)}};
    }
    const std::size_t a = first_part(n), b = n / a;
    std::vector<Point> between(n), values(n);
    for (std::size_t j = 0; j < b; ++j) {
      std::vector<Point> column;
      for (std::size_t i = 0; i < a; ++i) column.push_back(v[j + b * i]);
      column = transformed(column);
      for (std::size_t k = 0; k < a; ++k) between[k * b + j] = rotated(column[k], j * k, n);
    }
    for (std::size_t k = 0; k < a; ++k) {
      const auto first = between.begin() + static_cast<std::ptrdiff_t>(k * b);
      const std::vector<Point> row = transformed({first, first + static_cast<std::ptrdiff_t>(b)});
      for (std::size_t l = 0; l < b; ++l) values[k + a * l] = row[l];
    }
    return values;
  }

  std::size_t radix_;
  bool float64_;
  std::size_t used_ = 0;
  std::string text_ = {};
};

}  // namespace

bool has_assembly(std::size_t radix) { return std::has_single_bit(radix) && radix >= 8 && radix <= 64; }

std::string butterfly_assembly(std::size_t radix, bool float64) { return Assembly(radix, float64).write(); }

}  // namespace ridge::codegen
