// The last pass of a real line of n pairs, n = n1 n2: row k1 of the transform of pairs holds its values k1 + n1 k2, and
// value k needs value n - k, which is in row n1 - k1 at n2 - 1 - k2. A work-item that does butterfly i of the row and
// butterfly butterflies - 1 - i of its mirror has both in registers. Row 0 mirrors itself otherwise and is left out.
#include "codegen/literal.hpp"
#include "codegen/text.hpp"
#include "fft/device/pass/writers.hpp"

#include <utility>

#include <fmt/format.h>

#include "fft/roots.hpp"

namespace ridge::fft::on_device {

namespace {

std::string mirrored_row(const PassDesign& d, const char* line, bool mirror) {
  const std::string number = fmt::format("{} % {}u", line, d.counts.front());
  return mirror ? fmt::format("{}u - {}", d.mirrored - 1, number) : fmt::format("1u + {}", number);
}

void store_spectrum(PassWriters& pass) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  const StageDesign& last = context.stages.back();
  const bool two = context.two_orders();
  const char *line = two ? "line_out" : "line", *here = two ? "here_out" : "here", *row = two ? "row_out" : "row";
  const std::uint64_t order = d.twiddle->order;  // of the samples
  const AnyRoots<double> roots(2 * last.radix);
  const std::string half = codegen::literal(0.5, d.float64);
  text.raw("\n");
  text.line("// from the spectrum of pairs to that of the samples");
  if (!context.before_store.empty()) text.line("{}", context.before_store);
  text.open();
  for (const bool mirror : {false, true}) {
    text.line("GLOBAL real2* to_{};", mirror ? "mirror" : "row");
    if (d.store.factor != FactorKind::none) {
      text.line("GLOBAL const {}* {}_factors;", d.store.factor == FactorKind::real ? "real" : "real2",
                mirror ? "mirror" : "row");
    }
    text.open();
    text.line("const uint {} = {};", row, mirrored_row(d, line, mirror));
    text.line("to_{} = out + (out_offset + {});", mirror ? "mirror" : "row", context.line_offset(line, d.store.at));
    if (d.store.factor != FactorKind::none) {
      text.line("{}_factors = store_factor + ({});", mirror ? "mirror" : "row",
                context.line_offset(line, d.store.factor_at));
    }
    text.close();
  }
  text.line("const uint row = {};", mirrored_row(d, line, false));
  const auto store_at = [&](const char* which, const char* value, const std::string& index, std::uint64_t constant) {
    text.open();
    text.line("GLOBAL real2* const to = to_{};", which);
    if (d.store.factor != FactorKind::none) {
      text.line("GLOBAL const {}* const store_factors = {}_factors;",
                d.store.factor == FactorKind::real ? "real" : "real2", which);
    }
    pass.store.store_point(value, index, constant);
    text.close();
  };
  for (std::size_t round = 0; round < last.rounds; ++round) {
    context.open_round(last, round, here);
    const char* type = order > (std::uint64_t{1} << 32) ? "ulong" : "uint";
    text.line("const {0} exponent = row + ({0})i * {1}u;", type, d.mirrored);
    text.line("const real2 w = {};", pass.twiddle.table_product("exponent"));
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::size_t mirror = last.radix - 1 - u;
      const auto turn = roots.at(u);
      text.open();
      text.line("const real2 a = first[{}], b = conjugate(v[{}]);", round * last.radix + u,
                round * last.radix + mirror);
      text.line("const real2 even = scaled(add(a, b), {0}), difference = scaled(subtract(a, b), {0});", half);
      const std::string root =
          u == 0 ? std::string("w")
                 : fmt::format("multiply(w, make_real2({}, {}))", codegen::literal(turn.real(), d.float64),
                               codegen::literal(turn.imag(), d.float64));
      text.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), {});", root);
      store_at("row", "add(even, odd)", "i", u * last.butterflies);
      // The middle row is its own mirror, and each of its values has a work-item that stores it.
      text.open("if (2 * row != {}u)", d.mirrored);
      store_at("mirror", "conjugate(subtract(even, odd))", fmt::format("({} - i)", last.butterflies - 1),
               mirror * last.butterflies);
      text.close();
      text.close();
    }
    context.close_round();
  }
  text.close();
}

}  // namespace

void write_mirrored_rows(PassWriters& pass) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  const StageDesign& last = context.stages.back();
  text.line("real2 first[{}];", last.radix * last.rounds);
  const std::string all_loaded = std::exchange(context.all_loaded, {});
  for (const bool mirror : {false, true}) {
    context.mirror = mirror;
    if (mirror) context.all_loaded = all_loaded;
    text.raw("\n");
    text.line("// {}", mirror ? "its mirror" : "a row");
    text.open();
    text.line("const uint row = {};", mirrored_row(d, "line", mirror));
    pass.load.load();
    pass.exchange.stages();
    text.close();
    if (mirror) continue;
    for (std::size_t slot = 0; slot < last.radix * last.rounds; ++slot) text.line("first[{0}] = v[{0}];", slot);
  }
  context.mirror = false;
  store_spectrum(pass);
}

}  // namespace ridge::fft::on_device
