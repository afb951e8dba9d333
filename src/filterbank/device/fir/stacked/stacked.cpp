// Kernel text of the `stacked` FIR: the FIR of 512 channels on the matrix units, 16 spectra at a time. One matrix
// product computes the 64 values of a channel (16 spectra, two polarizations, real and imaginary part). Its 16 rows are
// 8 consecutive spectra, computed with the upper and then with the lower float16 parts of the weights. Its 8 columns
// are the real and imaginary parts of both polarizations for two groups of 8 spectra. A warp has the channels that are
// 16 apart, so that a lane holds 32 points of one spectrum. It transforms them in registers and writes 16 of them at a
// time to local memory for the transforms across the warps.
//
// The FIR of 8 spectra with up to 16 taps reads 23 rows of samples, in three groups of 8. The weights of the first and
// of the last group share one word, and a mask selects those of either group.
#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/fir/matrix_weights.hpp"
#include "filterbank/device/fir/power_codegen.hpp"

namespace ridge::filterbank::on_device {

extern const Fir kStackedFir;

namespace {

constexpr std::size_t kWarps = 16, kWords = 16;  // of a channel's weights
// Pitch of half a row, or of whole rows when half as many are exchanged: no bank conflicts for lanes or work-items.
constexpr std::size_t kHalfLine = 16 * 17 + 1, kWholeLine = 32 * 17 + 1;

// Power rows per unit.
std::size_t stacked_power_rows(const KernelDesign& design) { return design.products == Products::total ? 16 : 8; }

class StackedWriter {
 public:
  explicit StackedWriter(const KernelDesign& design)
      : d_(design),
        g_(design.geometry),
        each_(g_.channels / kWarps),
        row_(4 * g_.channels + 4),
        power_(text_, design, 16, each_) {}

  KernelText write() {
    const std::size_t ring = 8 * row_, weights = 2 * kWords * g_.channels;
    const std::size_t read_barrier = ring + weights + 2 * g_.channels + 2 * 32 * kHalfLine;
    const std::size_t squares = (read_barrier + 2 + 3) / 4 * 4;
    const std::size_t whole = d_.local_squares > 0 ? squares + d_.local_squares * d_.items : read_barrier + 2;
    text_.line("// {} channels of {} taps, int8, on the matrix units, float16 parts of the weights stacked",
               g_.channels, g_.taps);
    text_.raw(conversion_text(g_.samples, 4));
    text_.raw(codegen::matrix_macros_text(d_.items));
    text_.raw(ridge::detail::kernel_text("codegen/prefetch_l2"));
    text_.raw(fmt::format("#define WARPS {}\n", kWarps));
    text_.raw(ridge::detail::kernel_text("codegen/partial_barriers"));
    text_.raw(codegen::butterfly_text({16, each_}, false, codegen::Roots::in_sums));
    text_.raw(finish_macros(d_));
    const char* const kernel = d_.summed > 0 ? kSplitKernelName : kKernelName;
    text_.open(
        "KERNEL WORK_GROUP_RESIDENT({}, 1, 1, 1) void {}(GLOBAL const raw_t* RESTRICT in, GLOBAL float2* RESTRICT out, "
        "GLOBAL const uint* RESTRICT all_weights, GLOBAL const float2* RESTRICT all_tables, GLOBAL const float2* "
        "RESTRICT factors, int origin, int newest, int spectra, ulong out_offset, int rounds, int skipped)",
        d_.items, kernel);
    text_.line("LOCAL_BLOCK(uint, ring, {} + EMULATION_WORDS);", whole);
    text_.line("LOCAL uint* const weights = ring + {};", ring);
    text_.line("LOCAL float2* const tables = (LOCAL float2*)(weights + {});", weights);
    text_.line("LOCAL float2* const points = tables + {};", g_.channels);
    text_.line("LOCAL uint* const read_barrier = ring + {};", read_barrier);
    text_.line("FRAGMENTS(ring + {})", whole);
    text_.line("const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32, g = lane / 4, tig = lane % 4;");
    text_.line("const int station = (int)(GROUP_ID(0) % {}u);", g_.stations);
    text_.line("const int begin = (int)(GROUP_ID(0) / {}u) * {};", g_.stations,
               d_.rounds > 0 ? fmt::format("{}", d_.rounds * d_.steps) : fmt::format("{} * rounds", d_.steps));
    text_.line("for (int i = item; i < {}; i += {}) weights[i] = LOAD_CACHED(all_weights + i);", weights, d_.items);
    text_.line("tables[item] = LOAD_CACHED(all_tables + item);");
    places();
    text_.line("raw_t fresh[16];");
    load("begin - 16");
    put("0");
    load("begin");
    put("1");
    prefetch("begin + 16");
    if (d_.summed > 0) text_.line("if (item == 0) READ_BARRIER_INIT(read_barrier);");
    text_.line("BARRIER();");
    power_.declare_local(fmt::format("ring + {}", squares));
    if (d_.summed > 0) power_.declare();
    text_.open("for (int round = 0; round < {}; ++round)",
               d_.rounds > 0 ? fmt::format("{}", d_.rounds) : std::string("rounds"));
    text_.line("const int t = begin + round * {};", d_.steps);
    text_.line("float2 v[{}];", each_);
    products();
    butterflies();
    // Not earlier, because the products need all registers. The rows are in the L2 cache by now.
    load("t + 16");
    wait_for_points(0);
    store_points(0);
    text_.line("BARRIER();");
    put("round % 2");
    prefetch("t + 32");
    finish_points(0);
    wait_for_points(1);
    store_points(1);
    text_.line("BARRIER();");
    finish_points(1);
    if (d_.summed > 0) store_power();
    text_.close();
    text_.close();
    return {{.name = fmt::format("filter bank {} x {}, matrix, stacked", g_.channels, g_.taps), .text = text_.str()},
            whole * 4,
            kernel};
  }

