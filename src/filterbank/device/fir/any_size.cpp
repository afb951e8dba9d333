// Kernel text of the `registers` FIR (delay line in registers) and the `gather` FIR (samples read again for every tap),
// with conversion, transform and bandpass.
#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/design.hpp"
#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/fir/lines_codegen.hpp"

namespace ridge::filterbank::on_device {
namespace {

using codegen::Text;

class FirWriter {
 public:
  explicit FirWriter(const KernelDesign& design) : d_(design), g_(design.geometry) {
    pitch_ = padded(g_.channels - 1) + 1;
    // Consecutive lines start two 8-byte banks apart where their length would put them on the same bank.
    if (pitch_ % 16 == 0) pitch_ += 2;
  }

  KernelText write() {
    head();
    text_.open("KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}({})", d_.items, d_.resident, kKernelName, arguments());
    const std::size_t lines = d_.transform ? d_.lines() * pitch_ : 0, roots = d_.transform ? table_size(d_.radices) : 0;
    if (lines > 0) text_.line("LOCAL_BLOCK(float2, points, {});", lines + roots);
    text_.line("const int item = LOCAL_ID(0);");
    if (roots > 0) {
      // The compiler would load twiddle factors from global memory early, into registers that are not available.
      text_.line("LOCAL float2* const roots = points + {};", lines);
      text_.line("for (int i = item; i < {}; i += {}) roots[i] = LOAD_CACHED(tables + i);", roots, d_.items);
    }
    text_.line("const int first_station = (int)(GROUP_ID(0) % {}u / {}u) * {};", d_.station_groups(), d_.channel_groups,
               d_.streams);
    text_.line("const int first_unit = (int)(GROUP_ID(0) % {}u) * {};", d_.channel_groups, d_.items * each());
    const std::size_t fixed = d_.rounds * d_.period();
    text_.line("const int begin = (int)(GROUP_ID(0) / {}u) * {};", d_.station_groups(),
               d_.rounds > 0 ? fmt::format("{}", fixed) : fmt::format("{} * rounds", d_.period()));
    units();
    d_.fir == Fir::registers ? registers() : gather();
    text_.close();
    return {
        {.name = fmt::format("filter bank {} x {}, {}", g_.channels, g_.taps, to_string(d_.fir)), .text = text_.str()},
        (lines + roots) * sizeof(float) * 2};
  }

 private:
  void head() {
    text_.line("// {} channels of {} taps, {}, {} in registers; {} stations and {} spectra at a time", g_.channels,
               g_.taps, ridge::to_string(g_.samples), to_string(d_.fir), d_.streams, d_.steps);
    text_.raw(conversion_text(g_.samples, d_.parts));
    text_.raw(codegen::butterfly_text({d_.radices.begin(), d_.radices.end()}, false));
    text_.raw(ridge::detail::kernel_text("filterbank/lines"));
    text_.raw(finish_macros(d_));
  }

  std::string arguments() const {
    return fmt::format(
        "GLOBAL const raw_t* RESTRICT in, GLOBAL float2* RESTRICT out, {} weights, GLOBAL const float2* RESTRICT "
        "tables, "
        "GLOBAL const float2* RESTRICT factors, int origin, int newest, int spectra, ulong out_offset, int rounds, int "
        "within{}",
        d_.constant_weights ? "CONSTANT float*" : "GLOBAL const float* RESTRICT", delay_arguments(g_));
  }

  // --- the units of a work-item: channel, part of the sample, station ------------------------------------------------
  std::size_t each() const { return d_.units_each(); }

