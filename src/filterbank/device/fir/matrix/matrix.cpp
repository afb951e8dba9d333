// Kernel text of the `matrix` FIR: the FIR on the matrix units, and the transform without a trip through global memory.
//
// For one channel, a matrix of samples times a Toeplitz matrix of weights gives 32 spectra of both polarizations. The
// sample matrix has 16 rows: real and imaginary part of both polarizations for four windows, each starting 8 samples
// after the previous one. The weight matrix has one column for each of 8 consecutive spectra.
// Weights are sums of two float16 numbers; 8-bit integers are exact in float16, 16-bit integers are sums of two. Each
// lane holds two complex results that are adjacent in time. Those of 16 channels, channels / 16 apart, are the points
// of two butterflies, which the lane computes in registers. The rest of the transform goes through local memory.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/fir/matrix_weights.hpp"

namespace ridge::filterbank::on_device {

extern const Fir kMatrixFir;

namespace {

using codegen::Text;

class MatrixWriter {
 public:
  explicit MatrixWriter(const KernelDesign& design)
      : d_(design), g_(design.geometry), others_(design.geometry.channels / 16) {
    history_ = matrix_history(g_.taps) / 8;
    planes_ = g_.samples == Samples::int16 ? 2 : 1;
    row_words_ = g_.channels * 4 + 4;  // per two rows; the next two start 4 banks further
    units_ = history_ + d_.steps / 8;
    plane_words_ = units_ * 4 * row_words_;
    line_pitch_ = others_ * 17;
    while (line_pitch_ % 16 != 1) ++line_pitch_;
  }

  KernelText write() {
    head();
    const std::size_t exchange = d_.steps * line_pitch_ * 2, ring = planes_ * plane_words_;
    text_.open("KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}({})", d_.items, d_.resident, kKernelName, kArguments);
    const std::size_t words = (2 * matrix_words(g_.taps) * g_.channels + 3) / 4 * 4, roots = 2 * g_.channels;
    const std::size_t whole = ring + exchange + words + roots;
    text_.line("LOCAL_BLOCK(uint, local_words, {} + EMULATION_WORDS);", whole);
    text_.line("LOCAL uint* const ring = local_words;");
    text_.line("LOCAL float2* const points = (LOCAL float2*)(local_words + {});", ring);
    // The compiler would load values from global memory early, into registers that are not available.
    text_.line("LOCAL uint* const weights = local_words + {};", ring + exchange);
    text_.line("LOCAL float2* const tables = (LOCAL float2*)(local_words + {});", ring + exchange + words);
    text_.line("FRAGMENTS(local_words + {})", whole);
    text_.line("const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32, g = lane / 4, tig = lane % 4;");
    text_.line("const int station = (int)(GROUP_ID(0) % {}u);", g_.stations);
    text_.line("const int begin = (int)(GROUP_ID(0) / {}u) * {};", g_.stations,
               d_.rounds > 0 ? fmt::format("{}", d_.rounds * d_.steps) : fmt::format("{} * rounds", d_.steps));
    text_.line("for (int i = item; i < {}; i += {}) weights[i] = LOAD_CACHED(all_weights + i);",
               2 * matrix_words(g_.taps) * g_.channels, d_.items);
    text_.line("for (int i = item; i < {}; i += {}) tables[i] = LOAD_CACHED(all_tables + i);", g_.channels, d_.items);
    lane_constants();
    prime();
    text_.line("raw_t raw[{}];", 2 * pairs_each(d_.steps));
    load("raw", d_.steps, "begin");
    text_.line("int slot = 0;  // of the oldest 8 rows in use");
    text_.open("for (int round = 0; round < {}; ++round)",
               d_.rounds > 0 ? fmt::format("{}", d_.rounds) : std::string("rounds"));
    text_.line("const int t = begin + round * {};", d_.steps);
    put("raw", d_.steps, fmt::format("slot + {}", history_));
    text_.line("BARRIER();");
    products();
    finish_half(0);
    finish_half(1);
    text_.line("slot += {};", d_.steps / 8);
    text_.line("slot -= slot >= {0} ? {0} : 0;", units_);
    text_.close();
    text_.close();
    return {{.name = fmt::format("filter bank {} x {}, matrix", g_.channels, g_.taps), .text = text_.str()}, whole * 4};
  }

