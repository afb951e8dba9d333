// Kernel text of the `warp_specialized` FIR on the matrix units. Eight warps of a group filter and compute the first
// butterflies; eight warps load samples and compute the second butterflies. Products (local memory), butterflies
// (arithmetic) and stores therefore overlap.
//
// Products, lanes and order are those of `matrix`. A filtering warp processes two tasks of 16 channels x 32
// spectra one after the other; even and odd spectra have separate row buffers. The two sides synchronize with named
// barriers, at which one side arrives and continues and the other waits. CUDA only.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/fir/lines_codegen.hpp"
#include "filterbank/device/fir/matrix_weights.hpp"
#include "filterbank/device/fir/power_codegen.hpp"

namespace ridge::filterbank::on_device {

extern const Fir kWarpSpecializedFir;

namespace {

using codegen::Text;

// Word pairs per channel in the cyclic layout; 0: the taps do not fit it, or it would need more words.
std::size_t cyclic_words(std::size_t taps) {
  const std::size_t history = matrix_history(taps);
  return taps <= history && history <= matrix_words(taps) ? history : 0;
}

class WarpSpecializedWriter {
 public:
  explicit WarpSpecializedWriter(const KernelDesign& design)
      : d_(design),
        g_(design.geometry),
        others_(design.geometry.channels / 16),
        power_(text_, design, design.geometry.channels / 16, 16) {
    history_ = matrix_history(g_.taps) / 8;
    cyclic_ = cyclic_words(g_.taps);
    channel_words_ = cyclic_ > 0 ? cyclic_ : matrix_words(g_.taps);
    wide_ = g_.samples == Samples::int16;
    units_ = history_ + d_.steps / 8;
    // Words per two rows: one (or two) per polarization. The lanes of an 8 x 8 fragment have no bank conflicts.
    row_words_ = g_.channels * (wide_ ? 4 : 2);
    while (row_words_ % 32 != (wide_ ? 4 : 2)) row_words_ += 2;
    pitch_ = g_.channels + 2;
    pairs_ = 256 / g_.channels;  // pairs of rows that all work-items load at once
  }

  KernelText write() {
    text_.line("// {} channels of {} taps, {}, on the matrix units, warp-specialized; {} spectra at a time",
               g_.channels, g_.taps, ridge::to_string(g_.samples), d_.steps);
    text_.raw(conversion_text(g_.samples, 4));
    text_.raw(codegen::matrix_macros_text(d_.items));
    text_.raw(codegen::butterfly_text({16, others_}, false, codegen::Roots::in_sums));
    text_.raw(finish_macros(d_));
    text_.raw(ridge::detail::kernel_text("codegen/named_barriers"));
    text_.line("#define ROWS_READY 1\n#define ROWS_READ 2");
    text_.line("#define LINES_FULL(half) (3 + half)\n#define LINES_FREE(half) (5 + half)");
    text_.open("KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}({}{})", d_.items, d_.resident, kKernelName, kArguments,
               delay_arguments(g_));
    const std::size_t words = (2 * channel_words_ * g_.channels + 3) / 4 * 4;
    const std::size_t lines = d_.steps * pitch_ * 2, ring = (units_ * 4 * row_words_ + 3) / 4 * 4;
    const std::size_t whole = 2 * lines + ring + words + 2 * g_.channels;
    text_.line("LOCAL_BLOCK(uint, local_words, {} + EMULATION_WORDS);", whole);
    text_.line("LOCAL float2* const points = (LOCAL float2*)local_words;");
    text_.line("LOCAL uint* const ring = local_words + {};", 2 * lines);
    text_.line("LOCAL uint* const weights = ring + {};", ring);
    text_.line("LOCAL float2* const tables = (LOCAL float2*)(weights + {});", words);
    text_.line("FRAGMENTS(local_words + {})", whole);
    text_.line("const int all = LOCAL_ID(0), item = all % 256, lane = item % 32, warp = item / 32;");
    text_.line("const int station = (int)(GROUP_ID(0) % {}u);", g_.stations);
    text_.line("const int begin = (int)(GROUP_ID(0) / {}u) * {};", g_.stations,
               d_.rounds > 0 ? fmt::format("{}", d_.rounds * d_.steps) : fmt::format("{} * rounds", d_.steps));
    text_.line("for (int i = all; i < {}; i += {}) weights[i] = LOAD_CACHED(all_weights + i);",
               2 * channel_words_ * g_.channels, d_.items);
    text_.line("for (int i = all; i < {}; i += {}) tables[i] = LOAD_CACHED(all_tables + i);", g_.channels, d_.items);
    text_.line("BARRIER();");
    text_.line("int slot = 0;  // of the oldest 8 rows in use");
    const std::string rounds = d_.rounds > 0 ? fmt::format("{}", d_.rounds) : std::string("rounds");
    text_.open("if (all < 256)");
    filter(rounds);
    text_.close();
    text_.open("else");
    transform(rounds);
    text_.close();
    text_.close();
    return {{.name = fmt::format("filter bank {} x {}, matrix, warp-specialized", g_.channels, g_.taps),
             .text = text_.str()},
            whole * 4};
  }

