// Rows of a real array after its columns were transformed as pairs of neighbouring reals. Row r and its mirror, row
// folded - r, together hold the spectra of both columns of each pair. A work-item computes the points of row r; those
// of the mirror are their conjugates in reverse order.
#include "codegen/text.hpp"
#include "fft/device/pass/text/writers.hpp"

#include <fmt/format.h>

namespace ridge::fft::on_device {

std::string PassContext::folded_row(bool of_mirror) const {
  const std::string number = design.counts.size() > 1 ? fmt::format("line % {}u", design.counts.front()) : "line";
  if (design.self_mirrored() && of_mirror) {
    return fmt::format("{0} == 0 ? {1}u : {2}u - {0}", number, design.mirror_rows() / 2, design.mirror_rows());
  }
  return of_mirror ? fmt::format("({0}u - {1}) % {0}u", design.mirror_rows(), number) : number;
}

void LoadWriter::folded_pointers() {
  for (const bool mirror : {false, true}) {
    const char* name = mirror ? "from_mirror" : "from";
    text_.line("GLOBAL const {}* {};", p_.in_type(), name);
    text_.line("{{ const uint row = {}; {} = in + (in_offset + {}); }}", p_.folded_row(mirror), name,
               p_.line_offset("line", d_.load.at));
  }
}

// Local memory layout: the rows of a tile, then their mirrors, in the order of the array.
void LoadWriter::copied_rows() {
  const std::size_t row = row_points(d_);
  const std::string rows = fmt::format("copied + c * {}", row);
  const std::string mirrors = fmt::format("copied + ({} - c * {})", (2 * d_.lines - 1) * row + kMirrorsApart, row);
  text_.line("LOCAL const real2* const from = {};", p_.mirror ? mirrors : rows);
  if (d_.folded()) text_.line("LOCAL const real2* const from_mirror = {};", mirrors);
}

// Odd lanes load points of the mirror.
std::string LoadWriter::partition_row() {
  return fmt::format("(i % 2 == 0 ? {} : {}) * {}u + i / 2", p_.folded_row(false), "(" + p_.folded_row(true) + ")",
                     d_.load.at.line.front());
}

void LoadWriter::load_folded(std::size_t slot, const std::string& place) {
  const auto at = [&](const char* from, const std::string& index) {
    return loaded(
        fmt::format("{} + ({})", from, p_.scaled_index("(" + index + ")", 0, d_.load.at.point, 2 * d_.points)), true);
  };
  const std::size_t half = d_.points / 2;
  text_.open();
  text_.line("const int p = {};", place);
  if (p_.inverse()) {
    // Points that are their own mirror are averaged: for a real array both values are equal.
    text_.open("if (p % {} == 0)", half);
    text_.line("const real2 a = {}, b = {};", at("from", "p"), at("from_mirror", "p"));
    text_.line("v[{0}] = exchanged(scaled(add(a, conjugate(b)), {1}));", slot, codegen::literal(0.5, d_.float64));
    text_.close();
    text_.open("else");
    text_.line("const real2 a = p < {} ? {} : conjugate({});", half, at("from", "p"),
               at("from_mirror", fmt::format("{} - p", d_.points)));
    text_.line("v[{}] = exchanged(a);", slot);
    text_.close();
  } else if (d_.fold_lanes()) {
    text_.line("v[{}] = {};", slot, at("(p % 2 == 0 ? from : from_mirror)", "p / 2"));
  } else {
    text_.line("const real2 a = {}, b = {};", at("from", "p / 2"), at("from_mirror", "p / 2"));
    text_.line(
        "v[{0}] = scaled(p % 2 == 0 ? make_real2(a.x + b.x, a.y - b.y) : make_real2(a.y + b.y, b.x - a.x), {1});", slot,
        codegen::literal(0.5, d_.float64));
  }
  text_.close();
}

// Executed by all lanes, also those without a valid line, because it shuffles.
void LoadWriter::exchange_folded() {
  text_.line("const int odd = item % 2;");
  if (d_.self_mirrored()) text_.line("const int own_mirrors = {} == 0;", p_.folded_row(false));
  for (std::size_t slot = 0; slot < stages_.front().radix * stages_.front().rounds; ++slot) {
    text_.open();
    text_.line("const real2 own = v[{}];", slot);
    text_.line("const real x = SHUFFLE_XOR(own.x, 1), y = SHUFFLE_XOR(own.y, 1);");
    text_.line("v[{}] = scaled(odd ? make_real2(own.y + y, own.x - x) : make_real2(own.x + x, own.y - y), {});", slot,
               codegen::literal(0.5, d_.float64));
    // Both rows are transforms of reals, so they run as the real and imaginary parts of one line.
    if (d_.self_mirrored()) {
      text_.line("if (own_mirrors) v[{}] = odd ? make_real2(y, own.y) : make_real2(own.x, x);", slot);
    }
    text_.close();
  }
}

bool fold_lanes_serve(const PassDesign& design, std::size_t lanes) {
  return design.folded() && design.direction == Direction::forward && lanes > 1 && design.items() % lanes == 0 &&
         design.threads % 2 == 0 && stages_of(design).front().butterflies % 2 == 0;
}

void StoreWriter::folded_pointers() {
  for (const bool mirror : {false, true}) {
    text_.line("GLOBAL {}* {};", p_.out_type(), mirror ? "to_mirror" : "to_row");
    text_.line("{{ const uint row = {}; {} = out + (out_offset + {}); }}", p_.folded_row(mirror),
               mirror ? "to_mirror" : "to_row", p_.line_offset("line", d_.store.at));
  }
  text_.line("const int two_rows = {};", d_.self_mirrored() ? "1" : "to_mirror != to_row");
}

void StoreWriter::store_in_row(const char* row, const std::string& value, const std::string& index) {
  text_.open();
  text_.line("GLOBAL {}* const to = {};", p_.out_type(), row);
  store_point(value, index, 0);
  text_.close();
}

// Rows 0 and folded / 2 of a plane, which form its first line: their values are exchanged in local memory and
// separated.
void StoreWriter::store_self_mirrored(const StageDesign& last) {
  const std::size_t n = d_.points;
  text_.open("if ({} == 0)", p_.group);
  text_.line("BARRIER();");
  for (std::size_t round = 0; round < last.rounds; ++round) {
    p_.open_round(last, round, fmt::format("{} == 0", p_.c(last)));
    for (std::size_t u = 0; u < last.radix; ++u) {
      text_.line("local_points[i + {}] = v[{}];", u * last.butterflies, round * last.radix + u);
    }
    p_.close_round();
  }
  text_.line("BARRIER();");
  text_.line("GLOBAL {0}* const to_first = out + out_offset, * const to_middle = to_first + {1}ul;", p_.out_type(),
             d_.mirror_rows() / 2 * d_.store.at.line.front());
  text_.open("for (int k = item; k <= {}; k += {})", n / 2, d_.items());
  text_.line("const real2 a = local_points[k], b = local_points[({0} - k) % {0}];", n);
  const std::string half = codegen::literal(0.5, d_.float64);
  store_in_row("to_first", fmt::format("scaled(make_real2(a.x + b.x, a.y - b.y), {})", half), "k");
  store_in_row("to_middle", fmt::format("scaled(make_real2(a.y + b.y, b.x - a.x), {})", half), "k");
  text_.close();
  text_.close();
}

// Stores half of the spectrum of row r and of its mirror.
void StoreWriter::store_folded_spectrum(const StageDesign& last) {
  const std::size_t n = d_.points, half = n / 2;
  text_.raw("\n");
  text_.line("// half a spectrum to each row");
  if (!p_.before_store.empty()) text_.line("{}", p_.before_store);
  if (d_.self_mirrored()) store_self_mirrored(last);
  text_.open();
  folded_pointers();
  for (std::size_t round = 0; round < last.rounds; ++round) {
    p_.open_round(last, round,
                  d_.self_mirrored() ? fmt::format("in_range && {} != 0", p_.folded_row(false)) : "in_range");
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::size_t low = u * last.butterflies, high = low + last.butterflies - 1;
      const std::string value = fmt::format("v[{}]", round * last.radix + u);
      text_.open();
      text_.line("const int k = i + {};", low);
      if (low <= half) {
        if (high > half) text_.open("if (k <= {})", half);
        store_in_row("to_row", value, "k");
        if (high > half) text_.close();
      }
      if (low == 0 || high >= half) {
        text_.open("if (two_rows{})", low == 0     ? fmt::format(" && (k == 0 || k >= {})", half)
                                      : low < half ? fmt::format(" && k >= {}", half)
                                                   : "");
        store_in_row("to_mirror", fmt::format("conjugate({})", value),
                     low == 0 ? fmt::format("(({0} - k) % {0})", n) : fmt::format("({} - k)", n));
        text_.close();
      }
      text_.close();
    }
    p_.close_round();
  }
  text_.close();
}

