// Writes stores of points: twiddles between passes, half spectra, conversions, boxes and tiles.
#include "fft/device/pass/text/store_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "fft/device/pass/partition_blocks.hpp"
#include "fft/device/pass/real_kind.hpp"
#include "fft/device/pass/text/writers.hpp"

namespace ridge::fft::on_device {

std::string StoreWriter::natural(const std::string& value, const std::string& place) const {
  if (!d_.convolution()) return p_.inverse() ? fmt::format("exchanged({})", value) : value;
  const std::string back = p_.chirped(fmt::format("exchanged({})", value), place);
  return p_.inverse() ? fmt::format("exchanged({})", back) : back;
}

std::string StoreWriter::store_factored(const std::string& value, const std::string& index, std::uint64_t constant) {
  if (d_.store.factor == FactorKind::none) {
    return d_.scale == 1 ? value : fmt::format("scaled({}, {})", value, codegen::literal(d_.scale, d_.float64));
  }
  const std::string at = p_.scaled_index(index, constant, d_.store.factor_at.point, 2 * d_.points);
  if (d_.store.factor == FactorKind::complex) return fmt::format("multiply({}, store_factors[{}])", value, at);
  if (d_.store.values == Values::pairs) {
    return fmt::format("times_pair({0}, store_factors[2 * ({1})], store_factors[2 * ({1}) + {2}])", value, at,
                       d_.store.factor_pair);
  }
  return fmt::format("scaled({}, store_factors[{}])", value, at);
}

std::string StoreWriter::store_index(const std::string& index, std::uint64_t constant) const {
  const PassSide& side = d_.store;
  if (side.block == 0) return p_.scaled_index(index, constant, side.at.point, 2 * d_.points);
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

void StoreWriter::store_point(const std::string& value, const std::string& index, std::uint64_t constant) {
  if (d_.real_to_real()) {
    const std::string place = constant == 0 ? index : fmt::format("{} + {}", index, constant);
    text_.line("{}", real_kind_stored(d_, tables_.kind, store_factored(value, index, constant), place));
    return;
  }
  const std::string at = store_index(index, constant);
  const std::string last = store_factored(value, index, constant);
  const bool float16 = d_.store.storage != Storage::same;
  const auto one = [&](const std::string& number) { return float16 ? fmt::format("stored({})", number) : number; };
  const std::string two = float16 ? fmt::format("stored2({})", last) : last;
  switch (d_.store.values) {
    case Values::reals:
      text_.line("STORE(to + ({}), {});", at, one(last + ".x"));
      return;
    case Values::pairs:
      if (even_lines(d_.store)) {
        text_.line("STORE(to + ({}), {});", at, two);
      } else {
        text_.line("{{ const real2 z = {}; STORE(to + 2 * ({}), {}); STORE(to + 2 * ({}) + {}, {}); }}", last, at,
                   one("z.x"), at, d_.store.pair, one("z.y"));
      }
      return;
    default:
      text_.line("STORE(to + ({}), {});", at, two);
  }
}

void StoreWriter::store_pointers(const char* line) {
  const bool halved = d_.store.values == Values::pairs && even_lines(d_.store);
  text_.line("GLOBAL {}* const to = out + (out_offset + {}){};", p_.out_type(), p_.line_offset(line, d_.store.at),
             halved ? " / 2" : "");
  if (d_.store.valid > 0 && !d_.store.valid_at.line.empty()) {
    text_.line("const ulong store_number = {};", p_.line_offset(line, d_.store.valid_at));
  }
  store_factors(line);
}

void StoreWriter::store_factors(const char* line) {
  if (d_.store.factor == FactorKind::none) return;
  text_.line("GLOBAL const {}* const store_factors = store_factor + ({});",
             d_.store.factor == FactorKind::real ? "real" : "real2", p_.table_offset(line, d_.store.factor_at));
}

void StoreWriter::store() {
  const StageDesign& last = stages_.back();
  const char* line = p_.two_orders() ? "line_out" : "line";
  const char* in_range = p_.two_orders() ? "in_range_out" : "in_range";
  if (d_.twiddle) twiddle_.twiddle(last);
  if (d_.store.mapped) return store_tile(last);
  if (d_.paired_lines()) return store_paired_lines(last);
  if (d_.folded()) return p_.inverse() ? store_folded_pairs(last) : store_folded_spectrum(last);
  if (d_.store.values == Values::half) return store_half(last);
  if (d_.store.staged || d_.convolves_by(Convolution::rader)) return stage_out(last, line);
  if (d_.store.partition_local) return store_partition_local(last, line, in_range);
  text_.raw("\n");
  text_.line("// store");
  if (!p_.before_store.empty()) text_.line("{}", p_.before_store);
  text_.open();
  store_pointers(line);
  for (std::size_t round = 0; round < last.rounds; ++round) {
    p_.open_round(last, round, in_range);
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::uint64_t constant = u * last.butterflies;
      const std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
      if (d_.store.box_count > 0) {
        const BoxPlace box = box_place(d_.store, d_.length, constant, last.butterflies);
        if (box.validity == Validity::none) continue;
        text_.open();
        text_.line("const int q = {};", box.index);
        if (box.validity == Validity::some) text_.line("if (q < {})", d_.store.box_count);
        text_.open();
        store_point(natural(fmt::format("v[{}]", round * last.radix + u), place), "q", 0);
        text_.close();
        text_.close();
        continue;
      }
      const Validity validity = validity_of(d_.store, constant, last.butterflies);
      if (validity == Validity::none) continue;
      const bool check = validity == Validity::some;
      if (check) text_.open("if ({})", p_.valid_text(d_.store, "store", constant));
      store_point(natural(fmt::format("v[{}]", round * last.radix + u), place), "i", constant);
      if (check) text_.close();
    }
    p_.close_round();
  }
  text_.close();
}

void StoreWriter::store_partition_local(const StageDesign& last, const char* line, const char* in_range) {
  text_.raw("\n");
  text_.line("// store, in blocks of the local L2 partition");
  if (!p_.before_store.empty()) text_.line("{}", p_.before_store);
  for (std::size_t round = 0; round < last.rounds; ++round) {
    p_.open_round(last, round, in_range);
    PartitionPointers partition_local(text_, d_.float64, "to", "GLOBAL real2", "out + out_offset");
    const std::string from = p_.line_offset(line, d_.store.at);
    const std::uint64_t block = d_.store.block;
    if (d_.store.interleaved_partitions) {
      partition_local.begin(fmt::format("{} + i / {} * {}u + i % {} * {}", from, 2 * block, d_.store.block_step, block,
                                        d_.store.at.point),
                            fmt::format("(uint)(i / {} & 1)", block));
    } else {
      partition_local.begin(fmt::format("{} + {}", from, store_index("i", 0)));
    }
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::uint64_t point = u * last.butterflies;
      const std::string value = natural(fmt::format("v[{}]", round * last.radix + u), fmt::format("i + {}", point));
      const std::string pointer = partition_local(partition_place(d_.store, point));
      text_.line("STORE({}, {});", pointer, store_factored(value, "i", point));
    }
    p_.close_round();
  }
}

