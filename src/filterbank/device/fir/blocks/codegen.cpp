// Kernel text of the `blocks` FIR for many channels, without a delay line of floats. With N work-items (256 or 512), an
// item has the channels that are N apart. It filters a block of spectra from raw rows in registers and computes the
// first butterfly over its own channels. Transforms of N points remain: a pass of radix N / 16 and one of radix 16, in
// place.
//
// With two parts, a group has one polarization, so that twice as many groups fit a compute unit and one can filter
// while another transforms. Two rows of bytes then share a register.
//
// With C = N R, input channel c + N j and output channel R k' + r:
//   X[R k' + r] = sum over c of W_N^(c k') [ W_C^(c r) sum over j of W_R^(j r) x[c + N j] ]
#include <algorithm>

#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/fir/blocks/blocks.hpp"
#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/fir/lines_codegen.hpp"
#include "filterbank/device/fir/power_codegen.hpp"

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kWeightsAhead = 4;  // rows between loading a weight and using it
constexpr std::size_t kHeldTwiddles =
    4;  // with more channels per item its twiddle factors are reloaded instead of kept

// Pitch of a transform in local memory, without bank conflicts in either pass.
std::size_t points_of(std::size_t items, std::size_t each) {
  return items / 16 * 17 + 16 / std::max<std::size_t>(each, 2);
}

class BlockWriter {
 public:
  explicit BlockWriter(const KernelDesign& design)
      : d_(design),
        g_(design.geometry),
        each_(design.geometry.channels / design.items),
        first_(design.items / 16),
        polarizations_(design.parts / 2),
        packed_(design.parts == 2 && design.geometry.samples == Samples::int8),
        offset_binary_(design.parts == 4 && design.geometry.samples == Samples::int8),
        held_(packed_ ? (design.geometry.taps / 2) * 2 : design.geometry.taps - 1),
        points_(points_of(design.items, design.geometry.channels / design.items)),
        power_(text_, design, 16, design.geometry.channels / 16) {}

