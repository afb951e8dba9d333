// Kernel text of the `alternating` FIR for 512 or 1024 channels of bytes. Every work-item filters the first
// polarization of its channels, then the second. Half of the warps transform the rows of the first polarization, the
// other half those of the second. Between writing a row and reading one, a warp filters the other polarization, so that
// it hardly waits at the barriers.
//
// A work-item has the channels that are 512 apart and filters a block of spectra from raw rows in registers, as in
// `blocks`. Transforms of 512 points remain, two per warp: radix 32, then 16.
#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/fir/fir.hpp"

namespace ridge::filterbank::on_device {

extern const Fir kAlternatingFir;

namespace {

class AlternatingWriter {
 public:
  explicit AlternatingWriter(const KernelDesign& design)
      : d_(design), g_(design.geometry), each_(g_.channels / kItems), rows_(g_.taps - 1 + design.steps) {}

  KernelText write() {
    const std::size_t lines = 2 * kTransforms * kPoints, weights = (g_.taps + 3) / 4 * 4 * g_.channels;  // floats
    const std::size_t whole = lines + roots() + weights / 2 + 4;
    text_.line("// {} channels of {} taps, int8; {} spectra of a polarization at a time", g_.channels, g_.taps,
               d_.steps);
    text_.raw(conversion_text(g_.samples, 4));
    text_.raw(ridge::detail::kernel_text("filterbank/packed_rows"));
    text_.raw(codegen::butterfly_text({32}, false, codegen::Roots::in_sums));
    text_.raw(codegen::twiddled_butterfly_text(16));
    text_.raw(finish_macros(d_));
    text_.open(
        "KERNEL WORK_GROUP_RESIDENT({}, 1, 1, 1) void {}(GLOBAL const raw_t* RESTRICT in, GLOBAL float2* RESTRICT out, "
        "GLOBAL const float* RESTRICT all_weights, GLOBAL const float2* RESTRICT tables, GLOBAL const float2* RESTRICT "
        "factors, int origin, int newest, int spectra, ulong out_offset, int rounds, int within)",
        kItems, kSplitKernelName);
    text_.line("LOCAL_BLOCK(float2, points, {});", whole);
    text_.line("LOCAL float2* const roots = points + {};", lines);
    text_.line("LOCAL float* const weights = (LOCAL float*)(roots + {});", roots());
    // Barriers per polarization: its rows have been written; its rows have been read.
    text_.line("LOCAL ulong* const full = (LOCAL ulong*)(roots + {});", roots() + weights / 2);
    text_.line("LOCAL ulong* const empty = full + 2;");
    text_.line("const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32, side = warp / {};", kSide);
    text_.line("for (int i = item; i < {0}; i += {1}) weights[(i / {2} / 4 * {2} + i % {2}) * 4 + i / {2} % 4] = {3};",
               g_.taps * g_.channels, kItems, g_.channels, weight());
    text_.line("for (int i = item; i < {}; i += {}) roots[i] = LOAD_CACHED(tables + i);", roots(), kItems);
    text_.line("const int station = (int)(GROUP_ID(0) % {}u);", g_.stations);
    const std::string rounds = d_.rounds > 0 ? fmt::format("{}", d_.rounds) : std::string("rounds");
    text_.line("const int begin = (int)(GROUP_ID(0) / {}u) * {} * {};", g_.stations, d_.steps, rounds);
    first_rows();
    text_.open("if (item == 0)");
    for (std::size_t p = 0; p < 2; ++p) {
      text_.line("MBARRIER_INIT(full + {}, {});", p, kWarps);
      text_.line("MBARRIER_INIT(empty + {}, {});", p, kSide);
    }
    text_.close();
    text_.line("BARRIER();");
    text_.line("_Pragma(\"unroll 1\")");
    // The second polarization is transformed after the FIR of the next block's first polarization.
    text_.open("for (int round = 0; round <= {}; ++round)", rounds);
    text_.line("const int t = begin + round * {};", d_.steps);
    text_.open("if (round < {})", rounds);
    filter(0);
    text_.close();
    text_.open("if (side == 1 && round > 0)");
    transform(1);
    text_.close();
    text_.open("if (round < {})", rounds);
    filter(1);
    text_.open("if (side == 0)");
    transform(0);
    text_.close();
    text_.close();
    text_.close();
    text_.close();
    return {KernelSource{.name = fmt::format("filter bank {} x {}, alternating", g_.channels, g_.taps),
                         .text = text_.str()},
            whole * 2 * sizeof(float), kSplitKernelName};
  }

