// The kernel for many channels: no delay line of floats. An item has the channels that lie channels / 256
// groups of 256 apart; it filters a block of spectra from raw rows in registers, does the first butterfly over its
// channels where they are, and leaves 256-point transforms, which take two passes of 16 in place.
//
// With C = 256 R, channel c + 256 j, outputs k = R k' + r:
//   X[R k' + r] = sum over c of W_256^(c k') [ W_C^(c r) sum over j of W_R^(j r) x[c + 256 j] ]
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "fft/device/butterfly.hpp"
#include "fft/device/text.hpp"
#include "filterbank/device/design.hpp"
#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/lines_codegen.hpp"

namespace ridge::filterbank::on_device {
namespace {

using fft::on_device::Text;

constexpr std::size_t kItems = 256;
constexpr std::size_t kHeldTurns = 4;  // from here on an item reads its roots again instead of keeping them

// Of a transform in local memory: lanes of both passes meet every bank once.
std::size_t points_of(std::size_t each) { return 16 * 17 + 16 / std::max<std::size_t>(each, 2); }

class Writer {
 public:
  explicit Writer(const KernelDesign& design)
      : d_(design),
        g_(design.geometry),
        each_(design.geometry.channels / kItems),
        points_(points_of(design.geometry.channels / kItems)) {}

  KernelText write() {
    const std::size_t lines = d_.steps * 2 * each_ * points_;
    const std::size_t kept = d_.local_weights ? g_.taps * g_.channels : 0;  // floats
    text_.line("// {} channels of {} taps, {}; {} spectra filtered at a time from raw rows", g_.channels, g_.taps,
               filterbank::to_string(g_.samples), d_.steps);
    text_.raw(conversion_text(g_.samples, 4));
    text_.raw(fft::on_device::butterfly_text({16, each_}, false));
    text_.raw("#define dft1(v)\n");
    text_.raw(finish_words(d_));
    text_.open(
        "KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}(GLOBAL const raw_t* RESTRICT in, GLOBAL float2* RESTRICT "
        "out, GLOBAL const float* RESTRICT weights, GLOBAL const float2* RESTRICT tables, GLOBAL const float2* "
        "RESTRICT factors, int origin, int newest, int spectra, ulong out_offset, int rounds, int within{})",
        kItems, d_.resident, kKernelName, delay_arguments(g_));
    text_.line("LOCAL_BLOCK(float2, points, {});", lines + 256 + kept / 2);
    text_.line("LOCAL float2* const roots = points + {};", lines);
    text_.line("const int item = LOCAL_ID(0);");
    if (d_.local_weights) {
      text_.line("LOCAL float* const kept = (LOCAL float*)(roots + 256);");
      text_.line("for (int i = item; i < {}; i += {}) kept[i] = LOAD_CACHED(weights + i);", kept, kItems);
    }
    text_.line("roots[item] = LOAD_CACHED(tables + item);");
    text_.line("const int station = (int)(GROUP_ID(0) % {}u);", g_.stations);
    text_.line("const int begin = (int)(GROUP_ID(0) / {}u) * {};", g_.stations,
               d_.rounds > 0 ? fmt::format("{}", d_.rounds * d_.steps) : fmt::format("{} * rounds", d_.steps));
    pointers();
    if (d_.local_weights) text_.line("BARRIER();");
    text_.open("for (int round = 0; round < {}; ++round)",
               d_.rounds > 0 ? fmt::format("{}", d_.rounds) : std::string("rounds"));
    text_.line("const int t = begin + round * {};", d_.steps);
    text_.line("int zero = 0;");
    text_.line("OPAQUE(zero);");
    filter();
    load(fmt::format("t + {}", d_.steps));
    text_.line("BARRIER();");
    first_pass();
    text_.line("BARRIER();");
    second_pass();
    text_.line("BARRIER();");
    text_.close();
    text_.close();
    return {{.name = fmt::format("filter bank {} x {}, blocks", g_.channels, g_.taps), .text = text_.str()},
            (lines + 256) * 2 * sizeof(float) + kept * sizeof(float)};
  }

 private:
  std::size_t row() const { return g_.stations * g_.channels; }
  std::string root(std::size_t r) const { return fmt::format("LOAD_CACHED(tables + {} + item)", 256 * r); }