  KernelText write() {
    const std::size_t lines = transforms() * points_;
    const std::size_t kept = g_.taps * row_kept();  // floats
    const std::size_t used = (lines + roots() + kept / 2 + 1 + 1) / 2 * 2, squares = d_.local_squares * d_.items / 2;
    text_.line("// {} channels of {} taps, {}; {} spectra filtered at a time from raw rows", g_.channels, g_.taps,
               ridge::to_string(g_.samples), d_.steps);
    text_.raw(conversion_text(g_.samples, d_.parts));
    if (packed_ || offset_binary_) text_.raw(ridge::detail::kernel_text("filterbank/packed_rows"));
    text_.raw(ridge::detail::kernel_text("codegen/prefetch_l2"));
    text_.raw(fmt::format("#define WARPS {}\n", d_.items / 32));
    text_.raw(ridge::detail::kernel_text("codegen/partial_barriers"));
    text_.raw(codegen::butterfly_text({first_, each_}, false, codegen::Roots::in_sums));
    text_.raw(codegen::twiddled_butterfly_text(16));
    text_.raw("#define dft1(v)\n");
    text_.raw(finish_macros(d_));
    const char* const kernel = counted() ? kSplitKernelName : kKernelName;
    text_.open(
        "KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}(GLOBAL const raw_t* RESTRICT in, GLOBAL float2* RESTRICT "
        "out, GLOBAL const float* RESTRICT weights, GLOBAL const float2* RESTRICT tables, GLOBAL const float2* "
        "RESTRICT factors, int origin, int newest, int spectra, ulong out_offset, int rounds, int within{})",
        d_.items, d_.resident, kernel, delay_arguments(g_));
    text_.line("LOCAL_BLOCK(float2, points, {});", squares > 0 ? used + squares : lines + roots() + kept / 2 + 1);
    text_.line("LOCAL float2* const roots = points + {};", lines);
    text_.line("const int item = LOCAL_ID(0);");
    if (kept > 0) {
      text_.line("LOCAL float* const kept = (LOCAL float*)(roots + {});", roots());
      text_.line(
          "for (int i = item; i < {0}; i += {1}) kept[i] = LOAD_CACHED(weights + (i / {2} * {3} + {4} + i % {2}));",
          kept, d_.items, row_kept(), g_.channels, g_.channels - row_kept());
    }
    text_.line("if (item < {}) roots[item] = LOAD_CACHED(tables + item);", roots());
    if (polarizations_ == 1) text_.line("const int pol = (int)(GROUP_ID(0) % 2u);");
    text_.line("const int station = (int)(GROUP_ID(0) / {}u % {}u);", d_.split(), g_.stations);
    text_.line("const int begin = (int)(GROUP_ID(0) / {}u) * {};", g_.stations * d_.split(),
               d_.rounds > 0 ? fmt::format("{}", d_.rounds * d_.steps) : fmt::format("{} * rounds", d_.steps));
    pointers();
    if (counted()) text_.line("if (item == 0) READ_BARRIER_INIT(points + {});", read_barrier_at());
    if (kept > 0 || counted()) text_.line("BARRIER();");
    power_.declare_local(fmt::format("points + {}", used));
    if (d_.summed > 0) power_.declare();
    if (both_kept()) power_.declare("second_power");
    text_.open("for (int round = 0; round < {}; ++round)",
               d_.rounds > 0 ? fmt::format("{}", d_.rounds) : std::string("rounds"));
    text_.line("const int t = begin + round * {};", d_.steps);
    text_.line("int zero = 0;");
    text_.line("OPAQUE(zero);");
    // With delays or power sums the prefetch costs more registers than it saves time.
    if (first_ != 16 && !g_.delayed && d_.summed == 0) prefetch();
    filter();
    // A butterfly of 32 points leaves no registers for loads in flight.
    if (first_ == 16) load(fmt::format("t + {}", d_.steps));
    text_.line("BARRIER();");
    first_pass();
    if (first_ != 16) load(fmt::format("t + {}", d_.steps));
    wait_for_lines();
    second_pass();
    if (d_.summed > 0) store_power();
    if (counted() && !staged()) text_.line("READ_BARRIER_ARRIVE(points + {});", read_barrier_at());
    text_.close();
    text_.close();
    return {KernelSource{.name = fmt::format("filter bank {} x {}, blocks", g_.channels, g_.taps), .text = text_.str()},
            squares > 0 ? (used + squares) * 2 * sizeof(float)
                        : (lines + roots() + 1) * 2 * sizeof(float) + kept * sizeof(float),
            kernel};
  }

 private:
  std::size_t row_kept() const { return d_.local_weights * d_.items; }  // weights per tap in local memory
  std::size_t read_barrier_at() const { return transforms() * points_ + roots() + g_.taps * row_kept() / 2; }
  std::size_t row() const { return g_.stations * g_.channels * d_.split(); }
  std::size_t roots() const { return first_ * codegen::twiddled_roots(16); }  // of the second pass
  std::string root(std::size_t r) const {
    return fmt::format("LOAD_CACHED(tables + {} + item)", roots() + d_.items * (r - 1));
  }

  // A delay shifts every channel of an item by the same number of samples, possibly into the next row. Without delays
  // the channels are a constant distance apart, and one address suffices.
  std::string row_name(std::size_t j) const { return fmt::format("row{}", g_.delayed ? j : 0); }
  std::string samples(std::size_t j) const {
    if (g_.delayed) return fmt::format("samples{}", j);
    return fmt::format("samples0 + {}", j * d_.items * d_.split());
  }

  void pointers() {
    for (std::size_t j = 0; j < each_; ++j) {
      if (j == 0 || g_.delayed) first_sample(j);
      text_.line("raw_t fresh{}[{}];", j, d_.steps);
      text_.line("{} old{}[{}];", packed_ ? "uint" : "raw_t", j, std::max<std::size_t>(packed_ ? held_ / 2 : held_, 1));
      for (std::size_t i = 0; i < held_; i += packed_ ? 2 : 1) {
        if (packed_) {
          text_.line("old{}[{}] = joined({}, {});", j, i / 2, first_row(j, i), first_row(j, i + 1));
        } else {
          text_.line("old{}[{}] = {}({});", j, i, offset_binary_ ? "OFFSET_BINARY" : "", first_row(j, i));
        }
      }
      if (j > 0 && each_ <= kHeldTwiddles) text_.line("const float2 twiddle{0} = {1};", j, root(j));
    }
    load("begin");
  }