  void units() {
    for (std::size_t j = 0; j < each(); ++j) {
      text_.line("const int unit{0} = first_unit + item + {1};", j, j * d_.items);
      text_.line("const int part{0} = unit{0} % {1}, channel{0} = unit{0} / {1} % {2}, stream{0} = unit{0} / {3};", j,
                 d_.split(), g_.channels, d_.split() * g_.channels);
      text_.line("const int station{0} = first_station + stream{0};", j);
      text_.line("const int here{0} = unit{0} < {1} && station{0} < {2};", j, d_.units(), g_.stations);
      if (!g_.delayed) continue;
      // Whole samples of delay change the position within the row and the row.
      text_.line("const int moved{0} = channel{0} + (here{0} ? LOAD_CACHED(shifts + station{0}) : 0);", j);
      text_.line("const int later{0} = moved{0} / {1};", j, g_.channels);
    }
  }

  // The unit's position in a row, in samples, and the rows by which its station is delayed.
  std::string place(std::size_t j) const {
    return g_.delayed ? fmt::format("moved{} % {}", j, g_.channels) : fmt::format("channel{}", j);
  }
  std::string later(std::size_t j) const { return g_.delayed ? fmt::format(" + later{}", j) : std::string(); }

  // Loads the raw value of unit j in row `row`, counted from the oldest row of the first spectrum. `row` is an
  // expression plus a constant; `condition` tells that the row exists.
  void load(const std::string& to, std::size_t j, const std::string& row, const std::string& condition) {
    if (g_.block == g_.channels) {
      // The rows of all stations are contiguous.
      text_.line("{} = here{} && {} ? LOAD_ROW(from{} + (long)({}) * {}) : RAW_ZERO;", to, j, condition, j, row,
                 stride());
      return;
    }
    text_.open();
    text_.line("const int n = origin + ({}) * {} + {}{};", row, g_.channels, g_.delayed ? "moved" : "channel", j);
    text_.line(
        "{} = here{} && {} && n >= 0 ? LOAD_ROW(in + (((long)(n / {} * {} + station{}) * {} + n % {}) * {} + part{})) "
        ": "
        "RAW_ZERO;",
        to, j, condition, g_.block, g_.stations, j, g_.block, g_.block, d_.split(), j);
    text_.close();
  }
  std::size_t stride() const { return g_.stations * g_.channels * d_.split(); }

  // Declares pointers to the units' values in row `row`.
  void row_pointers(const std::string& row) {
    if (g_.block != g_.channels) return;
    for (std::size_t j = 0; j < each(); ++j) {
      text_.line(
          "GLOBAL const raw_t* from{0} = in + ((long)(origin / {1} + {2}{5}) * {3} + (station{0} * {1} + {6}) * "
          "{4} + part{0});",
          j, g_.channels, row, stride(), d_.split(), later(j), place(j));
    }
  }

  // --- the delay line in registers -----------------------------------------------------------------------------------
  void registers() {
    const std::size_t taps = g_.taps;
    text_.raw("#define LOAD_ROW(p) LOAD_CACHED(p)\n");
    row_pointers("begin");
    for (std::size_t j = 0; j < each(); ++j) {
      text_.line("float delay{}[{}][{}];", j, taps, d_.parts);
      text_.line("raw_t raw{}[{}];", j, d_.steps);
      text_.line("GLOBAL const float* const weights{} = weights + {} - channel{};", j, g_.channels - 1, j);
      // Rows before the stream are zero.
      for (std::size_t row = 0; row + 1 < taps; ++row) {
        text_.open();
        text_.line("raw_t old;");
        load("old", j, row_text("begin", row), before_stream(row, j));
        text_.line("convert(old, delay{}[{}]);", j, row);
        text_.close();
      }
    }
    load_steps("begin", 0);
    if (d_.rounds > 0) {
      text_.open("for (int round = 0; round < {}; ++round)", d_.rounds);
    } else {
      text_.open("for (int round = 0; round < rounds; ++round)");
    }
    for (std::size_t sub = 0; sub < d_.period() / d_.steps; ++sub) {
      text_.open();
      text_.line("const int t = begin + round * {} + {};", d_.period(), sub * d_.steps);
      text_.line("int zero = 0;");
      text_.line("OPAQUE(zero);");
      for (std::size_t j = 0; j < each(); ++j) filter_steps(j, sub * d_.steps);
      load_steps("t", sub * d_.steps);
      if (d_.transform) transform();
      text_.close();
    }
    if (g_.block == g_.channels) {
      for (std::size_t j = 0; j < each(); ++j) text_.line("from{} += {};", j, d_.period() * stride());
    }
    text_.close();
  }