 private:
  static constexpr const char* kArguments =
      "GLOBAL const raw_t* RESTRICT in, GLOBAL float2* RESTRICT out, GLOBAL const uint* RESTRICT all_weights, GLOBAL "
      "const "
      "float2* RESTRICT all_tables, GLOBAL const float2* RESTRICT factors, int origin, int newest, int spectra, ulong "
      "out_offset, int rounds, int skipped";

  void head() {
    text_.line("// {} channels of {} taps, {}, on the matrix units; {} spectra at a time", g_.channels, g_.taps,
               ridge::to_string(g_.samples), d_.steps);
    text_.raw(conversion_text(g_.samples, 4));
    text_.raw(codegen::matrix_macros_text(d_.items));
    text_.raw(codegen::butterfly_text({16, others_}, false));
  }

  void lane_constants() {
    text_.line("const int task = warp % {0}, tile = warp / {0};", others_);
    // Position of a lane's pair of weights in a channel's words, per distance of 8 rows; zeros beyond both ends.
    for (std::size_t j = 0; j <= history_; ++j) {
      if (!clamped(j)) continue;
      text_.line("const int e{0} = 2 * tig - g + ({1}), at{0} = (e{0} < -1 ? -1 : e{0} > {2} ? {2} : e{0}) + 1;", j,
                 distance(j), g_.taps + 1);
    }
    // Row g of the samples: polarization g % 2 of window g / 2, which gives 8 spectra; the result has the same
    // position.
    text_.line("const int column = tig * {} + g % 2 * 2;", row_words_);
    text_.line("const int line0 = (tile * 32 + g / 2 * 8 + tig * 2 + g % 2) * {} + task * 17;", line_pitch_);
  }

  std::int64_t distance(std::size_t j) const {
    return static_cast<std::int64_t>(8 * j + g_.taps) - static_cast<std::int64_t>(8 * history_);
  }
  bool clamped(std::size_t j) const {
    return distance(j) - 7 < -1 || distance(j) + 6 > static_cast<std::int64_t>(g_.taps + 1);
  }
  // Declares pointers to a lane's weights of channel `task`.
  void weight_pointers() {
    text_.line("LOCAL const uint2* const pairs = (LOCAL const uint2*)weights + task * {};", matrix_words(g_.taps));
    text_.line("LOCAL const uint2* const w = pairs + (2 * tig - g + 1);");
    for (std::size_t j = 0; j <= history_; ++j) {
      if (clamped(j)) {
        text_.line("LOCAL const uint2* const w{0} = pairs + at{0};", j);
      }
    }
  }
  std::string weight(std::size_t j) const {
    const std::size_t channels = others_ * matrix_words(g_.taps);
    if (clamped(j)) return fmt::format("w{}[j * {}]", j, channels);
    return fmt::format("w[j * {} + {}]", channels, distance(j));
  }

  // --- samples: pairs of rows, as float16 ----------------------------------------------------------------------------
  std::size_t pairs(std::size_t rows) const { return rows / 2 * g_.channels; }
  std::size_t pairs_each(std::size_t rows) const { return (pairs(rows) + d_.items - 1) / d_.items; }

  // The i-th pair of rows of an item: channel and position as expressions of the item, plus constants where possible.
  struct Pair {
    std::string channel, rows;
    std::size_t more_channels = 0, more_rows = 0;  // in pairs of rows
  };
  Pair pair(std::size_t i) const {
    const std::size_t channels = g_.channels;
    if (d_.items % channels == 0) {
      return {fmt::format("item % {}", channels), fmt::format("item / {}", channels), 0, i * (d_.items / channels)};
    }
    if (channels % d_.items == 0) {
      const std::size_t iterations = channels / d_.items;
      return {"item", "0", i % iterations * d_.items, i / iterations};
    }
    return {fmt::format("(item + {}) % {}", i * d_.items, channels),
            fmt::format("(item + {}) / {}", i * d_.items, channels), 0, 0};
  }

