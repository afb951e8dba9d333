// Kernel text and designs that `registers` and `gather` share.
#include "filterbank/device/fir/any_size.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/butterfly.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/fir/lines_codegen.hpp"

namespace ridge::filterbank::on_device {

AnySizeWriter::AnySizeWriter(const KernelDesign& design) : d_(design), g_(design.geometry) {
  pitch_ = padded(g_.channels - 1) + 1;
  // Consecutive lines start two 8-byte banks apart where their length would put them on the same bank.
  if (pitch_ % 16 == 0) pitch_ += 2;
}

KernelText AnySizeWriter::write() {
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
  filter();
  text_.close();
  return {KernelSource{.name = fmt::format("filter bank {} x {}, {}", g_.channels, g_.taps, d_.fir->name),
                       .text = text_.str()},
          (lines + roots) * sizeof(float) * 2};
}

void AnySizeWriter::head() {
  text_.line("// {} channels of {} taps, {}, {} in registers; {} stations and {} spectra at a time", g_.channels,
             g_.taps, ridge::to_string(g_.samples), d_.fir->name, d_.streams, d_.steps);
  text_.raw(conversion_text(g_.samples, d_.parts));
  text_.raw(codegen::butterfly_text({d_.radices.begin(), d_.radices.end()}, false));
  text_.raw(ridge::detail::kernel_text("filterbank/lines"));
  text_.raw(finish_macros(d_));
}

std::string AnySizeWriter::arguments() const {
  return fmt::format(
      "GLOBAL const raw_t* RESTRICT in, GLOBAL float2* RESTRICT out, {} weights, GLOBAL const float2* RESTRICT "
      "tables, "
      "GLOBAL const float2* RESTRICT factors, int origin, int newest, int spectra, ulong out_offset, int rounds, int "
      "within{}",
      d_.constant_weights ? "CONSTANT float*" : "GLOBAL const float* RESTRICT", delay_arguments(g_));
}

void AnySizeWriter::units() {
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

void AnySizeWriter::load(const std::string& to, std::size_t j, const std::string& row, const std::string& condition) {
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

void AnySizeWriter::row_pointers(const std::string& row) {
  if (g_.block != g_.channels) return;
  for (std::size_t j = 0; j < each(); ++j) {
    text_.line(
        "GLOBAL const raw_t* from{0} = in + ((long)(origin / {1} + {2}{5}) * {3} + (station{0} * {1} + {6}) * "
        "{4} + part{0});",
        j, g_.channels, row, stride(), d_.split(), later(j), place(j));
  }
}

void AnySizeWriter::open_rounds() {
  if (d_.rounds > 0) {
    text_.open("for (int round = 0; round < {}; ++round)", d_.rounds);
  } else {
    text_.open("for (int round = 0; round < rounds; ++round)");
  }
}

void AnySizeWriter::put(std::size_t j, std::size_t step) {
  const std::size_t complexes = d_.parts / 2;
  for (std::size_t c = 0; c < complexes; ++c) {
    const std::string value = fmt::format("make_float2(sum[{}], sum[{}])", 2 * c, 2 * c + 1);
    // With 4 parts, a unit has both polarizations; with 2 parts, the one that its number selects.
    const std::string polarization = complexes == 2 ? fmt::format("{}", c) : fmt::format("part{}", j);
    if (d_.transform) {
      text_.line("if (unit{0} < {1}) points[((stream{0} * {2} + {3}) * {4} + {5}) * {6} + PLACE(channel{0})] = {7};", j,
                 d_.units(), d_.steps, step, g_.polarizations, polarization, pitch_, value);
    } else {
      text_.line(
          "if (here{0} && t + {1} < spectra) out[out_offset + (((ulong)(t + {1}) * {2} + {3}) * {4} + station{0}) * "
          "{5} "
          "+ channel{0}] = {6};",
          j, step, g_.polarizations, polarization, g_.stations, g_.channels, value);
    }
  }
}

void AnySizeWriter::transform() {
  if (!d_.transform) return;
  text_.line("BARRIER();");
  const LinesDesign lines{
      .points = g_.channels, .lines = d_.lines(), .items = d_.items, .radices = d_.radices, .pitch = pitch_};
  const auto open_line = [&] {
    text_.line("const int step = line / {0} % {1}, pol = line % {0}, station = first_station + line / {2};",
               g_.polarizations, d_.steps, g_.polarizations * d_.steps);
    text_.open("if (t + step < spectra{})",
               d_.streams > 1 ? fmt::format(" && station < {}", g_.stations) : std::string());
    if (!in_place()) open_output(text_, d_, place_text(g_, "t + step", "0"));
    open_finish(text_, d_, "t + step");
  };
  lines_text(text_, lines, open_line, [&](codegen::Text& text, const std::string& value, const std::string& k) {
    if (in_place()) {
      // Stored in local memory again, because the output has another order or is power.
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

// Sums `summed` times of every channel and writes power rows.
void AnySizeWriter::store_power() {
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
  } else if (d_.products == Products::moments) {
    const std::size_t pols = g_.polarizations;
    text_.line("sum[0] += xx, sum[{0}] = FMA(xx, xx, sum[{0}]);", pols);
    if (pols == 2) text_.line("sum[1] += yy, sum[3] = FMA(yy, yy, sum[3]);");
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

void AnySizeWriter::store_by_channel() {
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

std::vector<std::complex<float>> transform_tables(const KernelDesign& design) {
  auto tables = stage_tables(design.radices);
  if (tables.empty()) tables.emplace_back(1.0f);
  return tables;
}

bool sum_any_size(KernelDesign& design, std::size_t times) {
  design.summed = design.unit = std::gcd(times, design.steps);
  return true;
}

std::vector<KernelDesign> any_size_designs(const Device& device, const Problem& problem, const Geometry& g,
                                           const Fir& fir, LimitSteps& limit, bool transform, std::size_t parts) {
  const std::size_t largest_radix = device.limits().private_arrays_in_registers ? 16 : 8;
  std::vector<KernelDesign> found;
  KernelDesign d{.geometry = g, .fir = &fir, .transform = transform, .parts = parts};
  d.factors = transform ? factors_of(problem, g) : Factors::none;
  if (transform) {
    d.radices = radices_of(g.channels, largest_radix);
    if (d.radices.empty()) return {};
  }
  const std::size_t most = std::min<std::size_t>(device.limits().work_group, 256);
  const std::size_t split = 2 * g.polarizations / parts;
  d.items = std::min(most, std::bit_ceil(std::max<std::size_t>(g.channels * split, 32)));
  // Several stations where one does not occupy all work-items.
  d.streams = std::clamp<std::size_t>(d.items / (g.channels * split), 1, g.stations);
  // Without a transform a station's channels may be divided among groups, one channel per work-item.
  if (!transform) d.channel_groups = std::max<std::size_t>(1, (g.channels * split + d.items - 1) / d.items);
  const std::size_t local = local_memory(device);
  for (const std::size_t target : {std::size_t{4096}, std::size_t{2048}, std::size_t{8192}}) {
    const std::size_t values = d.streams * g.channels * g.polarizations / d.channel_groups;
    d.steps = limit(g, std::max<std::size_t>(1, target / values));
    d.rounds = fixed_rounds(device, d.period());
    const std::size_t bytes = transform ? (d.lines() * (padded(g.channels) + 2) + table_size(d.radices)) * 8 : 0;
    if (bytes > local) continue;
    const bool there =
        std::any_of(found.begin(), found.end(), [&](const KernelDesign& one) { return one.steps == d.steps; });
    if (!there) found.push_back(d);
  }
  return found;
}

KernelDesign any_size_alone(const Device& device, const Problem& problem, Geometry g, const Fir& fir, LimitSteps& limit,
                            std::size_t parts) {
  g.by_channel = false;
  g.times = 1;
  return any_size_designs(device, problem, g, fir, limit, false, parts).front();
}

}  // namespace ridge::filterbank::on_device
