#include "fft/device/pass_writer.hpp"

#include <fmt/format.h>

#include "fft/device/butterfly.hpp"

namespace ridge::fft::on_device {

std::string PassWriter::natural(const std::string& value, const std::string& place) const {
  if (d_.method == PrimeMethod::none) return inverse() ? fmt::format("exchanged({})", value) : value;
  const std::string back = chirped(fmt::format("exchanged({})", value), place);
  return inverse() ? fmt::format("exchanged({})", back) : back;
}

std::string PassWriter::store_factored(const std::string& value, const std::string& index, std::uint64_t constant) {
  if (d_.store.factor == FactorKind::none) {
    return d_.scale == 1 ? value : fmt::format("scaled({}, {})", value, literal(d_.scale, d_.float64));
  }
  const std::string at = scaled_index(index, constant, d_.store.factor_at.point, 2 * d_.points);
  if (d_.store.factor == FactorKind::complex) return fmt::format("multiply({}, store_factors[{}])", value, at);
  if (d_.store.values == Values::pairs) {
    return fmt::format("times_pair({0}, store_factors[2 * ({1})], store_factors[2 * ({1}) + {2}])", value, at,
                       d_.store.factor_pair);
  }
  return fmt::format("scaled({}, store_factors[{}])", value, at);
}

std::string PassWriter::store_index(const std::string& index, std::uint64_t constant) const {
  const PassSide& side = d_.store;
  if (side.block == 0) return scaled_index(index, constant, side.at.point, 2 * d_.points);
  std::string place = index;
  std::uint64_t whole = constant / side.block * side.block_step;
  if (constant % side.block != 0) {
    place = fmt::format("({} + {})", index, constant);
    whole = 0;
  }
  std::string text =
      fmt::format("(ulong)({0} / {1}) * {2}ul + {0} % {1} * {3}", place, side.block, side.block_step, side.at.point);
  if (whole > 0) text += fmt::format(" + {}ul", whole);
  return text;
}

void PassWriter::store_point(const std::string& value, const std::string& index, std::uint64_t constant) {
  const std::string at = store_index(index, constant);
  const std::string last = store_factored(value, index, constant);
  switch (d_.store.values) {
    case Values::reals:
      text_.line("STORE(to + ({}), {}.x);", at, last);
      return;
    case Values::pairs:
      if (even_lines(d_.store)) {
        text_.line("STORE(to + ({}), {});", at, last);
      } else {
        text_.line("{{ const real2 z = {}; STORE(to + 2 * ({}), z.x); STORE(to + 2 * ({}) + {}, z.y); }}", last, at, at,
                   d_.store.pair);
      }
      return;
    default:
      text_.line("STORE(to + ({}), {});", at, last);
  }
}

void PassWriter::store_pointers(const char* line) {
  const bool halved = d_.store.values == Values::pairs && even_lines(d_.store);
  text_.line("GLOBAL {}* const to = out + (out_offset + {}){};", out_type(), line_offset(line, d_.store.at),
             halved ? " / 2" : "");
  if (d_.store.valid > 0 && !d_.store.valid_at.line.empty()) {
    text_.line("const ulong store_number = {};", line_offset(line, d_.store.valid_at));
  }
  store_factors(line);
}

void PassWriter::store_factors(const char* line) {
  if (d_.store.factor == FactorKind::none) return;
  text_.line("GLOBAL const {}* const store_factors = store_factor + ({});",
             d_.store.factor == FactorKind::real ? "real" : "real2", table_offset(line, d_.store.factor_at));
}

void PassWriter::store() {
  const StageDesign& last = stages_.back();
  const char* line = two_orders() ? "line_out" : "line";
  const char* here = two_orders() ? "here_out" : "here";
  if (d_.twiddle) twiddle(last);
  if (d_.store.mapped) return store_tile(last);
  if (d_.store.values == Values::half) return store_half(last);
  if (d_.store.staged || d_.method == PrimeMethod::rader) return stage_out(last, line);
  text_.raw("\n");
  text_.line("// store");
  if (!hooks_.before_store.empty()) text_.line("{}", hooks_.before_store);
  text_.open();
  store_pointers(line);
  for (std::size_t round = 0; round < last.rounds; ++round) {
    open_round(last, round, here);
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::uint64_t constant = u * last.butterflies;
      const Validity validity = validity_of(d_.store, constant, last.butterflies);
      if (validity == Validity::none) continue;
      const bool check = validity == Validity::some;
      if (check) text_.open("if ({})", valid_text(d_.store, "store", constant));
      const std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
      store_point(natural(fmt::format("v[{}]", round * last.radix + u), place), "i", constant);
      if (check) text_.close();
    }
    close_round();
  }
  text_.close();
}

void PassWriter::store_half(const StageDesign& last) {
  const std::size_t n = d_.length, pitch = half_pitch(), pairs = n / 2 + 1;
  text_.raw("\n");
  text_.line("// from the spectrum of pairs to that of the samples");
  local_free();
  for (std::size_t round = 0; round < last.rounds; ++round) {
    open_round(last, round);
    for (std::size_t u = 0; u < last.radix; ++u) {
      text_.line("local_points[{} * {} + i + {}] = v[{}];", c(last), pitch, u * last.butterflies,
                 round * last.radix + u);
    }
    close_round();
  }
  text_.line("BARRIER();");
  const std::size_t turns = (pairs + d_.threads - 1) / d_.threads;
  const char* line = two_orders() ? "line_out" : "line";
  const char* here = two_orders() ? "here_out" : "here";
  const bool staged = d_.store.staged;
  if (staged) {
    text_.open();
  } else {
    text_.open("if ({})", here);
  }
  staged ? store_factors(line) : store_pointers(line);
  text_.line("UNROLL");
  text_.open("for (int turn = 0; turn < {}; ++turn)", turns);
  text_.line("const int k = {} + turn * {};", t(last), d_.threads);
  text_.open("if (k < {})", pairs);
  text_.line("const int mirror = {} - k;", n);
  text_.line("const real2 a = local_points[{} * {} + k];", c(last), pitch);
  text_.line("const real2 b = conjugate(local_points[{} * {} + (k == 0 ? 0 : mirror)]);", c(last), pitch);
  const std::string half = literal(0.5, d_.float64);
  text_.line("const real2 even = scaled(add(a, b), {});", half);
  text_.line("const real2 difference = scaled(subtract(a, b), {});", half);
  text_.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), LOAD_CACHED(tables + {} + k));",
             tables_.half);
  if (staged) {  // both places are this work-item's own, and the last one was nobody's
    text_.line("local_points[{} * {} + k] = {};", c(last), pitch, store_factored("add(even, odd)", "k", 0));
    text_.line("local_points[{} * {} + mirror] = {};", c(last), pitch,
               store_factored("conjugate(subtract(even, odd))", "mirror", 0));
  } else {
    store_point("add(even, odd)", "k", 0);
    store_point("conjugate(subtract(even, odd))", "mirror", 0);
  }
  text_.close();
  text_.close();
  text_.close();
  if (staged) run_out(n + 1, pitch);
}

}  // namespace ridge::fft::on_device