  // Loads rows from that of spectrum `first` on; rows before the stream and after its end are zero.
  void load(const char* to, std::size_t rows, const std::string& first) {
    const std::size_t row = g_.stations * g_.channels;
    const bool same = d_.items % g_.channels == 0 || g_.channels % d_.items == 0;
    text_.open();
    for (std::size_t i = 0; i < pairs_each(rows); ++i) {
      const Pair p = pair(i);
      if (!same) text_.open();
      if (!same || i == 0) {
        text_.line("const int time = {} + ({}) * 2, row = origin / {} + {} + time;", first, p.rows, g_.channels,
                   g_.taps - 1);
        text_.line("GLOBAL const raw_t* const from = in + ((long)row * {} + station * {} + {});", row, g_.channels,
                   p.channel);
      }
      const std::string within =
          same ? (pairs(rows) % d_.items == 0 ? "" : fmt::format("item < {} && ", pairs(rows) - i * d_.items))
               : fmt::format("item + {} < {} && ", i * d_.items, pairs(rows));
      for (std::size_t r = 0; r < 2; ++r) {
        const std::size_t more = 2 * p.more_rows + r;
        text_.line("{}[{}] = {}row >= {} && time < spectra - {} ? LOAD_CACHED(from + {}) : RAW_ZERO;", to, 2 * i + r,
                   within, -static_cast<int>(more), more, more * row + p.more_channels);
      }
      if (!same) text_.close();
    }
    text_.close();
  }

  void put(const char* from, std::size_t rows, const std::string& slot) {
    for (std::size_t i = 0; i < pairs_each(rows); ++i) {
      if (pairs(rows) % d_.items == 0) {
        text_.open();
      } else {
        text_.open("if (item + {} < {})", i * d_.items, pairs(rows));
      }
      const Pair p = pair(i);
      text_.line("const int rp = {} + {};", p.rows, p.more_rows);
      text_.line("int unit = {} + rp / 4;", slot);
      text_.line("unit -= unit >= {0} ? {0} : 0;", units_);
      text_.line("LOCAL uint* const to = ring + (unit * 4 + rp % 4) * {} + ({} + {}) * 4;", row_words_, p.channel,
                 p.more_channels);
      text_.line("const raw_t a = {0}[{1}], b = {0}[{2}];", from, 2 * i, 2 * i + 1);
      write_float16();
      text_.close();
    }
  }

  void write_float16() {
    const char* ones = "0x3c003c00u";
    switch (g_.samples) {
      case Samples::int4: {
        // A nibble with its sign bit inverted, under the exponent of 1024: 1032 + n, or 1024 + 16 (n + 8) for the upper
        // nibble.
        text_.line("const uint both = ((uint)a | ((uint)b << 16)) ^ 0x88888888u;");
        for (std::size_t p = 0; p < 2; ++p) {
          text_.line("const uint p{0} = PICK_BYTES(both, 0x64646464u, 0x4{1}4{0}u);", p, p + 2);
        }
        text_.line(
            "*(LOCAL uint4*)to = make_uint4(float16x2_fma(p0 & 0xff0fff0fu, {0}, 0xe408e408u), float16x2_fma(p0 & "
            "0xfff0fff0u, "
            "0x2c002c00u, 0xd480d480u), float16x2_fma(p1 & 0xff0fff0fu, {0}, 0xe408e408u), float16x2_fma(p1 & "
            "0xfff0fff0u, "
            "0x2c002c00u, 0xd480d480u));",
            ones);
        return;
      }
      case Samples::int8:
        text_.line("const uint s = a ^ 0x80808080u, u = b ^ 0x80808080u;");
        text_.line("const uint low = PICK_BYTES(s, u, 0x5140u), high = PICK_BYTES(s, u, 0x7362u);");
        text_.line(
            "*(LOCAL uint4*)to = make_uint4(float16x2_fma(PICK_BYTES(low, 0x64646464u, 0x4140u), {0}, 0xe480e480u), "
            "float16x2_fma(PICK_BYTES(low, 0x64646464u, 0x4342u), {0}, 0xe480e480u), float16x2_fma(PICK_BYTES(high, "
            "0x64646464u, 0x4140u), {0}, 0xe480e480u), float16x2_fma(PICK_BYTES(high, 0x64646464u, 0x4342u), {0}, "
            "0xe480e480u));",
            ones);
        return;
      default:
        text_.line("float x[4], y[4];");
        text_.line("convert(a, x);");
        text_.line("convert(b, y);");
        for (std::size_t i = 0; i < 4; ++i) {
          text_.line("const uint h{0} = float16x2_of(x[{0}], y[{0}]);", i);
          text_.line("const uint l{0} = float16x2_of(x[{0}] - low_float16(h{0}), y[{0}] - high_float16(h{0}));", i);
        }
        text_.line("*(LOCAL uint4*)to = make_uint4(h0, h1, h2, h3);");
        text_.line("*(LOCAL uint4*)(to + {}) = make_uint4(l0, l1, l2, l3);", plane_words_);
    }
  }