 private:
  static constexpr const char* kArguments =
      "GLOBAL const raw_t* RESTRICT in, GLOBAL float2* RESTRICT out, GLOBAL const uint* RESTRICT all_weights, GLOBAL "
      "const float2* RESTRICT all_tables, GLOBAL const float2* RESTRICT factors, int origin, int newest, int spectra, "
      "ulong out_offset, int rounds, int skipped";

  std::size_t pairs_each() const { return d_.steps / 2 / pairs_; }

  void filter(const std::string& rounds) {
    text_.line("const int g = lane / 4, tig = lane % 4;");
    constants();
    text_.open("for (int round = 0; round < {}; ++round)", rounds);
    text_.line("NAMED_BARRIER_SYNC(ROWS_READY);");
    text_.line("_Pragma(\"unroll 1\")");
    text_.open("for (int piece = 0; piece < 2; ++piece)");
    text_.line("const int task = (warp + 8 * piece) % {0}, tile = (warp + 8 * piece) / {0};", others_);
    text_.line("const int line0 = (tile * 32 + g / 2 * 8 + tig * 2 + g % 2) * {} + task * 16;", pitch_);
    text_.line("float sums[16][4];");
    products();
    text_.line("if (piece == 1) NAMED_BARRIER_ARRIVE(ROWS_READ);");
    for (std::size_t half = 0; half < 2; ++half) {
      butterfly(half);
      text_.line("if (piece == 0 && round > 0) NAMED_BARRIER_SYNC(LINES_FREE({}));", half);
      exchange(half);
      text_.line("if (piece == 1) NAMED_BARRIER_ARRIVE(LINES_FULL({}));", half);
    }
    text_.close();
    text_.line("slot += {};", d_.steps / 8);
    text_.line("slot -= slot >= {0} ? {0} : 0;", units_);
    text_.close();
  }

  void transform(const std::string& rounds) {
    sources();
    prime();
    text_.line("raw_t raw[{}];", 2 * pairs_each());
    load("begin");
    put("raw", pairs_each(), fmt::format("slot + {}", history_));
    text_.line("NAMED_BARRIER_ARRIVE(ROWS_READY);");
    load(fmt::format("begin + {}", d_.steps));
    if (over_rounds()) power_.declare();
    text_.open("for (int round = 0; round < {}; ++round)", rounds);
    text_.line("const int t = begin + round * {};", d_.steps);
    text_.line("slot += {};", d_.steps / 8);
    text_.line("slot -= slot >= {0} ? {0} : 0;", units_);
    text_.line("NAMED_BARRIER_SYNC(ROWS_READ);");
    text_.open("if (round + 1 < {})", rounds);
    put("raw", pairs_each(), fmt::format("slot + {}", history_));
    text_.line("NAMED_BARRIER_ARRIVE(ROWS_READY);");
    load(fmt::format("t + {}", 2 * d_.steps));
    text_.close();
    for (std::size_t half = 0; half < 2; ++half) {
      text_.line("NAMED_BARRIER_SYNC(LINES_FULL({}));", half);
      second(half);
      text_.line("if (round + 1 < {}) NAMED_BARRIER_ARRIVE(LINES_FREE({}));", rounds, half);
    }
    if (over_rounds()) store_rounds();
    text_.close();
  }

  // True if a power sum extends over both halves of a round's spectra, or over several rounds. Otherwise sums are
  // stored within a half.
  bool over_rounds() const { return d_.summed > 0 && d_.unit >= d_.steps; }
  void store_rounds() {
    text_.open("if ((round + 1) % {} == 0)", d_.unit / d_.steps);
    text_.line("const int pol = item / 16 % 2, u = item % 16;");
    text_.open("if (t < spectra)");
    power_.store_crossed(fmt::format("t / {} * 8 + warp", d_.unit), "u");
    text_.close();
    power_.clear();
    text_.close();
  }