  // Only the rows of the first spectra can precede the stream.
  std::string before_stream(std::size_t row, std::size_t j) const {
    if (g_.block != g_.channels) return fmt::format("begin + {} < spectra + {}", row, g_.taps - 1);
    return fmt::format("origin / {} + begin + {}{} >= 0 && begin + {} < spectra + {}", g_.channels, row, later(j), row,
                       g_.taps - 1);
  }

  // With contiguous rows the pointers are at the iteration's first row; otherwise rows are counted from `first`.
  std::string row_text(const std::string& first, std::size_t more) const {
    return g_.block == g_.channels ? fmt::format("{}", more) : fmt::format("{} + {}", first, more);
  }

  // Loads the steps after those that begin `sub` steps into the iteration; "begin": the first steps of all.
  void load_steps(const std::string& first, std::size_t sub) {
    const std::size_t ahead = first == "begin" ? 0 : d_.steps;
    for (std::size_t j = 0; j < each(); ++j) {
      for (std::size_t s = 0; s < d_.steps; ++s) {
        const std::size_t more = ahead + s + g_.taps - 1;
        load(fmt::format("raw{}[{}]", j, s), j,
             g_.block == g_.channels ? fmt::format("{}", sub + more) : fmt::format("{} + {}", first, more),
             fmt::format("{} < spectra - {}", first, ahead + s));
      }
    }
  }

  void filter_steps(std::size_t j, std::size_t first) {
    const std::size_t taps = g_.taps;
    // Loaded again in every iteration, because the transform in between needs the registers.
    text_.line("float w{}[{}];", j, taps);
    for (std::size_t i = 0; i < taps; ++i) {
      const std::string value = fmt::format("LOAD_CACHED(weights{} + zero + {})", j, i * g_.channels);
      text_.line("w{}[{}] = {};", j, i,
                 g_.centred ? fmt::format("(channel{} & 1) ? -{} : {}", j, value, value) : value);
    }
    for (std::size_t s = 0; s < d_.steps; ++s) {
      const std::size_t newest = (taps - 1 + first + s) % taps;
      text_.line("convert(raw{0}[{1}], delay{0}[{2}]);", j, s, newest);
      text_.open();
      text_.line("float sum[{}];", d_.parts);
      for (std::size_t i = taps; i-- > 0;) {
        const std::size_t slot = (newest + taps - i) % taps;
        for (std::size_t p = 0; p < d_.parts; ++p) {
          if (i + 1 == taps) {
            text_.line("sum[{1}] = delay{0}[{2}][{1}] * w{0}[{3}];", j, p, slot, i);
          } else {
            text_.line("sum[{1}] = FMA(delay{0}[{2}][{1}], w{0}[{3}], sum[{1}]);", j, p, slot, i);
          }
        }
      }
      put(j, s);
      text_.close();
    }
  }

  // Writes the sums of one step to local memory, or to the output.
  void put(std::size_t j, std::size_t step) {
    const std::size_t complexes = d_.parts / 2;
    for (std::size_t c = 0; c < complexes; ++c) {
      const std::string value = fmt::format("make_float2(sum[{}], sum[{}])", 2 * c, 2 * c + 1);
      // With 4 parts a unit has both polarizations, with 2 parts the one that its number selects.
      const std::string polarization = complexes == 2 ? fmt::format("{}", c) : fmt::format("part{}", j);
      if (d_.transform) {
        text_.line("if (unit{0} < {1}) points[((stream{0} * {2} + {3}) * {4} + {5}) * {6} + PLACE(channel{0})] = {7};",
                   j, d_.units(), d_.steps, step, g_.polarizations, polarization, pitch_, value);
      } else {
        text_.line(
            "if (here{0} && t + {1} < spectra) out[out_offset + (((ulong)(t + {1}) * {2} + {3}) * {4} + station{0}) * "
            "{5} "
            "+ channel{0}] = {6};",
            j, step, g_.polarizations, polarization, g_.stations, g_.channels, value);
      }
    }
  }