 private:
  std::size_t stride() const { return g_.stations * g_.channels; }

  void places() {
    text_.line("const int row0 = origin / {} + {};", g_.channels, g_.taps - 1);
    text_.line("GLOBAL const raw_t* const samples = in + ((long)row0 * {} + station * {} + item);", stride(),
               g_.channels);
    text_.line("const int e = 2 * tig - g;");
    text_.line("LOCAL const uint2* const outer = (LOCAL const uint2*)weights + (warp * {} + (e & 15));", kWords);
    text_.line("LOCAL const uint2* const middle = (LOCAL const uint2*)weights + (warp * {} + e + 8);", kWords);
    text_.line("const uint early = e > 0 ? 0xffffffffu : e < 0 ? 0u : 0xffff0000u;");
    // The second group of 8 times starts 8 rows later.
    text_.line("const uint firsts = g < 4 ? 0x3210u : 0x5432u, lasts = g < 4 ? 0x4140u : 0x4342u;");
    text_.line("const int column = tig * {} + warp * 4 + g % 4;", row_);
    if (d_.summed == 0) text_.line("const int line = item / 16, r = item % 16;");
  }

  // Loads 16 rows of the item's channel.
  void load(const std::string& first) {
    text_.open();
    text_.line("const int time = {};", first);
    text_.line("GLOBAL const raw_t* const from = samples + (long)time * {};", stride());
    text_.open("if (row0 + time >= 0 && time + 16 <= spectra)");
    for (std::size_t i = 0; i < 16; ++i) text_.line("fresh[{}] = LOAD_CACHED(from + {});", i, i * stride());
    text_.close();
    text_.open("else");
    for (std::size_t i = 0; i < 16; ++i) {
      text_.line("fresh[{0}] = row0 + time >= -{0} && time < spectra - {0} ? LOAD_CACHED(from + {1}) : RAW_ZERO;", i,
                 i * stride());
    }
    text_.close();
    text_.close();
  }

  // Prefetches the warp's part of 16 rows, one row per lane.
  void prefetch(const std::string& first) {
    text_.open();
    text_.line("const int time = {} + lane % 16;", first);
    text_.line("if (row0 + time >= 0 && time < spectra) PREFETCH_L2(samples + (long)time * {} - lane);", stride());
    text_.close();
  }