  void first_sample(std::size_t j) {
    text_.line("const int moved{0} = item + {1}{2};", j, j * d_.items,
               g_.delayed ? " + LOAD_CACHED(shifts + station)" : "");
    // Rows are counted from the oldest that spectrum 0 of the launch needs.
    text_.line("const int row{} = origin / {}{};", j, g_.channels,
               g_.delayed ? fmt::format(" + moved{} / {}", j, g_.channels) : "");
    text_.line("GLOBAL const raw_t* const samples{0} = in + ((long)row{0} * {1} + (station * {2} + moved{0}{3}){4});",
               j, row(), g_.channels, g_.delayed ? fmt::format(" % {}", g_.channels) : "",
               polarizations_ == 1 ? " * 2 + pol" : "");
  }

  // Row `i` of the held rows. Rows held in pairs may begin with one that no sum needs.
  std::string first_row(std::size_t j, std::size_t i) const {
    const std::size_t unwanted = held_ - (g_.taps - 1);
    if (i < unwanted) return "RAW_ZERO";
    return fmt::format(
        "{0} + begin + {1} >= 0 && begin < spectra ? LOAD_CACHED({2} + (long)(begin + {1}) * {3}) : RAW_ZERO",
        row_name(j), i - unwanted, samples(j), row());
  }

  void load(const std::string& first) {
    text_.open();
    text_.line("const int from = {} + {};", first, g_.taps - 1);
    text_.open("if ({} + {} <= spectra{})", first, d_.steps, all_rows_there());
    each_row([&](std::size_t j, std::size_t s) {
      text_.line("fresh{}[{}] = LOAD_CACHED({} + ((long)from * {} + {}));", j, s, samples(j), row(), s * row());
    });
    text_.close();
    text_.open("else");
    each_row([&](std::size_t j, std::size_t s) {
      text_.line(
          "fresh{0}[{1}] = {2} + {1} < spectra && {3} + from + {1} >= 0 ? LOAD_CACHED({4} + ((long)from * {5} + {6})) :"
          " RAW_ZERO;",
          j, s, first, row_name(j), samples(j), row(), s * row());
    });
    text_.close();
    text_.close();
  }
  // Prefetches the next block's rows before registers are available for them: one row of the warp's channels per lane.
  void prefetch() {
    text_.open();
    text_.line("const int lane = item % 32, time = t + {0} + lane % {0}, later = time + {1};", d_.steps, g_.taps - 1);
    for (std::size_t j = 0; j < each_; ++j) {
      text_.line("if (time < spectra && {} + later >= 0) PREFETCH_L2({} + ((long)later * {} - lane * {}));",
                 row_name(j), samples(j), row(), d_.split());
    }
    text_.close();
  }

  std::string all_rows_there() const {
    std::string text;
    for (std::size_t j = 0; j < (g_.delayed ? each_ : 1); ++j) text += fmt::format(" && row{} + from >= 0", j);
    return text;
  }
  template <class Take>
  void each_row(const Take& take) const {
    for (std::size_t j = 0; j < each_; ++j) {
      for (std::size_t s = 0; s < d_.steps; ++s) take(j, s);
    }
  }

  // --- the FIR: every row is converted once per block and added to all sums that need it
  void filter() {
    for (std::size_t j = 0; j < each_; ++j) text_.line("float sum{}[{}];", j, d_.parts * d_.steps);
    for (std::size_t j = 0; j < each_; ++j) {
      filter_channel(j);
      if (staged() && j + 1 < each_) stage(j);
    }
    first_butterflies();
  }

  // With several channels per item, the sums of all but the last are stored where their transforms will be, which frees
  // registers for rows converted in advance. With eight channels the additional loads and stores cost more.
  bool staged() const { return d_.items == 512 && (each_ == 2 || each_ == 4) && d_.summed == 0; }
  // The second of two channels is added to the first while it is filtered; the difference is twice the first minus the
  // sum.
  bool added() const { return staged() && each_ == 2 && polarizations_ == 2; }
  // A warp that has read the points of a block filters the next block, and waits for the other warps only before it
  // stores.
  bool counted() const { return each_ > 1; }
  void wait_for_points() {
    text_.line("{};",
               counted() ? fmt::format("READ_BARRIER_WAIT(points + {}, round)", read_barrier_at()) : "BARRIER()");
  }