  // --- every sample gathered -----------------------------------------------------------------------------------------
  void gather() {
    text_.raw("#define LOAD_ROW(p) LOAD_CACHED(p)\n");
    row_pointers("0");
    if (d_.rounds > 0) {
      text_.open("for (int round = 0; round < {}; ++round)", d_.rounds);
    } else {
      text_.open("for (int round = 0; round < rounds; ++round)");
    }
    text_.line("const int t = begin + round * {};", d_.steps);
    for (std::size_t j = 0; j < each(); ++j) {
      for (std::size_t s = 0; s < d_.steps; ++s) {
        text_.open();
        text_.line("float sum[{}];", d_.parts);
        for (std::size_t p = 0; p < d_.parts; ++p) text_.line("sum[{}] = 0.0f;", p);
        text_.open("if (here{} && t + {} < spectra)", j, s);
        // The newest sample of this channel in the window, and its age.
        text_.line("const int last = newest + (t + {}) * {};", s, g_.hop);
        text_.line("const int phase = last % {}, row = last / {} - (channel{} > phase ? 1 : 0);", g_.channels,
                   g_.channels, j);
        text_.line("const int age = phase - channel{0} + (channel{0} > phase ? {1} : 0);", j, g_.channels);
        text_.open("for (int i = {}; i >= 0; --i)", g_.taps - 1);
        text_.line("raw_t raw;");
        load("raw", j, "row - i",
             g_.block == g_.channels ? fmt::format("origin / {} + row - i{} >= 0", g_.channels, later(j))
                                     : std::string("1"));
        text_.line("float x[{}];", d_.parts);
        text_.line("convert(raw, x);");
        const std::string at = fmt::format("age + i * {}", g_.channels);
        text_.line("const float weight = {};",
                   d_.constant_weights ? fmt::format("weights[{}]", at) : fmt::format("LOAD_CACHED(weights + {})", at));
        for (std::size_t p = 0; p < d_.parts; ++p) text_.line("sum[{0}] = FMA(x[{0}], weight, sum[{0}]);", p);
        text_.close();
        if (g_.centred) {
          text_.open("if (channel{} & 1)", j);
          for (std::size_t p = 0; p < d_.parts; ++p) text_.line("sum[{0}] = -sum[{0}];", p);
          text_.close();
        }
        text_.close();
        put(j, s);
        text_.close();
      }
    }
    if (d_.transform) transform();
    text_.close();
  }

  // --- the transform -------------------------------------------------------------------------------------------------
  void transform() {
    text_.line("BARRIER();");
    const LinesDesign lines{
        .points = g_.channels, .lines = d_.lines(), .items = d_.items, .radices = d_.radices, .pitch = pitch_};
    const auto open_line = [&] {
      text_.line("const int step = line / {0} % {1}, pol = line % {0}, station = first_station + line / {2};",
                 g_.polarizations, d_.steps, g_.polarizations * d_.steps);
      text_.open("if (t + step < spectra{})",
                 d_.streams > 1 ? fmt::format(" && station < {}", g_.stations) : std::string());
      if (!in_place()) text_.line("GLOBAL float2* const to = out + out_offset + {};", place_text(g_, "t + step", "0"));
      open_finish(text_, d_, "t + step");
    };
    lines_text(text_, lines, open_line, [&](Text& text, const std::string& value, const std::string& k) {
      if (in_place()) {
        // In place: they leave in another order, or as power.
        text.line("points[line * {} + PLACE({})] = {};", pitch_, k, finished(d_, value, k));
      } else {
        text.line("STORE_ONCE(to + {}, {});", k, finished(d_, value, k));
      }
    });
    text_.line("BARRIER();");
    if (d_.summed > 0) {
      store_power();
    } else if (g_.by_channel) {
      store_by_channel();
    }
  }
  bool in_place() const { return g_.by_channel || d_.summed > 0; }