void StoreWriter::store_half(const StageDesign& last) {
  const std::size_t n = d_.length, pitch = p_.half_pitch(), pairs = n / 2 + 1;
  text_.raw("\n");
  text_.line("// from the spectrum of pairs to that of the samples");
  p_.local_free();
  for (std::size_t round = 0; round < last.rounds; ++round) {
    p_.open_round(last, round);
    for (std::size_t u = 0; u < last.radix; ++u) {
      text_.line("local_points[{} * {} + i + {}] = v[{}];", p_.c(last), pitch, u * last.butterflies,
                 round * last.radix + u);
    }
    p_.close_round();
  }
  text_.line("BARRIER();");
  // A partly stored spectrum keeps only values of the first half, or also some of the second.
  const std::size_t kept = d_.store.valid > 0 ? d_.store.valid : n + 1, stored = std::min(pairs, kept);
  const std::size_t iterations = (stored + d_.threads - 1) / d_.threads;
  const char* line = p_.two_orders() ? "line_out" : "line";
  const char* in_range = p_.two_orders() ? "in_range_out" : "in_range";
  const bool staged = d_.store.staged, held = staged && d_.real_to_real() != nullptr;
  if (held) text_.line("real2 front[{0}], back[{0}];", iterations);
  if (staged) {
    text_.open();
  } else {
    text_.open("if ({})", in_range);
  }
  staged ? store_factors(line) : store_pointers(line);
  text_.line("UNROLL");
  text_.open("for (int iteration = 0; iteration < {}; ++iteration)", iterations);
  text_.line("const int k = {} + iteration * {};", p_.t(last), d_.threads);
  text_.open("if (k < {})", stored);
  text_.line("const int mirror = {} - k;", n);
  text_.line("const real2 a = local_points[{} * {} + k];", p_.c(last), pitch);
  text_.line("const real2 b = conjugate(local_points[{} * {} + (k == 0 ? 0 : mirror)]);", p_.c(last), pitch);
  const std::string half = codegen::literal(0.5, d_.float64);
  text_.line("const real2 even = scaled(add(a, b), {});", half);
  text_.line("const real2 difference = scaled(subtract(a, b), {});", half);
  text_.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), LOAD_CACHED(tables + {} + k));",
             tables_.half);
  std::string front = store_factored("add(even, odd)", "k", 0);
  std::string back = store_factored("conjugate(subtract(even, odd))", "mirror", 0);
  const bool rotate = real_kind_in_pairs(d_);
  if (rotate) {
    text_.line("const real2 w = LOAD_CACHED(tables + {} + k);", tables_.kind);
    front = fmt::format("rotated(w, {})", front);
    back = fmt::format("rotated(opposite(w), {})", back);
  }
  if (held) {  // other work-items still read the destination
    text_.line("front[iteration] = {};", front);
    text_.line("back[iteration] = {};", back);
  } else if (staged) {  // both positions belong to this work-item, and the last one is unused
    text_.line("local_points[{} * {} + k] = {};", p_.c(last), pitch, front);
    text_.line("local_points[{} * {} + mirror] = {};", p_.c(last), pitch, back);
  } else if (rotate) {
    text_.line("put_pair(to, k, {});", front);
    text_.line("put_pair(to, mirror, {});", back);
  } else {
    store_point("add(even, odd)", "k", 0);
    if (kept > n) {
      store_point("conjugate(subtract(even, odd))", "mirror", 0);
    } else if (kept + n / 2 > n) {
      text_.open("if (mirror < {})", kept);
      store_point("conjugate(subtract(even, odd))", "mirror", 0);
      text_.close();
    }
  }
  text_.close();
  text_.close();
  text_.close();
  if (held) {
    put_in_order(last, iterations);
  } else if (staged) {
    runs_.run_out(n + 1, pitch);
  }
}