  void pointers() {
    for (std::size_t j = 0; j < each_; ++j) {
      text_.line("const int moved{0} = item + {1}{2};", j, j * kItems,
                 g_.delayed ? " + LOAD_CACHED(shifts + station)" : "");
      // Rows count from the oldest that the spectrum 0 of the launch needs.
      text_.line("const int row{0} = origin / {1} + moved{0} / {1};", j, g_.channels);
      text_.line("GLOBAL const raw_t* const samples{0} = in + ((long)row{0} * {1} + station * {2} + moved{0} % {2});",
                 j, row(), g_.channels);
      text_.line("raw_t old{}[{}], fresh{}[{}];", j, std::max<std::size_t>(g_.taps - 1, 1), j, d_.steps);
      for (std::size_t i = 0; i + 1 < g_.taps; ++i) {
        text_.line(
            "old{0}[{1}] = row{0} + begin + {1} >= 0 && begin < spectra ? LOAD_CACHED(samples{0} + (long)(begin "
            "+ {1}) * {2}) : RAW_ZERO;",
            j, i, row());
      }
      if (j > 0 && each_ <= kHeldTurns) text_.line("const float2 turn{0} = {1};", j, root(j));
    }
    load("begin");
  }

  void load(const std::string& first) {
    text_.open();
    text_.line("const int from = {} + {};", first, g_.taps - 1);
    text_.open("if ({} + {} <= spectra{})", first, d_.steps, all_rows_there());
    each_row([&](std::size_t j, std::size_t s) {
      text_.line("fresh{0}[{1}] = LOAD_CACHED(samples{0} + ((long)from * {2} + {3}));", j, s, row(), s * row());
    });
    text_.close();
    text_.open("else");
    each_row([&](std::size_t j, std::size_t s) {
      text_.line(
          "fresh{0}[{1}] = {2} + {1} < spectra && row{0} + from + {1} >= 0 ? LOAD_CACHED(samples{0} + "
          "((long)from * {3} + {4})) : RAW_ZERO;",
          j, s, first, row(), s * row());
    });
    text_.close();
    text_.close();
  }
  std::string all_rows_there() const {
    std::string text;
    for (std::size_t j = 0; j < each_; ++j) text += fmt::format(" && row{} + from >= 0", j);
    return text;
  }
  template <class Take>
  void each_row(const Take& take) const {
    for (std::size_t j = 0; j < each_; ++j) {
      for (std::size_t s = 0; s < d_.steps; ++s) take(j, s);
    }
  }

  // --- the FIR: every row is converted once a block and goes into all sums that want it
  void filter() {
    const std::size_t taps = g_.taps, steps = d_.steps;
    for (std::size_t j = 0; j < each_; ++j) {
      text_.line("float sum{}[{}];", j, 4 * steps);
      text_.open();
      text_.line("float w[{}];", taps);
      for (std::size_t i = 0; i < taps; ++i) {
        const std::size_t at = i * g_.channels + g_.channels - 1 - j * kItems;
        const std::string value = d_.local_weights ? fmt::format("kept[zero + {} - item]", at)
                                                   : fmt::format("LOAD_CACHED(weights + zero + {} - item)", at);
        text_.line("w[{}] = {};", i, g_.centred ? fmt::format("(item & 1) ? -{0} : {0}", value) : value);
      }
      for (std::size_t row = 0; row < steps + taps - 1; ++row) {
        text_.open();
        text_.line("float x[4];");
        text_.line("convert({}, x);",
                   row + 1 < taps ? fmt::format("old{}[{}]", j, row) : fmt::format("fresh{}[{}]", j, row + 1 - taps));
        for (std::size_t s = row + 1 < taps ? 0 : row + 1 - taps; s < steps && s <= row; ++s) {
          const std::size_t tap = s + taps - 1 - row;
          for (std::size_t p = 0; p < 4; ++p) {
            if (tap + 1 == taps) {
              text_.line("sum{}[{}] = x[{}] * w[{}];", j, 4 * s + p, p, tap);
            } else {
              text_.line("sum{0}[{1}] = FMA(x[{2}], w[{3}], sum{0}[{1}]);", j, 4 * s + p, p, tap);
            }
          }
        }
        text_.close();
      }
      text_.close();
    }
    // The newest rows are the next block's old ones.
    for (std::size_t j = 0; j < each_; ++j) {
      for (std::size_t i = 0; i + 1 < taps; ++i) {
        const std::size_t at = i + steps;
        text_.line("old{0}[{1}] = {2};", j, i,
                   at + 1 < taps ? fmt::format("old{}[{}]", j, at) : fmt::format("fresh{}[{}]", j, at + 1 - taps));
      }
    }
    first_butterflies();
  }