  // Sums `summed` times of every channel and writes power rows.
  void store_power() {
    const std::size_t sums = d_.steps / d_.summed, products = d_.product_count();
    text_.open("for (int n = item; n < {}; n += {})", d_.streams * sums * g_.channels, d_.items);
    text_.line("const int k = n % {0}, first = n / {0} % {1} * {2}, stream = n / {3};", g_.channels, sums, d_.summed,
               g_.channels * sums);
    text_.line("const int station = first_station + stream;");
    text_.open("if (t + first < spectra && station < {})", g_.stations);
    text_.line("float sum[{}];", products);
    for (std::size_t i = 0; i < products; ++i) text_.line("sum[{}] = 0.0f;", i);
    text_.open("for (int step = first; step < first + {}; ++step)", d_.summed);
    for (std::size_t p = 0; p < g_.polarizations; ++p) {
      text_.line("const float2 {} = points[((stream * {} + step) * {} + {}) * {} + PLACE(k)];", p == 0 ? "x" : "y",
                 d_.steps, g_.polarizations, p, pitch_);
      text_.line("const float {0}{0} = FMA({0}.x, {0}.x, {0}.y * {0}.y);", p == 0 ? "x" : "y");
    }
    if (d_.products == Products::stokes) {
      text_.line("sum[0] += xx + yy, sum[1] += xx - yy;");
      text_.line("sum[2] += 2.0f * FMA(x.x, y.x, x.y * y.y), sum[3] -= 2.0f * FMA(x.y, y.x, -(x.x * y.y));");
    } else {
      text_.line("sum[0] += xx;");
      if (g_.polarizations == 2) text_.line("sum[{}] += yy;", products - 1);
    }
    text_.close();
    text_.line(
        "GLOBAL float* const to = (GLOBAL float*)out + out_offset + ((ulong)((t + first) / {}) * {} + station) * {} + "
        "k;",
        d_.summed, g_.stations, products * g_.channels);
    for (std::size_t i = 0; i < products; ++i) text_.line("STORE_ONCE(to + {}, sum[{}]);", i * g_.channels, i);
    text_.close();
    text_.close();
    text_.line("BARRIER();");
  }

  void store_by_channel() {
    const std::size_t runs = d_.streams * g_.channels * g_.polarizations;
    text_.open("for (int n = item; n < {}; n += {})", runs * d_.steps, d_.items);
    text_.line("const int step = n % {0}, pol = n / {0} % {1}, k = n / {2} % {3}, stream = n / {4};", d_.steps,
               g_.polarizations, d_.steps * g_.polarizations, g_.channels, d_.steps * g_.polarizations * g_.channels);
    text_.line("const int station = first_station + stream;");
    text_.open("if (t + step < spectra && station < {})", g_.stations);
    text_.line("STORE_ONCE(out + (out_offset + {}), points[((stream * {} + step) * {} + pol) * {} + PLACE(k)]);",
               place_text(g_, "(t + step)", "k"), d_.steps, g_.polarizations, pitch_);
    text_.close();
    text_.close();
    text_.line("BARRIER();");
  }

  const KernelDesign& d_;
  const Geometry& g_;
  codegen::Text text_;
  std::size_t pitch_ = 1;
};

}  // namespace

std::size_t KernelDesign::period() const {
  if (fir == Fir::registers) return std::lcm(steps, geometry.taps);
  return summed > 0 && unit > steps ? unit : steps;
}

KernelText fir_text(const KernelDesign& design) { return FirWriter(design).write(); }

std::vector<std::complex<float>> transform_tables(const KernelDesign& design) {
  auto tables = stage_tables(design.radices);
  if (tables.empty()) tables.emplace_back(1.0f);
  return tables;
}

}  // namespace ridge::filterbank::on_device