  std::string place(std::size_t line, std::size_t r) const { return fmt::format("{}", (line * each_ + r) * points_); }
  void stage(std::size_t j) {
    if (j == 0) wait_for_points();
    for (std::size_t line = 0; line < transforms() / each_; ++line) {
      text_.line("points[{0} + item + item / 16] = make_float2(sum{1}[{2}], sum{1}[{3}]);", place(line, j), j, 2 * line,
                 2 * line + 1);
    }
  }

  void filter_channel(std::size_t j) {
    const std::size_t taps = g_.taps, steps = d_.steps;
    text_.open();
    text_.line("float w[{}];", taps);
    load_weights(j, taps - std::min<std::size_t>(taps, kWeightsAhead), taps);
    if (packed_) {
      text_.line("uint pairs[{}];", steps / 2);
      for (std::size_t s = 0; s < steps; s += 2) {
        text_.line("pairs[{0}] = joined(fresh{1}[{2}], fresh{1}[{3}]);", s / 2, j, s, s + 1);
      }
    }
    if (offset_binary_) {
      // Once per row, and only after the rows have arrived.
      for (std::size_t s = 0; s < steps; ++s) text_.line("fresh{0}[{1}] = OFFSET_BINARY(fresh{0}[{1}]);", j, s);
    }
    for (std::size_t row = 0; row < steps + taps - 1; ++row) {
      text_.open();
      if (row + kWeightsAhead < taps) load_weights(j, taps - 1 - row - kWeightsAhead, taps - row - kWeightsAhead);
      text_.line("float x[{}];", d_.parts);
      text_.line("{};", converted(j, row));
      for (std::size_t s = row + 1 < taps ? 0 : row + 1 - taps; s < steps && s <= row; ++s) {
        const std::size_t tap = s + taps - 1 - row;
        for (std::size_t p = 0; p < d_.parts; ++p) {
          if (tap + 1 == taps && added() && j == 1) {
            text_.line("sum1[{0}] = FMA(x[{1}], w[{2}], sum0[{0}]);", d_.parts * s + p, p, tap);
          } else if (tap + 1 == taps) {
            text_.line("sum{}[{}] = x[{}] * w[{}];", j, d_.parts * s + p, p, tap);
          } else {
            text_.line("sum{0}[{1}] = FMA(x[{2}], w[{3}], sum{0}[{1}]);", j, d_.parts * s + p, p, tap);
          }
        }
      }
      text_.close();
    }
    // The newest rows become the next block's old rows.
    const std::size_t words = packed_ ? held_ / 2 : held_, moved = packed_ ? steps / 2 : steps;
    for (std::size_t i = 0; i < words; ++i) text_.line("old{}[{}] = {};", j, i, word(j, i + moved));
    text_.close();
  }

  // The oldest row needs only the last weight, and each following row one more: the first weights are loaded late, to
  // save registers.
  void load_weights(std::size_t j, std::size_t begin, std::size_t end) {
    for (std::size_t i = end; i-- > begin;) {
      const bool local = j < d_.local_weights;
      const std::size_t at = (i + 1) * (local ? row_kept() : g_.channels) - 1 - j * d_.items;
      const std::string value = local ? fmt::format("kept[zero + {} - item]", at)
                                      : fmt::format("LOAD_CACHED(weights + zero + {} - item)", at);
      text_.line("w[{}] = {};", i, g_.centred ? fmt::format("(item & 1) ? -{0} : {0}", value) : value);
    }
  }

  // Word `i` of the held rows followed by the new ones.
  std::string word(std::size_t j, std::size_t i) const {
    const std::size_t words = packed_ ? held_ / 2 : held_;
    if (i < words) return fmt::format("old{}[{}]", j, i);
    return packed_ ? fmt::format("pairs[{}]", i - words) : fmt::format("fresh{}[{}]", j, i - words);
  }
  std::string converted(std::size_t j, std::size_t row) const {
    if (!packed_) return fmt::format("{}({}, x)", offset_binary_ ? "convert_offset_binary" : "convert", word(j, row));
    const std::size_t at = row + held_ - (g_.taps - 1);
    return fmt::format("convert_{}({}, x)", at % 2 == 0 ? "older" : "newer", word(j, at / 2));
  }