// Stores pairs of neighbouring points of each row, collected in local memory.
void StoreWriter::store_folded_pairs(const StageDesign& last) {
  const std::size_t half = d_.points / 2, pitch = p_.half_pitch(), iterations = (half + d_.threads - 1) / d_.threads;
  text_.raw("\n");
  text_.line("// pairs of points to each row");
  if (!p_.before_store.empty()) text_.line("{}", p_.before_store);
  p_.local_free();
  for (std::size_t round = 0; round < last.rounds; ++round) {
    p_.open_round(last, round);
    for (std::size_t u = 0; u < last.radix; ++u) {
      text_.line("local_points[{} * {} + i + {}] = exchanged(v[{}]);", p_.c(last), pitch, u * last.butterflies,
                 round * last.radix + u);
    }
    p_.close_round();
  }
  text_.line("BARRIER();");
  text_.open("if (in_range)");
  folded_pointers();
  text_.line("UNROLL");
  text_.open("for (int iteration = 0; iteration < {}; ++iteration)", iterations);
  text_.line("const int k = {} + iteration * {};", p_.t(last), d_.threads);
  text_.open("if (k < {})", half);
  text_.line("const real2 even = local_points[{0} * {1} + 2 * k], odd = local_points[{0} * {1} + 2 * k + 1];",
             p_.c(last), pitch);
  store_in_row("to_row", "make_real2(even.x - odd.y, even.y + odd.x)", "k");
  text_.open("if (two_rows)");
  store_in_row("to_mirror", "make_real2(even.x + odd.y, odd.x - even.y)", "k");
  text_.close();
  text_.close();
  text_.close();
  text_.close();
}

}  // namespace ridge::fft::on_device
