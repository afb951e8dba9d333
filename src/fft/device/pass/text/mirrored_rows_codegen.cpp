// Last pass of a real transform of n sample pairs, n = n1 n2. Row k1 of the transform of pairs holds values k1 + n1 k2.
// Value k needs value n - k, which is in row n1 - k1 at n2 - 1 - k2. A work-item that computes butterfly i of the row
// and butterfly butterflies - 1 - i of its mirror has both in registers. Row 0 is its own mirror: another step
// transforms it, or it forms one line with the middle row, whose values are exchanged through local memory.
#include "codegen/text.hpp"
#include "fft/device/pass/text/writers.hpp"

#include <utility>

#include <fmt/format.h>

#include "fft/roots.hpp"

namespace ridge::fft::on_device {

namespace {

std::string mirrored_row(const PassDesign& d, const char* line, bool mirror) {
  const std::string number = fmt::format("{} % {}u", line, d.counts.front());
  if (d.self_mirrored()) {
    return mirror ? fmt::format("{0} == 0 ? {1}u : {2}u - {0}", number, d.mirror_rows() / 2, d.mirror_rows()) : number;
  }
  return mirror ? fmt::format("{}u - {}", d.mirror_rows() - 1, number) : fmt::format("1u + {}", number);
}

// Values k and n - k of the samples' spectrum, from the transform of pairs.
void spectrum_values(PassWriters& pass, const std::string& a, const std::string& b, const std::string& root) {
  codegen::Text& text = pass.context.source;
  const std::string half = codegen::literal(0.5, pass.context.design.float64);
  text.line("const real2 a = {}, b = conjugate({});", a, b);
  text.line("const real2 even = scaled(add(a, b), {0}), difference = scaled(subtract(a, b), {0});", half);
  text.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), {});", root);
}

// Rows 0 and mirrored / 2, the first line of a chunk. Both are their own mirrors: their values are exchanged through
// local memory and stored from there after all work-items have written.
void exchange_self_mirrored(PassWriters& pass) {
  PassContext& context = pass.context;
  codegen::Text& text = context.source;
  const StageDesign& last = context.stages.back();
  text.open("if ({} == 0)", context.group);
  text.line("BARRIER();");
  for (std::size_t round = 0; round < last.rounds; ++round) {
    context.open_round(last, round, fmt::format("{} == 0", context.c(last)));
    for (std::size_t u = 0; u < last.radix; ++u) {
      text.line("local_points[i + {}] = first[{}];", u * last.butterflies, round * last.radix + u);
      text.line("local_points[{} - i] = v[{}];", context.design.length + (u + 1) * last.butterflies - 1,
                round * last.radix + u);
    }
    context.close_round();
  }
  text.close();
}

void store_self_mirrored(PassWriters& pass) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  const char* row = context.two_orders() ? "row_out" : "row";
  const char* type = d.twiddle->order > (std::uint64_t{1} << 32) ? "ulong" : "uint";
  text.open("if ({} == 0)", context.group);
  text.line("BARRIER();");
  for (const bool middle : {false, true}) {
    text.open();
    text.line("const uint {} = {};", row, middle ? d.mirror_rows() / 2 : 0);
    text.line("GLOBAL real2* const to = out + (out_offset + {});",
              context.line_offset(context.two_orders() ? "line_out" : "line", d.store.at));
    text.open("for (int k = item; k {} {}; k += {})", middle ? "<" : "<=", d.length / 2, d.items());
    text.line("const int other = {} - k;", middle ? d.length - 1 : d.length);
    text.line("const {0} exponent = {1}u + ({0})k * {2}u;", type, middle ? d.mirror_rows() / 2 : 0, d.mirror_rows());
    text.line("const real2 w = {};", pass.twiddle.table_product("exponent"));
    const std::size_t start = middle ? d.length : 0;
    spectrum_values(
        pass, fmt::format("local_points[{} + k]", start),
        middle ? fmt::format("local_points[{} + other]", start) : fmt::format("local_points[other % {}]", d.length),
        "w");
    pass.store.store_point("add(even, odd)", "k", 0);
    pass.store.store_point("conjugate(subtract(even, odd))", "other", 0);
    text.close();
    text.close();
  }
  text.close();
}

void store_spectrum(PassWriters& pass) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  const StageDesign& last = context.stages.back();
  const bool two = context.two_orders();
  const char *line = two ? "line_out" : "line", *in_range = two ? "in_range_out" : "in_range",
             *row = two ? "row_out" : "row";
  const std::uint64_t order = d.twiddle->order;  // number of samples
  const AnyRoots<double> roots(2 * last.radix);
  text.raw("\n");
  text.line("// from the spectrum of pairs to that of the samples");
  if (!context.before_store.empty()) text.line("{}", context.before_store);
  if (d.self_mirrored()) exchange_self_mirrored(pass);
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
    context.open_round(last, round, d.self_mirrored() ? fmt::format("{} && row != 0", in_range) : in_range);
    const char* type = order > (std::uint64_t{1} << 32) ? "ulong" : "uint";
    text.line("const {0} exponent = row + ({0})i * {1}u;", type, d.mirror_rows());
    text.line("const real2 w = {};", pass.twiddle.table_product("exponent"));
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::size_t mirror = last.radix - 1 - u;
      const auto rotation = roots.at(u);
      text.open();
      const std::string root =
          u == 0 ? std::string("w")
                 : fmt::format("multiply(w, make_real2({}, {}))", codegen::literal(rotation.real(), d.float64),
                               codegen::literal(rotation.imag(), d.float64));
      spectrum_values(pass, fmt::format("first[{}]", round * last.radix + u),
                      fmt::format("v[{}]", round * last.radix + mirror), root);
      store_at("row", "add(even, odd)", "i", u * last.butterflies);
      // The middle row is its own mirror; every value of it has one work-item that stores it.
      d.self_mirrored() ? text.open() : text.open("if (2 * row != {}u)", d.mirror_rows());
      store_at("mirror", "conjugate(subtract(even, odd))", fmt::format("({} - i)", last.butterflies - 1),
               mirror * last.butterflies);
      text.close();
      text.close();
    }
    context.close_round();
  }
  text.close();
  if (d.self_mirrored()) store_self_mirrored(pass);
}

}  // namespace

void write_mirrored_rows(PassWriters& pass) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  const StageDesign& last = context.stages.back();
  text.line("real2 first[{}];", last.radix * last.rounds);
  const std::string after_group_load = std::exchange(context.after_group_load, {});
  for (const bool mirror : {false, true}) {
    context.mirror = mirror;
    if (mirror) context.after_group_load = after_group_load;
    text.raw("\n");
    text.line("// {}", mirror ? "its mirror" : "a row");
    text.open();
    text.line("const uint row = {};", mirrored_row(d, "line", mirror));
    pass.load.load();
    if (mirror && !context.after_item_load.empty()) text.line("{}", context.after_item_load);
    if (!mirror && !context.after_item_load.empty())
      text.line("BARRIER();");  // other work-items may still store the previous tile
    pass.exchange.stages();
    text.close();
    if (mirror) continue;
    for (std::size_t slot = 0; slot < last.radix * last.rounds; ++slot) text.line("first[{0}] = v[{0}];", slot);
  }
  context.mirror = false;
  store_spectrum(pass);
}

}  // namespace ridge::fft::on_device