  // Loads the rows before the first spectrum, 8 at a time to save registers.
  void prime() {
    for (std::size_t unit = 0; unit < history_; ++unit) {
      text_.open();
      text_.line("raw_t old[{}];", 2 * pairs_each(8));
      load("old", 8, fmt::format("begin - {}", 8 * (history_ - unit)));
      put("old", 8, fmt::format("{}", unit));
      text_.close();
    }
  }

  // --- the products --------------------------------------------------------------------------------------------------
  void products() {
    text_.line("float sums[16][4];");
    for (std::size_t j = 0; j <= history_; ++j) {
      text_.line("int unit{0} = slot + tile * 4 + g / 2 + {0};", j);
      text_.line("unit{0} -= unit{0} >= {1} ? {1} : 0;", j, units_);
      text_.line("LOCAL const uint2* const rows{0} = (LOCAL const uint2*)(ring + unit{0} * {1} + column + task * 4);",
                 j, 4 * row_words_);
    }
    weight_pointers();
    text_.line("UNROLL_PRODUCTS");
    text_.open("for (int j = 0; j < 16; ++j)");
    text_.line("float d[4] = {{0.0f, 0.0f, 0.0f, 0.0f}};");
    for (std::size_t j = 0; j <= history_; j += 2) {
      const bool both = j < history_;
      text_.open();
      for (std::size_t k = j; k <= j + (both ? 1 : 0); ++k) {
        text_.line("const uint2 both{0} = {1};", k, weight(k));
        text_.line("const uint upper{0} = both{0}.x, lower{0} = both{0}.y;", k);
        for (std::size_t plane = 0; plane < planes_; ++plane) {
          text_.line("const uint2 x{0}{1} = rows{0}[j * {2} + {3}];", k, "ab"[plane], 2 * others_,
                     plane * plane_words_ / 2);
        }
      }
      const auto product = [&](const char* part, char plane) {
        if (both) {
          text_.line("matrix_multiply_16(d, x{0}{3}.x, x{0}{3}.y, x{1}{3}.x, x{1}{3}.y, {2}{0}, {2}{1});", j, j + 1,
                     part, plane);
        } else {
          text_.line("matrix_multiply_8(d, x{0}{2}.x, x{0}{2}.y, {1}{0});", j, part, plane);
        }
      };
      product("upper", 'a');
      product("lower", 'a');
      if (planes_ == 2) product("upper", 'b');
      text_.close();
    }
    for (std::size_t c = 0; c < 4; ++c) text_.line("sums[j][{0}] = d[{0}];", c);
    text_.close();
  }