  void first_butterflies() {
    if (!staged()) wait_for_points();
    text_.open();
    for (std::size_t r = 1; r < each_ && each_ > kHeldTwiddles; ++r) {
      text_.line("const float2 twiddle{0} = LOAD_CACHED(tables + zero + {1} + item);", r, roots() + d_.items * (r - 1));
    }
    if (staged()) {
      text_.line("int again = item + item / 16;");  // otherwise the compiler would keep the stored values in registers
      text_.line("OPAQUE(again);");
    }
    for (std::size_t line = 0; line < transforms() / each_; ++line) {
      text_.open();
      text_.line("float2 v[{}];", each_);
      for (std::size_t j = 0; j < each_; ++j) {
        if (staged() && j + 1 < each_) {
          text_.line("v[{}] = points[{} + again];", j, place(line, j));
        } else {
          text_.line("v[{0}] = make_float2(sum{0}[{1}], sum{0}[{2}]);", j, 2 * line, 2 * line + 1);
        }
      }
      if (added()) {
        text_.line("const float2 less = make_float2(FMA(2.0f, v[0].x, -v[1].x), FMA(2.0f, v[0].y, -v[1].y));");
        text_.line("v[0] = v[1];");
        text_.line("v[1] = less;");
      } else {
        text_.line("dft{}(v);", each_);
      }
      for (std::size_t r = 0; r < each_; ++r) {
        text_.line("points[{} + item + item / 16] = {};", place(line, r),
                   r == 0 ? std::string("v[0]") : fmt::format("multiply(v[{0}], twiddle{0})", r));
      }
      text_.close();
    }
    text_.close();
  }

  // Transforms of as many points as there are work-items. Their loops are not unrolled, so that the code fits the
  // instruction cache.
  std::size_t transforms() const { return d_.steps * polarizations_ * each_; }

  void open_loop(std::size_t iterations, std::size_t at_once = 1) {
    text_.line("_Pragma(\"unroll 1\")");
    text_.open("for (int iteration = 0; iteration < {}; iteration += {})", iterations, at_once);
  }

  // Butterfly i of a transform reads and writes points i + 16 u.
  void first_pass() {
    open_loop(transforms() / first_);
    text_.line("LOCAL float2* const at = points + (item / 16 + iteration * {}) * {} + item % 16;", first_, points_);
    text_.line("float2 v[{}];", first_);
    for (std::size_t u = 0; u < first_; ++u) text_.line("v[{}] = at[{}];", u, 17 * u);
    text_.line("dft{}(v);", first_);
    for (std::size_t u = 0; u < first_; ++u) text_.line("at[{}] = v[{}];", 17 * u, u);
    text_.close();
  }

  // Butterfly u has points 16 u .. 16 u + 15 and computes k' = u + N / 16 i. Consecutive items have consecutive
  // channels.
  void second_pass() {
    open_loop(transforms() / 16, both_kept() ? 2 : 1);
    second_butterfly("iteration", "power");
    if (both_kept()) second_butterfly("(iteration + 1)", "second_power");
    text_.close();
  }

  // Number of work-items that exchange data. Spectra: small subsets of the items share whole rows and synchronize on
  // their own; with two groups per unit only if the subset is one warp. Power: all items, so that an item has the same
  // channels in every iteration.
  std::size_t together() const {
    const std::size_t some = std::max<std::size_t>(32, 16 * each_);
    return d_.summed > 0 || (some > 32 && d_.resident > 1) ? d_.items : some;
  }
  void wait_for_lines() {
    if (together() == d_.items) return text_.line("BARRIER();");
    if (together() == 32) return text_.line("SUB_GROUP_SYNC();");
    text_.line("GROUP_PART_BARRIER(item / {0}, {0});", together());
  }