 private:
  static constexpr std::size_t kItems = 512, kWarps = 16, kSide = 8;  // warps per polarization
  static constexpr std::size_t kPoints = 32 * 17 + 8;                 // pitch of a transform, without bank conflicts
  static constexpr std::size_t kTransforms = 16;                      // per polarization and block
  static constexpr std::size_t kRoots = 32 * 8;

  std::size_t roots() const { return kRoots + (each_ - 1) * kItems; }
  std::size_t stride() const { return g_.stations * g_.channels; }
  std::string weight() const {
    const std::string value =
        fmt::format("LOAD_CACHED(all_weights + (i / {0} * {0} + {1} - i % {0}))", g_.channels, g_.channels - 1);
    return g_.centred ? fmt::format("(i & 1) ? -{0} : {0}", value) : value;
  }

  // Rows are in order of time; row 0 is the oldest row of the block's first spectrum.
  void first_rows() {
    text_.line("const int row0 = origin / {};", g_.channels);
    text_.line("GLOBAL const raw_t* const samples = in + ((long)row0 * {} + (station * {} + item));", stride(),
               g_.channels);
    for (std::size_t j = 0; j < each_; ++j) {
      text_.line("uint rows{}[{}];", j, rows_);
      for (std::size_t i = 0; i < rows_; ++i) {
        text_.line(
            "rows{0}[{1}] = OFFSET_BINARY(row0 + begin + {1} >= 0 && begin + {1} < spectra + {2} ? LOAD_CACHED(samples "
            "+ {3} "
            "+ (long)(begin + {1}) * {4}) : RAW_ZERO);",
            j, i, g_.taps - 1, j * kItems, stride());
      }
    }
  }

  // The next block's rows replace this block's oldest rows, which are no longer needed.
  void load(std::size_t j) {
    text_.open();
    text_.line("const int next = t + {}, from = next + {};", d_.steps, g_.taps - 1);
    text_.open("if (next + {} <= spectra && row0 + from >= 0)", d_.steps);
    for (std::size_t i = 0; i < d_.steps; ++i) text_.line("rows{}[{}] = {};", j, i, row(j, i));
    text_.close();
    text_.open("else");
    for (std::size_t i = 0; i < d_.steps; ++i) {
      text_.line("rows{0}[{1}] = next + {1} < spectra && row0 + from + {1} >= 0 ? {2} : RAW_ZERO;", j, i, row(j, i));
    }
    text_.close();
    text_.close();
  }
  std::string row(std::size_t j, std::size_t i) const {
    return fmt::format("LOAD_CACHED(samples + {} + ((long)from * {} + {}))", j * kItems, stride(), i * stride());
  }
  void in_order() {
    text_.open("if (round > 0)");
    for (std::size_t j = 0; j < each_; ++j) {
      text_.open();
      text_.line("uint next[{}];", d_.steps);
      for (std::size_t i = 0; i < d_.steps; ++i) text_.line("next[{0}] = rows{1}[{0}];", i, j);
      for (std::size_t i = 0; i + 1 < g_.taps; ++i) text_.line("rows{0}[{1}] = rows{0}[{2}];", j, i, i + d_.steps);
      for (std::size_t i = 0; i < d_.steps; ++i) {
        text_.line("rows{}[{}] = OFFSET_BINARY(next[{}]);", j, g_.taps - 1 + i, i);
      }
      text_.close();
    }
    text_.close();
  }