  void constants() {
    // For each distance (in groups of 8 rows): index of a lane's pair of weights among a channel's words. Both ends are
    // padded with zeros.
    for (std::size_t j = 0; j <= history_; ++j) {
      if (cyclic_ > 0 || !clamped(j)) continue;
      text_.line("const int e{0} = 2 * tig - g + ({1}), at{0} = (e{0} < -1 ? -1 : e{0} > {2} ? {2} : e{0}) + 1;", j,
                 distance(j), g_.taps + 1);
    }
    if (cyclic_ > 0) {
      text_.line("const int e = 2 * tig - g;");
      text_.line("const uint early = e > 0 ? 0xffffffffu : e < 0 ? 0u : 0xffff0000u;");
    }
    // Row g of the samples: polarization g % 2 of the g / 2th group of 8 times; the result has the same position.
    text_.line("const int column = tig * {} + g % 2 * {};", row_words_, wide_ ? 2 : 1);
  }

  // Declares pointers to an item's samples.
  void sources() {
    text_.line("const int channel = item % {0}, pair0 = item / {0};", g_.channels);
    if (g_.delayed) {
      text_.line("const int moved = channel + LOAD_CACHED(shifts + station);");
    } else {
      text_.line("const int moved = channel;");
    }
    text_.line("const int row0 = origin / {0} + {1} + moved / {0};", g_.channels, g_.taps - 1);
    text_.line("GLOBAL const raw_t* const samples = in + ((long)row0 * {0} + station * {1} + moved % {1});",
               g_.stations * g_.channels, g_.channels);
  }

  std::int64_t distance(std::size_t j) const {
    return static_cast<std::int64_t>(8 * j + g_.taps) - static_cast<std::int64_t>(8 * history_);
  }
  bool clamped(std::size_t j) const {
    return distance(j) - 7 < -1 || distance(j) + 6 > static_cast<std::int64_t>(g_.taps + 1);
  }

  // --- samples: pairs of rows, one word for the real and imaginary parts of both -------------------------------------
  // Loads the rows of spectra from `first` on, each item its pairs.
  void load(const std::string& first) {
    text_.open();
    text_.line("const int time = {} + pair0 * 2;", first);
    text_.line("GLOBAL const raw_t* const from = samples + (long)time * {};", g_.stations * g_.channels);
    text_.open("if (row0 + time >= 0 && time + {} <= spectra)", (pairs_each() - 1) * 2 * pairs_ + 2);
    rows([&](std::size_t at, std::size_t row) {
      text_.line("raw[{}] = LOAD_CACHED(from + {});", at, row * g_.stations * g_.channels);
    });
    text_.close();
    text_.open("else");
    rows([&](std::size_t at, std::size_t row) {
      text_.line("raw[{0}] = row0 + time >= -{1} && time < spectra - {1} ? LOAD_CACHED(from + {2}) : RAW_ZERO;", at,
                 row, row * g_.stations * g_.channels);
    });
    text_.close();
    text_.close();
  }
  template <class Take>
  void rows(const Take& take) const {
    for (std::size_t i = 0; i < pairs_each(); ++i) {
      take(2 * i, i * 2 * pairs_);
      take(2 * i + 1, i * 2 * pairs_ + 1);
    }
  }

  // Loads the rows before the first spectrum.
  void prime() {
    const std::size_t pairs = history_ * 4;
    for (std::size_t i = 0; i * pairs_ < pairs; ++i) {
      text_.open("if (pair0 + {} < {})", i * pairs_, pairs);
      text_.line("const int time = begin - {} + pair0 * 2;", 8 * history_ - 2 * i * pairs_);
      text_.line("GLOBAL const raw_t* const from = samples + (long)time * {};", g_.stations * g_.channels);
      text_.line("raw_t old[2];");
      for (int row = 0; row < 2; ++row) {
        text_.line("old[{0}] = row0 + time >= -{0} && time < spectra - {0} ? LOAD_CACHED(from + {1}) : RAW_ZERO;", row,
                   static_cast<std::size_t>(row) * g_.stations * g_.channels);
      }
      put_pair("old", 0, fmt::format("pair0 + {}", i * pairs_), "0");
      text_.close();
    }
  }