  void second_butterfly(const char* iteration, const char* power) {
    const std::size_t items = first_ * each_;                  // per row
    const std::size_t some = together(), parts = first_ / 16;  // per iteration of the first pass
    text_.open();
    if (some == d_.items) {
      text_.line("const int b = item + {} * {}, line = b / {};", iteration, d_.items, items);
    } else {
      text_.line(
          "const int b = item % {0} + {1} % {2} * {0}, line = ({1} / {2} * {3} + item / {0} * {0}) / {4} + b / {5};",
          some, iteration, parts, d_.items, 16 * each_, items);
    }
    text_.line("const int r = b % {0}, u = b / {0} % {1};", each_, first_);
    text_.line("LOCAL const float2* const at = points + (line * {} + r) * {} + u * 17;", each_, points_);
    text_.line("float2 v[16];");
    for (std::size_t i = 0; i < 16; ++i) text_.line("v[{0}] = at[{0}];", i);
    if (staged())
      text_.line("if ({} == {}) READ_BARRIER_ARRIVE(points + {});", iteration, transforms() / 16 - 1,
                 read_barrier_at());
    // An item has the same u in every iteration, but no registers to keep its twiddle factors.
    const std::size_t count = codegen::twiddled_roots(16);
    text_.line("int same = u * {};", count);
    text_.line("OPAQUE(same);");
    text_.line("float2 root[{}];", count);
    for (std::size_t i = 0; i < count; ++i) text_.line("root[{0}] = roots[same + {0}];", i);
    text_.line("twiddled16(v, root);");
    if (polarizations_ == 2) text_.line("const int pol = line % 2;");
    text_.line("const int time = t + line / {}, k = u * {} + r;", polarizations_, each_);
    if (d_.summed > 0) {
      open_finish(text_, d_, "time");
      power_.add("k", power);
      text_.close();
      return;
    }
    text_.open("if (time < spectra)");
    open_output(text_, d_, place_text(g_, "time", "k"));
    open_finish(text_, d_, "time");
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t more = items * i;
      text_.line("STORE_ONCE(to + {}, {});", more,
                 finished(d_, fmt::format("v[{}]", i), fmt::format("(k + {})", more)));
    }
    text_.close();
    text_.close();
  }

  bool both_kept() const { return d_.summed > 0 && sums_both_polarizations(d_); }

  // An item has the same channels in every iteration and, unless it has both polarizations, always the same one.
  void store_power() {
    const std::size_t items = first_ * each_, lines = std::max<std::size_t>(d_.items / items, 1);
    const bool total = d_.products == Products::total;
    text_.open("if ((round + 1) % {} == 0)", d_.unit / d_.steps);
    text_.line("const int line = item / {}, k = item / {} % {} * {} + item % {};", items, each_, first_, each_, each_);
    text_.open("if (t < spectra)");
    std::string within = total ? "line" : "line / 2", product = total ? "0" : "line % 2";
    if (polarizations_ == 1) {
      within = total ? "line * 2 + pol" : "line";
      product = total ? "0" : "pol";
    }
    const std::string row = fmt::format("t / {} * {} + {}", d_.unit, block_power_rows(d_),
                                        lines == 1 && polarizations_ == 2 ? "0" : within);
    text_.open();
    power_.store(row, lines == 1 && polarizations_ == 2 ? "0" : product, "k");
    text_.close();
    if (both_kept()) power_.store(row, "1", "k", "second_power");
    text_.close();
    power_.clear();
    if (both_kept()) power_.clear("second_power");
    text_.close();
  }

  const KernelDesign& d_;
  const Geometry& g_;
  std::size_t each_;           // channels per work-item
  std::size_t first_;          // radix of the first pass
  std::size_t polarizations_;  // per group
  bool packed_;                // two rows per register
  bool offset_binary_;         // one row per register, in offset binary (sign bits inverted)
  std::size_t held_;           // rows kept from block to block
  std::size_t points_;         // pitch of a transform
  codegen::Text text_;
  PowerWriter power_;
};

}  // namespace

std::size_t block_power_rows(const KernelDesign& d) {
  const std::size_t each = d.geometry.channels / d.items, lines = std::max<std::size_t>(16 / each, 1);
  const bool total = d.products == Products::total;
  if (d.parts == 2) return lines * (total ? 2 : 1);  // one polarization per group
  return total ? lines : std::max<std::size_t>(lines / 2, 1);
}

// With 4096 channels an item has both polarizations of its channels, one after the other.
bool sums_both_polarizations(const KernelDesign& d) {
  return d.parts == 4 && d.geometry.channels / d.items == 16 && d.products != Products::total;
}

KernelText block_text(const KernelDesign& design) { return BlockWriter(design).write(); }

}  // namespace ridge::filterbank::on_device