  void filter(std::size_t pol) {
    if (pol == 0) in_order();
    text_.line("int zero = 0;");
    text_.line("OPAQUE(zero);");
    for (std::size_t j = 0; j < each_; ++j) text_.line("float2 sum{}[{}];", j, d_.steps);
    for (std::size_t j = 0; j < each_; ++j) filter_channel(j, pol);
    if (each_ == 2) text_.line("const float2 twiddle = roots[zero + {} + item];", kRoots);
    store_points(pol);
  }

  void filter_channel(std::size_t j, std::size_t pol) {
    const std::size_t taps = g_.taps, steps = d_.steps;
    text_.open();
    text_.line("float w[{}];", (taps + 3) / 4 * 4);
    // The oldest row needs only the last weight, and each following row one more: weights are loaded in fours, three
    // rows ahead.
    load_weights(j, (taps - 1) / 4);
    for (std::size_t r = 1; r < 3; ++r) load_weights_of_row(j, r);
    for (std::size_t r = 0; r < rows_; ++r) {
      load_weights_of_row(j, r + 3);
      text_.open();
      for (const auto& [name, byte] : {std::pair{'x', 2 * pol}, {'y', 2 * pol + 1}}) {
        text_.line("const float {} = AS_FLOAT(PICK_BYTES(rows{}[{}], 0x4b000000u, 0x744{}u)) - 8388736.0f;", name, j, r,
                   byte);
      }
      for (std::size_t s = r + 1 < taps ? 0 : r + 1 - taps; s < steps && s <= r; ++s) {
        const std::size_t tap = s + taps - 1 - r;
        const std::string w = fmt::format("w[{}]", tap), sum = fmt::format("sum{}[{}]", j, s);
        if (tap + 1 == taps && j == 0) {
          text_.line("{0} = make_float2(x * {1}, y * {1});", sum, w);
        } else {
          // The second channel's sum starts from the first channel's, which gives the radix-2 sum.
          const std::string before = tap + 1 == taps ? fmt::format("sum0[{}]", s) : sum;
          text_.line("{0} = make_float2(FMA(x, {1}, {2}.x), FMA(y, {1}, {2}.y));", sum, w, before);
        }
      }
      text_.close();
      if (r + 1 == steps && pol == 1) load(j);
    }
    text_.close();
  }

  void load_weights_of_row(std::size_t j, std::size_t r) {
    if (r < g_.taps && (g_.taps - 1 - r) % 4 == 3) load_weights(j, (g_.taps - 1 - r) / 4);
  }
  void load_weights(std::size_t j, std::size_t four) {
    text_.open();
    text_.line("const float4 four = *(LOCAL const float4*)(weights + (zero + {} + item * 4));",
               4 * (four * g_.channels + j * kItems));
    for (std::size_t i = 0; i < 4; ++i) text_.line("w[{}] = four.{};", 4 * four + i, "xyzw"[i]);
    text_.close();
  }

  void store_points(std::size_t pol) {
    text_.line("MBARRIER_WAIT(empty + {}, (round + 1) & 1);", pol);
    text_.line("LOCAL float2* const target = points + ({} + item + item / 16);", pol * kTransforms * kPoints);
    for (std::size_t s = 0; s < d_.steps; ++s) {
      if (each_ == 1) {
        text_.line("target[{}] = sum0[{}];", s * kPoints, s);
      } else {
        // The difference is twice the first value minus the sum.
        text_.line("target[{}] = sum1[{}];", 2 * s * kPoints, s);
        text_.line(
            "target[{0}] = multiply(make_float2(FMA(2.0f, sum0[{1}].x, -sum1[{1}].x), FMA(2.0f, sum0[{1}].y, "
            "-sum1[{1}].y)), twiddle);",
            (2 * s + 1) * kPoints, s);
      }
    }
    arrive(fmt::format("full + {}", pol));
  }
  void arrive(const std::string& at) {
    text_.line("SUB_GROUP_BARRIER();");
    text_.line("if (lane == 0) MBARRIER_ARRIVE({});", at);
  }