  void put(const std::string& from, std::size_t count, const std::string& slot) {
    for (std::size_t i = 0; i < count; ++i) {
      text_.open();
      put_pair(from, i, fmt::format("pair0 + {}", i * pairs_), slot);
      text_.close();
    }
  }

  // Stores numbers in offset binary (sign bits inverted).
  void put_pair(const std::string& from, std::size_t i, const std::string& pair, const std::string& slot) {
    text_.line("const int pair = {};", pair);
    text_.line("int unit = {} + pair / 4;", slot);
    text_.line("unit -= unit >= {0} ? {0} : 0;", units_);
    text_.line("LOCAL uint* const to = ring + ((unit * 4 + pair % 4) * {} + channel * {});", row_words_, wide_ ? 4 : 2);
    text_.line("const raw_t a = {0}[{1}], b = {0}[{2}];", from, 2 * i, 2 * i + 1);
    switch (g_.samples) {
      case Samples::int4:
        // Nibbles to bytes: two rows of one polarization per word.
        text_.line("const uint both = ((uint)a | ((uint)b << 16)) ^ 0x88888888u;");
        text_.line("const uint low = both & 0x0f0f0f0fu, high = (both >> 4) & 0x0f0f0f0fu;");
        text_.line("*(LOCAL uint2*)to = make_uint2(PICK_BYTES(low, high, 0x6240u), PICK_BYTES(low, high, 0x7351u));");
        return;
      case Samples::int8:
        text_.line("const uint s = a ^ 0x80808080u, u = b ^ 0x80808080u;");
        text_.line("*(LOCAL uint2*)to = make_uint2(PICK_BYTES(s, u, 0x5410u), PICK_BYTES(s, u, 0x7632u));");
        return;
      default:
        text_.line("const uint sx = a.x ^ 0x80008000u, sy = a.y ^ 0x80008000u;");
        text_.line("const uint ux = b.x ^ 0x80008000u, uy = b.y ^ 0x80008000u;");
        text_.line(
            "*(LOCAL uint4*)to = make_uint4(PICK_BYTES(sx, ux, 0x5410u), PICK_BYTES(sx, ux, 0x7632u), PICK_BYTES(sy, "
            "uy, 0x5410u), PICK_BYTES(sy, uy, 0x7632u));");
    }
  }

  // --- the products --------------------------------------------------------------------------------------------------
  void products() {
    for (std::size_t j = 0; j <= history_; ++j) {
      text_.line("int unit{0} = slot + tile * 4 + g / 2 + {0};", j);
      text_.line("unit{0} -= unit{0} >= {1} ? {1} : 0;", j, units_);
      text_.line("LOCAL const uint* const rows{0} = ring + (unit{0} * {1} + column + task * {2});", j, 4 * row_words_,
                 wide_ ? 4 : 2);
    }
    text_.line("LOCAL const uint2* const pairs = (LOCAL const uint2*)weights + task * {};", channel_words_);
    if (cyclic_ > 0) {
      text_.line("LOCAL const uint2* const w = pairs + e;");
      text_.line("LOCAL const uint2* const ends = pairs + (e < 0 ? e + {} : e);", cyclic_);
    } else {
      text_.line("LOCAL const uint2* const w = pairs + (2 * tig - g + 1);");
      for (std::size_t j = 0; j <= history_; ++j) {
        if (clamped(j)) text_.line("LOCAL const uint2* const w{0} = pairs + at{0};", j);
      }
    }
    text_.line("UNROLL_PRODUCTS");
    text_.open("for (int j = 0; j < 16; ++j)");
    text_.line("float d[4] = {{0.0f, 0.0f, 0.0f, 0.0f}};");
    if (cyclic_ > 0) {
      text_.open();
      text_.line("const uint2 both = ends[j * {}];", others_ * channel_words_);
      for (const auto& [k, mask] : {std::pair{std::size_t{0}, "early"}, {history_, "~early"}}) {
        text_.line("const uint upper{0} = both.x & {1}, lower{0} = both.y & {1};", k, mask);
        load_float16(k);
      }
      multiply(0, history_);
      text_.close();
    }
    const std::size_t end = cyclic_ > 0 ? history_ : history_ + 1;
    for (std::size_t j = cyclic_ > 0 ? 1 : 0; j < end; j += 2) {
      const std::size_t last = std::min(j + 1, end - 1);
      text_.open();
      for (std::size_t k = j; k <= last; ++k) {
        text_.line("const uint2 both{0} = {1};", k, weight(k));
        text_.line("const uint upper{0} = both{0}.x, lower{0} = both{0}.y;", k);
        load_float16(k);
      }
      multiply(j, last);
      text_.close();
    }
    for (std::size_t c = 0; c < 4; ++c) text_.line("sums[j][{0}] = d[{0}];", c);
    text_.close();
  }