// Stores a real-to-real transform, two values per spectrum value, through local memory in contiguous runs.
void StoreWriter::put_in_order(const StageDesign& last, std::size_t iterations) {
  const std::size_t n = d_.length;
  text_.line("BARRIER();");
  text_.open();
  text_.line("LOCAL real* const to = local_numbers + {} * {};", p_.c(last), real_kind_pitch(d_));
  text_.line("UNROLL");
  text_.open("for (int iteration = 0; iteration < {}; ++iteration)", iterations);
  text_.line("const int k = {} + iteration * {};", p_.t(last), d_.threads);
  text_.open("if (k < {})", n / 2 + 1);
  text_.line("put_pair(to, k, front[iteration]);");
  text_.line("if (2 * k != {0}) put_pair(to, {0} - k, back[iteration]);", n);
  text_.close();
  text_.close();
  text_.close();
  runs_.quads_out();
}

void StoreWriter::stage_out(const StageDesign& last, const char* line) {
  text_.raw("\n");
  text_.line("// into local memory, and from there in one run");
  const bool own_place =
      d_.load.staged && d_.threads == 1 && stages_.size() == 1;  // the line's own place in local memory
  if (!own_place) p_.local_free();
  text_.open();
  if (d_.store.factor != FactorKind::none) {
    text_.line("GLOBAL const {}* const store_factors = store_factor + ({});",
               d_.store.factor == FactorKind::real ? "real" : "real2", p_.table_offset(line, d_.store.factor_at));
  }
  const bool rader = d_.convolves_by(Convolution::rader);
  for (std::size_t round = 0; round < last.rounds; ++round) {
    p_.open_round(last, round);
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::uint64_t constant = u * last.butterflies;
      const Validity validity = validity_of(d_.store, constant, last.butterflies);
      if (validity == Validity::none) continue;
      const bool check = validity == Validity::some;
      if (check) text_.open("if ({})", p_.valid_text(d_.store, "store", constant));
      std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
      const std::string value = natural(fmt::format("v[{}]", round * last.radix + u), place);
      if (rader) {
        text_.open();
        text_.line("const int k = (int)scatter[{}];", place);
        text_.line("local_points[{} * {} + k] = {};", p_.c(last), p_.pitch, store_factored(value, "k", 0));
        text_.close();
      } else {
        text_.line("local_points[{} * {} + {}] = {};", p_.c(last), p_.pitch, place,
                   store_factored(value, "i", constant));
      }
      if (check) text_.close();
    }
    p_.close_round();
  }
  if (rader) {
    // The sum was formed during the forward transform, before real and imaginary parts were exchanged.
    const std::string sum = p_.inverse() ? "exchanged(sum_of_points)" : "sum_of_points";
    text_.line("if (t == 0) local_points[c * {}] = {};", p_.pitch, store_factored(sum, "0", 0));
  }
  text_.close();
  d_.real_to_real() ? runs_.quads_out() : runs_.run_out(d_.points, p_.pitch);
}

