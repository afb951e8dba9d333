// The last pass of a real line of n pairs, n = n1 n2: row k1 of the transform of pairs holds its values k1 + n1 k2, and
// value k needs value n - k, which is in row n1 - k1 at n2 - 1 - k2. A work-item that does butterfly i of the row and
// butterfly butterflies - 1 - i of its mirror has both in registers. Row 0 mirrors itself otherwise and is left out.
#include "fft/device/pass_writer.hpp"

#include <fmt/format.h>

#include "fft/device/butterfly.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::on_device {

std::string PassWriter::mirrored_row(const char* line, bool mirror) const {
  const std::string number = fmt::format("{} % {}u", line, d_.counts.front());
  return mirror ? fmt::format("{}u - {}", d_.mirrored - 1, number) : fmt::format("1u + {}", number);
}

void PassWriter::row_and_mirror() {
  const StageDesign& last = stages_.back();
  text_.line("real2 first[{}];", last.radix * last.rounds);
  for (const bool mirror : {false, true}) {
    mirror_ = mirror;
    text_.raw("\n");
    text_.line("// {}", mirror ? "its mirror" : "a row");
    text_.open();
    text_.line("const uint row = {};", mirrored_row("line", mirror));
    load();
    stages();
    text_.close();
    if (mirror) continue;
    for (std::size_t slot = 0; slot < last.radix * last.rounds; ++slot) text_.line("first[{0}] = v[{0}];", slot);
  }
  mirror_ = false;
  store_spectrum();
}

void PassWriter::store_spectrum() {
  const StageDesign& last = stages_.back();
  const bool two = two_orders();
  const char *line = two ? "line_out" : "line", *here = two ? "here_out" : "here", *row = two ? "row_out" : "row";
  const std::uint64_t order = d_.twiddle->order;  // of the samples
  const AnyRoots<double> roots(2 * last.radix);
  const std::string half = literal(0.5, d_.float64);
  text_.raw("\n");
  text_.line("// from the spectrum of pairs to that of the samples");
  text_.open();
  for (const bool mirror : {false, true}) {
    text_.line("GLOBAL real2* to_{};", mirror ? "mirror" : "row");
    if (d_.store.factor != FactorKind::none) {
      text_.line("GLOBAL const {}* {}_factors;", d_.store.factor == FactorKind::real ? "real" : "real2",
                 mirror ? "mirror" : "row");
    }
    text_.open();
    text_.line("const uint {} = {};", row, mirrored_row(line, mirror));
    text_.line("to_{} = out + (out_offset + {});", mirror ? "mirror" : "row", line_offset(line, d_.store.at));
    if (d_.store.factor != FactorKind::none) {
      text_.line("{}_factors = store_factor + ({});", mirror ? "mirror" : "row", line_offset(line, d_.store.factor_at));
    }
    text_.close();
  }
  text_.line("const uint row = {};", mirrored_row(line, false));
  const auto store_at = [&](const char* which, const char* value, const std::string& index, std::uint64_t constant) {
    text_.open();
    text_.line("GLOBAL real2* const to = to_{};", which);
    if (d_.store.factor != FactorKind::none) {
      text_.line("GLOBAL const {}* const store_factors = {}_factors;",
                 d_.store.factor == FactorKind::real ? "real" : "real2", which);
    }
    store_point(value, index, constant);
    text_.close();
  };
  for (std::size_t round = 0; round < last.rounds; ++round) {
    open_round(last, round, here);
    const char* type = order > (std::uint64_t{1} << 32) ? "ulong" : "uint";
    text_.line("const {0} exponent = row + ({0})i * {1}u;", type, d_.mirrored);
    text_.line("const real2 w = {};", table_product("exponent"));
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::size_t mirror = last.radix - 1 - u;
      const auto turn = roots.at(u);
      text_.open();
      text_.line("const real2 a = first[{}], b = conjugate(v[{}]);", round * last.radix + u,
                 round * last.radix + mirror);
      text_.line("const real2 even = scaled(add(a, b), {0}), difference = scaled(subtract(a, b), {0});", half);
      const std::string root = u == 0 ? std::string("w")
                                      : fmt::format("multiply(w, make_real2({}, {}))", literal(turn.real(), d_.float64),
                                                    literal(turn.imag(), d_.float64));
      text_.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), {});", root);
      store_at("row", "add(even, odd)", "i", u * last.butterflies);
      // The middle row is its own mirror, and each of its values has a work-item that stores it.
      text_.open("if (2 * row != {}u)", d_.mirrored);
      store_at("mirror", "conjugate(subtract(even, odd))", fmt::format("({} - i)", last.butterflies - 1),
               mirror * last.butterflies);
      text_.close();
      text_.close();
    }
    close_round();
  }
  text_.close();
}

}  // namespace ridge::fft::on_device