  // Products of the groups `a` and `b` of 8 rows, or of one group if they are equal.
  void multiply(std::size_t a, std::size_t b) {
    for (const char* plane : {"", "low"}) {
      if (*plane != '\0' && !wide_) continue;
      for (const char* part : {"upper", "lower"}) {
        if (a != b) {
          text_.line("matrix_multiply_16(d, re{3}{0}, im{3}{0}, re{3}{1}, im{3}{1}, {2}{0}, {2}{1});", a, b, part,
                     plane);
        } else {
          text_.line("matrix_multiply_8(d, re{2}{0}, im{2}{0}, {1}{0});", a, part, plane);
        }
      }
    }
  }

  // First butterfly of a lane for one half of the spectra, and its twiddle factors, which are the same for all lanes.
  void butterfly(std::size_t half) {
    text_.line("float2 v{}[16];", half);
    for (std::size_t j = 0; j < 16; ++j) {
      text_.line("v{0}[{1}] = make_float2(sums[{1}][{0}], sums[{1}][{2}]);", half, j, half + 2);
    }
    text_.line("dft16(v{});", half);
    for (std::size_t u = 0; u < 16; u += 2) {
      text_.open();
      text_.line("const float4 roots = *(LOCAL const float4*)(tables + task * 16 + {});", u);
      if (u == 0) {
        text_.line("v{0}[0] = scaled(v{0}[0], roots.x);", half);
      } else {
        text_.line("v{0}[{1}] = multiply(v{0}[{1}], make_float2(roots.x, roots.y));", half, u);
      }
      text_.line("v{0}[{1}] = multiply(v{0}[{1}], make_float2(roots.z, roots.w));", half, u + 1);
      text_.close();
    }
  }

  std::string weight(std::size_t j) const {
    const std::size_t channels = others_ * channel_words_;
    if (cyclic_ > 0) return fmt::format("w[j * {} + {}]", channels, 8 * j);
    if (clamped(j)) return fmt::format("w{}[j * {}]", j, channels);
    return fmt::format("w[j * {} + {}]", channels, distance(j));
  }

  // Converts samples to float16: a byte in the lowest bits of the number 1024 gives 1024 + byte, from which 1024 and
  // the sample's binary offset are subtracted. The upper byte of a 16-bit sample is converted in the same way; the
  // lower byte uses the number 4, where it counts 1/256.
  void load_float16(std::size_t k) {
    const char* ones = "0x3c003c00u";
    const std::string place = fmt::format("j * {}", others_ * (wide_ ? 4 : 2));
    const auto part = [&](const char* name, const std::string& word, const char* exponent, const char* pick,
                          const char* less) {
      text_.line("const uint {}{} = float16x2_fma(PICK_BYTES({}, {}, {}), {}, {});", name, k, word, exponent, pick,
                 ones, less);
    };
    if (!wide_) {
      const char* less = g_.samples == Samples::int4 ? "0xe408e408u" : "0xe480e480u";
      text_.line("const uint x{0} = rows{0}[{1}];", k, place);
      part("re", fmt::format("x{}", k), "0x64646464u", "0x4240u", less);
      part("im", fmt::format("x{}", k), "0x64646464u", "0x4341u", less);
      return;
    }
    text_.line("const uint2 x{0} = *(LOCAL const uint2*)(rows{0} + {1});", k, place);
    for (const auto& [name, low, member] : {std::tuple{"re", "relow", "x"}, {"im", "imlow", "y"}}) {
      const std::string word = fmt::format("x{}.{}", k, member);
      part(name, word, "0x64646464u", "0x4341u", "0xe480e480u");
      part(low, word, "0x44444444u", "0x4240u", "0xc400c400u");
    }
  }

  // --- the transform after the first butterfly -----------------------------------------------------------------------
  std::string buffer(std::size_t half) const { return fmt::format("points + {}", half * d_.steps * pitch_); }