void StoreWriter::store_tile(const StageDesign& last) {
  const std::size_t half = d_.length / 2;
  text_.raw("\n");
  text_.line("// stores the tile by TMA, in two halves through local memory");
  store_factors(p_.two_orders() ? "line_out" : "line");
  for (const std::size_t part : {0, 1}) {
    if (part > 0) text_.line("if (item == 0) TILE_STORE_WAIT_READ();");
    text_.line("BARRIER();");
    for (std::size_t round = 0; round < last.rounds; ++round) {
      p_.open_round(last, round);
      for (std::size_t u = part * last.radix / 2; u < (part + 1) * last.radix / 2; ++u) {
        const std::size_t constant = u * last.butterflies;
        const std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
        const std::string value = natural(fmt::format("v[{}]", round * last.radix + u), place);
        text_.line("tile_points[i * {0} + {1} + {2}] = {3};", d_.lines, (constant - part * half) * d_.lines, p_.c(last),
                   store_factored(value, "i", constant));
      }
      p_.close_round();
    }
    text_.line("TILE_STORE_FENCE();");
    text_.line("BARRIER();");
    text_.open("if (item == 0)");
    tile_place(p_, fmt::format("(tile * {}u)", d_.lines), d_.store.at);
    for (std::size_t p = 0; p < half; p += tile_rows(half)) {
      text_.line("TMA_STORE_TILE(out_map, column, {}, array, tile_points + {});", part * half + p, p * d_.lines);
    }
    text_.close();
  }
}

std::string TwiddleWriter::table_product(const std::string& exponent) const {
  return fmt::format("multiply(LOAD_CACHED(tables + {} + ({} >> {})), LOAD_CACHED(tables + {} + ({} & {}u)))",
                     tables_.coarse, exponent, tables_.fine_bits, tables_.fine, exponent,
                     (std::size_t{1} << tables_.fine_bits) - 1);
}

void TwiddleWriter::twiddle(const StageDesign& stage) {
  const std::string line = p_.two_orders() ? "line_out" : "line";
  const bool wide = d_.twiddle->order > (std::uint64_t{1} << 32);
  const char* type = wide ? "ulong" : "uint";
  text_.raw("\n");
  text_.line("// times exp(-2 pi i column k / {})", d_.twiddle->order);
  text_.open();
  text_.line("const {0} column = ({0})({1});", type, p_.table_offset(line, d_.twiddle->column));
  const auto loads = loaded_powers(stage.radix, d_.few_twiddles);
  for (std::size_t m = 0; m < loads.size(); ++m) {
    if (tables_.step_table) {
      text_.line("const real2 w{} = LOAD_CACHED(tables + {} + column);", loads[m],
                 tables_.step + m * d_.twiddle->columns);
    } else {
      text_.line("const real2 w{} = {};", loads[m],
                 table_product(fmt::format("(column * {}u)", loads[m] * stage.butterflies)));
    }
  }
  for (std::size_t round = 0; round < stage.rounds; ++round) {
    p_.open_round(stage, round);
    text_.line("const {0} exponent = column * ({0})i;", type);
    text_.line("const real2 w = {};", table_product("exponent"));
    text_.line("v[{0}] = multiply(v[{0}], w);", round * stage.radix);
    for (std::size_t u = 1; u < stage.radix; ++u) {
      const std::size_t slot = round * stage.radix + u;
      if (!d_.few_twiddles || u < 4) {
        text_.line("v[{0}] = multiply(v[{0}], multiply(w, w{1}));", slot, u);
      } else if (u % 4 == 0) {
        text_.line("const real2 from{0} = multiply(w, w{0});", u);
        text_.line("v[{0}] = multiply(v[{0}], from{1});", slot, u);
      } else {
        text_.line("v[{0}] = multiply(v[{0}], multiply(from{1}, w{2}));", slot, u / 4 * 4, u % 4);
      }
    }
    p_.close_round();
  }
  text_.close();
}

}  // namespace ridge::fft::on_device