  // Stores one half of the ring: rows 2 p and 2 p + 1 of both groups of 8, in offset binary (sign bits inverted).
  void put(const std::string& half) {
    for (std::size_t p = 0; p < 4; ++p) {
      text_.open();
      for (const auto& [name, at] : {std::pair{'a', 2 * p}, {'b', 2 * p + 1}, {'c', 8 + 2 * p}, {'d', 9 + 2 * p}}) {
        text_.line("const uint {} = fresh[{}] ^ 0x80808080u;", name, at);
      }
      text_.line("const uint ab = PICK_BYTES(a, b, 0x5140u), cd = PICK_BYTES(c, d, 0x5140u);");
      text_.line("const uint later_ab = PICK_BYTES(a, b, 0x7362u), later_cd = PICK_BYTES(c, d, 0x7362u);");
      text_.line(
          "*(LOCAL uint4*)(ring + (({} * 4 + {}) * {} + item * 4)) = make_uint4(PICK_BYTES(ab, cd, 0x5410u), "
          "PICK_BYTES(ab, cd, 0x7632u), PICK_BYTES(later_ab, later_cd, 0x5410u), PICK_BYTES(later_ab, later_cd, "
          "0x7632u));",
          half, p, row_);
      text_.close();
    }
  }

  void products() {
    text_.line("LOCAL const uint* const older = ring + (round % 2 * {} + column);", 4 * row_);
    text_.line("LOCAL const uint* const newer = ring + ((round + 1) % 2 * {} + column);", 4 * row_);
    text_.line("UNROLL_PRODUCTS");
    text_.open("for (int j = 0; j < {}; ++j)", each_);
    text_.line("const uint last = newer[j * {0}], two = PICK_BYTES(older[j * {0}], last, firsts);", 4 * kWarps);
    for (const auto& [name, word, pick] :
         {std::tuple{"x0", "two", "0x4140u"}, {"x1", "two", "0x4342u"}, {"x2", "last", "lasts"}}) {
      // A byte in the mantissa of the float16 number 1024 makes 1024 + byte; subtracts 1024 and offset binary's 128.
      text_.line("const uint {} = float16x2_fma(PICK_BYTES({}, 0x64646464u, {}), 0x3c003c00u, 0xe480e480u);", name,
                 word, pick);
    }
    text_.line("const uint2 o = outer[j * {0}], m = middle[j * {0}];", kWarps * kWords);
    text_.line("float d[4] = {{0.0f, 0.0f, 0.0f, 0.0f}};");
    text_.line("matrix_multiply_16(d, o.x & early, o.y & early, o.x & ~early, o.y & ~early, x0, x2);");
    text_.line("matrix_multiply_8(d, m.x, m.y, x1);");
    text_.line("v[j] = make_float2(d[0] + d[2], d[1] + d[3]);");
    text_.close();
  }

  // Butterflies over the lane's channels, and their twiddle factors, which are the same for all lanes.
  void butterflies() {
    text_.line("dft{}(v);", each_);
    for (std::size_t u = 0; u < each_; u += 2) {
      text_.open();
      text_.line("const float4 roots = *(LOCAL const float4*)(tables + warp * {} + {});", each_, u);
      if (u == 0) {
        text_.line("v[0] = scaled(v[0], roots.x);");
      } else {
        text_.line("v[{0}] = multiply(v[{0}], make_float2(roots.x, roots.y));", u);
      }
      text_.line("v[{0}] = multiply(v[{0}], make_float2(roots.z, roots.w));", u + 1);
      text_.close();
    }
  }

  void store_points(std::size_t half) {
    if (d_.summed > 0) return store_lines(half);
    for (std::size_t u = 0; u < 16; ++u) {
      text_.line("points[lane * {} + {} + warp] = v[{}];", kHalfLine, 17 * u, 16 * half + u);
    }
  }