  void exchange(std::size_t half) {
    text_.open();
    text_.line("LOCAL float2* const line = {} + line0;", buffer(half));
    for (std::size_t u = 0; u < 16; u += 2) {
      text_.line("*(LOCAL float4*)(line + {0}) = make_float4(v{1}[{0}].x, v{1}[{0}].y, v{1}[{2}].x, v{1}[{2}].y);", u,
                 half, u + 1);
    }
    text_.close();
  }

  // Sixteen work-items share a row.
  void second(std::size_t half) {
    const bool short_sums = d_.summed > 0 && !over_rounds();
    for (std::size_t iteration = 0; iteration < d_.steps / 16; ++iteration) {
      if (short_sums && iteration % d_.summed == 0) {
        text_.open();
        power_.declare();
      }
      text_.open();
      text_.line("const int line = item / 16 + {}, u = item % 16, pol = line % 2;", iteration * 16);
      text_.line("const int time = t + line / 2 * 2 + {};", half);
      text_.line("LOCAL const float2* const from = {} + line * {} + u;", buffer(half), pitch_);
      text_.line("float2 v[{}];", others_);
      for (std::size_t q = 0; q < others_; ++q) text_.line("v[{0}] = from[{1}];", q, q * 16);
      text_.line("dft{}(v);", others_);
      if (d_.summed > 0) {
        open_finish(text_, d_, "time");
        power_.add_crossed("u");
        text_.close();
        if (short_sums && (iteration + 1) % d_.summed == 0) {
          const std::size_t first = (iteration + 1 - d_.summed) * 16;
          text_.line("const int pol = item / 16 % 2, u = item % 16;");
          text_.open("if (t + {} < spectra)", first);
          power_.store_crossed(fmt::format("(t + {}) / {} * 16 + {} + warp", first, d_.unit, half * 8), "u");
          text_.close();
          text_.close();
        }
        continue;
      }
      text_.open("if (time >= skipped && time < spectra)");
      open_output(text_, d_, place_text(g_, "time", "u"));
      open_finish(text_, d_, "time");
      for (std::size_t k = 0; k < others_; ++k) {
        text_.line("STORE_ONCE(to + {}, {});", k * 16,
                   finished(d_, fmt::format("v[{}]", k), fmt::format("(u + {})", k * 16)));
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
  std::size_t cyclic_ = 0, channel_words_ = 0;
  bool wide_ = false;
  std::size_t row_words_ = 0, pitch_ = 0, pairs_ = 0;
  PowerWriter power_;
};

KernelText warp_specialized_text(const KernelDesign& design) { return WarpSpecializedWriter(design).write(); }

// Eight warps transform, and each writes rows of its own.
bool sum_by_warps(KernelDesign& d, std::size_t times) {
  constexpr std::size_t kTransforming = 8, kIterationTimes = 16;
  if (const std::size_t iterations = power_iterations(d, times); iterations > 0) {
    d.unit = iterations * d.steps;
    d.summed = d.unit / kTransforming;
    return true;
  }
  if (times % kIterationTimes != 0) return false;
  d.summed = std::gcd(times / kIterationTimes, d.steps / kIterationTimes);
  d.unit = d.summed * kIterationTimes;  // less than `steps`: one row per half of the spectra and warp
  return true;
}

FirWeights warp_specialized_weights(const KernelDesign& design, std::span<const double> prototype) {
  const Geometry& g = design.geometry;
  // 16-bit samples are scaled by 1/256.
  const int exponent = g.samples == Samples::int16 ? 8 : 0;
  return matrix_weights(g, {.cyclic_words = cyclic_words(g.taps), .exponent = exponent}, prototype);
}

// Lists the same designs as `matrix`, for 64, 128 or 256 channels. CUDA only.
void list_warp_specialized(const Device& device, const Problem& problem, const Geometry& g,
                           std::vector<KernelDesign>& all) {
  if (!supports_matrix(g) || g.delayed || (g.channels != 64 && g.channels != 128 && g.channels != 256)) return;
  if (device.info().backend != Backend::cuda || !device.limits().matrix_units) return;
  add_first_fitting(device, problem, g, kWarpSpecializedFir, {{512, 8192 / g.channels}}, all);
}

}  // namespace

extern const Fir kWarpSpecializedFir{.name = "warp_specialized",
                                     .list = list_warp_specialized,
                                     .text = warp_specialized_text,
                                     .weights = warp_specialized_weights,
                                     .sum_power = sum_by_warps,
                                     .start_multiple = 8};

}  // namespace ridge::filterbank::on_device