  // --- the transform -------------------------------------------------------------------------------------------------
  // Every second spectrum: the radix-16 butterfly, the exchange, the second butterfly, the stores.
  void finish_half(std::size_t half) {
    if (half == 1) text_.line("BARRIER();");
    text_.open();
    text_.line("float2 v[16];");
    for (std::size_t j = 0; j < 16; ++j) {
      text_.line("v[{0}] = make_float2(sums[{0}][{1}], sums[{0}][{2}]);", j, half, half + 2);
    }
    text_.line("dft16(v);");
    for (std::size_t u = 0; u < 16; ++u) text_.line("points[line0 + {0}] = v[{0}];", u);
    text_.close();
    text_.line("BARRIER();");
    if (half == 0) load("raw", d_.steps, fmt::format("t + {}", d_.steps));
    const std::size_t all = d_.steps * 16;
    for (std::size_t iteration = 0; iteration * d_.items < all; ++iteration) {
      if ((iteration + 1) * d_.items > all) {
        text_.open("if (item + {} < {})", iteration * d_.items, all);
      } else {
        text_.open();
      }
      text_.line("const int b = item + {}, line = b / 16, u = b % 16;", iteration * d_.items);
      text_.line("LOCAL const float2* const from = points + line * {} + u;", line_pitch_);
      text_.line("float2 v[{}];", others_);
      text_.line("v[0] = scaled(from[0], tables[0].x);");
      for (std::size_t q = 1; q < others_; ++q) {
        text_.line("v[{}] = multiply(from[{}], tables[{} + u]);", q, q * 17, q * 16);
      }
      text_.line("dft{}(v);", others_);
      text_.line("const int time = t + line / 2 * 2 + {}, pol = line % 2;", half);
      text_.open("if (time >= skipped && time < spectra)");
      text_.line("GLOBAL float2* const to = out + out_offset + (((ulong)time * 2 + pol) * {} + station) * {} + u;",
                 g_.stations, g_.channels);
      if (d_.factors == Factors::all) {
        text_.line("GLOBAL const float2* const factor = factors + (pol * {} + station) * {} + u;", g_.stations,
                   g_.channels);
      }
      if (d_.factors == Factors::channels) text_.line("GLOBAL const float2* const factor = factors + u;");
      for (std::size_t k = 0; k < others_; ++k) {
        const std::string value = fmt::format("v[{}]", k);
        text_.line(
            "STORE_ONCE(to + {}, {});", k * 16,
            d_.factors == Factors::none ? value : fmt::format("multiply({}, LOAD_CACHED(factor + {}))", value, k * 16));
      }
      text_.close();
      text_.close();
    }
  }

  const KernelDesign& d_;
  const Geometry& g_;
  std::size_t others_;  // channels / 16: radix of the second butterfly, and warps per 32 spectra
  codegen::Text text_;
  std::size_t history_ = 0, units_ = 0;  // in units of 8 rows
  std::size_t planes_ = 1, row_words_ = 0, plane_words_ = 0, line_pitch_ = 0;
};

KernelText matrix_text(const KernelDesign& design) { return MatrixWriter(design).write(); }

FirWeights plain_matrix_weights(const KernelDesign& design, std::span<const double> prototype) {
  return matrix_weights(design.geometry, {}, prototype);
}

// Up to 256 channels, a multiple of 32. Tests run it also on devices without matrix units, which emulate them.
void list_matrix(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  if (!device.limits().matrix_units || !supports_matrix(g) || g.delayed) return;
  const std::size_t warps = g.channels / 16;  // per 32 spectra
  std::vector<GroupSize> sizes;
  for (std::size_t tiles = std::max<std::size_t>(1, 16 / warps); tiles > 0; tiles /= 2) {
    sizes.push_back({32 * warps * tiles, 32 * tiles});
  }
  add_first_fitting(device, problem, g, kMatrixFir, sizes, all);
}

}  // namespace

extern const Fir kMatrixFir{.name = "matrix",
                            .list = list_matrix,
                            .text = matrix_text,
                            .weights = plain_matrix_weights,
                            .start_multiple = 8,
                            .writes_bytes = false};

}  // namespace ridge::filterbank::on_device