  // Rows are in the order of the lanes that wrote them: time within its group of 8, group, polarization.
  void finish_points(std::size_t half) {
    if (d_.summed > 0) return finish_lines(half);
    text_.open();
    text_.line("LOCAL const float2* const from = points + (line * {} + r * 17);", kHalfLine);
    last_butterfly();
    text_.line("const int pol = line % 2, time = t + line % 4 / 2 * 8 + line / 4, k = r + {};", 16 * half);
    text_.open("if (time >= skipped && time < spectra)");
    open_output(text_, d_, place_text(g_, "time", "k"));
    open_finish(text_, d_, "time");
    for (std::size_t i = 0; i < 16; ++i) {
      text_.line("STORE_ONCE(to + {}, {});", each_ * i,
                 finished(d_, fmt::format("v[{}]", i), fmt::format("(k + {})", each_ * i)));
    }
    text_.close();
    text_.close();
  }

  // For power, a warp that has read its points continues and waits for the other warps only before it writes new ones.
  // For spectra the stores limit all warps, so a plain barrier suffices.
  void wait_for_points(int half) {
    text_.line("{};", d_.summed > 0 ? fmt::format("READ_BARRIER_WAIT(read_barrier, {})", half) : "BARRIER()");
  }

  void last_butterfly() {
    text_.line("float2 v[16];");
    for (std::size_t i = 0; i < 16; ++i) text_.line("v[{0}] = from[{0}];", i);
    if (d_.summed > 0) text_.line("READ_BARRIER_ARRIVE(read_barrier);");
    text_.line("dft16(v);");
  }

  // For power, alternate groups of four times are exchanged as whole rows, so that a work-item has the same 16 channels
  // both times.
  void store_lines(std::size_t half) {
    text_.open("if (lane / 16 == {})", half);
    for (std::size_t u = 0; u < each_; ++u) {
      text_.line("points[lane % 16 * {} + {} + warp] = v[{}];", kWholeLine, 17 * u, u);
    }
    text_.close();
  }

  void finish_lines(std::size_t half) {
    text_.open();
    text_.line("LOCAL const float2* const from = points + (warp * {} + lane * 17);", kWholeLine);
    last_butterfly();
    text_.line("const int pol = warp % 2, time = t + warp % 4 / 2 * 8 + warp / 4 + {};", 4 * half);
    open_finish(text_, d_, "time");
    power_.add("lane");
    text_.close();
  }

  // Each warp has one polarization.
  void store_power() {
    const bool total = d_.products == Products::total;
    text_.open("if ((round + 1) % {} == 0)", d_.unit / d_.steps);
    text_.open("if (t < spectra)");
    power_.store(fmt::format("t / {} * {} + {}", d_.unit, stacked_power_rows(d_), total ? "warp" : "warp / 2"),
                 total ? "0" : "warp % 2", "lane");
    text_.close();
    power_.clear();
    text_.close();
  }

  const KernelDesign& d_;
  const Geometry& g_;
  std::size_t each_;  // channels per lane
  std::size_t row_;   // words per pair of rows of both groups of 8
  codegen::Text text_;
  PowerWriter power_;
};

KernelText stacked_text(const KernelDesign& design) { return StackedWriter(design).write(); }

std::size_t stacked_local_squares(const KernelDesign&) { return 16; }

bool sum_stacked(KernelDesign& design, std::size_t times) {
  return sum_whole_iterations(design, times, stacked_power_rows(design));
}

FirWeights stacked_weights(const KernelDesign& design, std::span<const double> prototype) {
  const Geometry& g = design.geometry;
  return matrix_weights(g, {.cyclic_words = kWords, .first_points = g.channels / kWarps}, prototype);
}

// 512 channels, 9 to 16 taps, two polarizations of bytes, critical sampling, no delays. CUDA only.
void list_stacked(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  const bool serves = g.critical() && g.polarizations == 2 && g.samples == Samples::int8 && g.block == g.channels &&
                      g.channels == 512 && g.taps > 8 && g.taps <= 16 && !g.by_channel && !g.delayed;
  if (!serves || device.info().backend != Backend::cuda || !device.limits().matrix_units) return;
  add_first_fitting(device, problem, g, kStackedFir, {{512, 16}}, all);
}

}  // namespace

extern const Fir kStackedFir{.name = "stacked",
                             .list = list_stacked,
                             .text = stacked_text,
                             .weights = stacked_weights,
                             .sum_power = sum_stacked,
                             .local_squares = stacked_local_squares,
                             .start_multiple = 8};

}  // namespace ridge::filterbank::on_device