  void transform(std::size_t pol) {
    text_.line("const int pol = {}, block = {};", pol, pol == 0 ? "round" : "round - 1");
    text_.line("MBARRIER_WAIT(full + {}, block & 1);", pol);
    text_.line("LOCAL float2* const line = points + warp * {};", 2 * kPoints);
    text_.open();
    text_.line("LOCAL float2* const at = line + (lane / 16 * {} + lane % 16);", kPoints);
    text_.line("float2 v[32];");
    for (std::size_t u = 0; u < 32; ++u) text_.line("v[{}] = at[{}];", u, 17 * u);
    text_.line("dft32(v);");
    for (std::size_t u = 0; u < 32; ++u) text_.line("at[{}] = v[{}];", 17 * u, u);
    text_.close();
    text_.line("SUB_GROUP_BARRIER();");
    text_.line("_Pragma(\"unroll 1\")");
    text_.open("for (int iteration = 0; iteration < 2; ++iteration)");
    const std::string block = fmt::format("begin + block * {} + warp % {}", d_.steps, kSide);
    // The two transforms of a warp are two spectra, or the even and odd channels of one.
    if (each_ == 1) {
      text_.line("const int u = lane, from = iteration, k = lane, time = {} * 2 + iteration;", block);
    } else {
      text_.line("const int k = lane + iteration * 32, from = k % 2, u = k / 2, time = {};", block);
    }
    text_.line("LOCAL const float2* const at = line + (from * {} + u * 17);", kPoints);
    text_.line("float2 v[16];");
    for (std::size_t i = 0; i < 16; ++i) text_.line("v[{0}] = at[{0}];", i);
    text_.open("if (iteration == 1)");
    arrive(fmt::format("empty + {}", pol));
    text_.close();
    text_.line("int same = u * 8;");
    text_.line("OPAQUE(same);");
    text_.line("float2 root[8];");
    for (std::size_t i = 0; i < 8; ++i) text_.line("root[{0}] = roots[same + {0}];", i);
    text_.line("twiddled16(v, root);");
    text_.open("if (time < spectra)");
    open_output(text_, d_, place_text(g_, "time", "k"));
    open_finish(text_, d_, "time");
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t more = 32 * each_ * i;
      text_.line("STORE_ONCE(to + {}, {});", more,
                 finished(d_, fmt::format("v[{}]", i), fmt::format("(k + {})", more)));
    }
    text_.close();
    text_.close();
  }

  const KernelDesign& d_;
  const Geometry& g_;
  std::size_t each_;  // channels per work-item
  std::size_t rows_;  // per block
  codegen::Text text_;
};

KernelText alternating_text(const KernelDesign& design) { return AlternatingWriter(design).write(); }

// 512 or 1024 channels, 9 to 16 taps, two polarizations of bytes, critical sampling, no delays. CUDA from Hopper on.
void list_alternating(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  const bool serves = g.critical() && g.polarizations == 2 && g.samples == Samples::int8 && g.block == g.channels &&
                      (g.channels == 512 || g.channels == 1024) && g.taps > 8 && g.taps <= 16 && !g.by_channel &&
                      !g.delayed;
  if (!serves || device.info().backend != Backend::cuda || device.limits().architecture < 90) return;
  add_first_fitting(device, problem, g, kAlternatingFir, {{512, 8192 / g.channels}}, all);
}

}  // namespace

// The first block has nothing to transform and the last has nothing to filter: 18 us at 6.4 to 6.8 us per block on an
// H200.
extern const Fir kAlternatingFir{.name = "alternating",
                                 .list = list_alternating,
                                 .text = alternating_text,
                                 .tables = block_tables,
                                 .idle_blocks = 2.7};

}  // namespace ridge::filterbank::on_device