  void first_butterflies() {
    text_.open();
    for (std::size_t r = 1; r < each_ && each_ > kHeldTurns; ++r) {
      text_.line("const float2 turn{0} = LOAD_CACHED(tables + zero + {1} + item);", r, 256 * r);
    }
    for (std::size_t s = 0; s < d_.steps; ++s) {
      for (std::size_t pol = 0; pol < 2; ++pol) {
        text_.open();
        text_.line("float2 v[{}];", each_);
        for (std::size_t j = 0; j < each_; ++j) {
          text_.line("v[{0}] = make_float2(sum{0}[{1}], sum{0}[{2}]);", j, 4 * s + 2 * pol, 4 * s + 2 * pol + 1);
        }
        text_.line("dft{}(v);", each_);
        for (std::size_t r = 0; r < each_; ++r) {
          text_.line("points[{} + item + item / 16] = {};", ((s * 2 + pol) * each_ + r) * points_,
                     r == 0 ? std::string("v[0]") : fmt::format("multiply(v[{0}], turn{0})", r));
        }
        text_.close();
      }
    }
    text_.close();
  }

  // --- the transforms of 256 points
  std::size_t transforms() const { return d_.steps * 2 * each_; }

  // Butterfly i of a transform reads and writes points i + 16 u.
  void first_pass() {
    for (std::size_t turn = 0; turn < transforms() / 16; ++turn) {
      text_.open();
      text_.line("LOCAL float2* const at = points + (item / 16 + {}) * {} + item % 16;", turn * 16, points_);
      text_.line("float2 v[16];");
      for (std::size_t u = 0; u < 16; ++u) text_.line("v[{}] = at[{}];", u, 17 * u);
      text_.line("dft16(v);");
      text_.line("at[0] = v[0];");
      for (std::size_t u = 1; u < 16; ++u) {
        text_.line("at[{}] = multiply(v[{}], roots[item % 16 + {}]);", 17 * u, u, 16 * u);
      }
      text_.close();
    }
  }

  // Butterfly u has points 16 u .. 16 u + 15 and gives k' = u + 16 i; neighbouring items have neighbouring channels.
  void second_pass() {
    const std::size_t items = 16 * each_;  // of a line
    for (std::size_t turn = 0; turn < transforms() / 16; ++turn) {
      text_.open();
      text_.line("const int b = item + {}, line = b / {}, r = b % {}, u = b / {} % 16;", turn * kItems, items, each_,
                 each_);
      text_.line("LOCAL const float2* const at = points + (line * {} + r) * {} + u * 17;", each_, points_);
      text_.line("float2 v[16];");
      for (std::size_t i = 0; i < 16; ++i) text_.line("v[{0}] = at[{0}];", i);
      text_.line("dft16(v);");
      text_.line("const int pol = line % 2, time = t + line / 2, k = u * {} + r;", each_);
      text_.open("if (time < spectra)");
      text_.line("GLOBAL float2* const to = out + (out_offset + {});", place_text(g_, "time", "k"));
      open_finish(text_, d_, "time");
      for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t more = 16 * each_ * i;
        text_.line("STORE_ONCE(to + {}, {});", more,
                   finished(d_, fmt::format("v[{}]", i), fmt::format("(k + {})", more)));
      }
      text_.close();
      text_.close();
    }
  }

  const KernelDesign& d_;
  const Geometry& g_;
  std::size_t each_;    // channels of an item
  std::size_t points_;  // from a transform to the next
  Text text_;
};

}  // namespace

KernelText block_text(const KernelDesign& design) { return Writer(design).write(); }

std::vector<std::complex<float>> block_tables(const KernelDesign& design) {
  const std::size_t channels = design.geometry.channels;
  std::vector<std::complex<float>> table;
  const auto root = [&](std::size_t number, std::size_t of) {
    table.emplace_back(std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(number) / static_cast<double>(of)));
  };
  for (std::size_t u = 0; u < 16; ++u) {
    for (std::size_t i = 0; i < 16; ++i) root(u * i, 256);
  }
  for (std::size_t r = 1; r < channels / 256; ++r) {
    for (std::size_t c = 0; c < 256; ++c) root(c * r, channels);
  }
  return table;
}

}  // namespace ridge::filterbank::on_device
