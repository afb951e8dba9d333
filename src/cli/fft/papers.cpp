// ridge fft papers: runs, checks and times the variants of the papers and prints the papers' tables.
#include "command/command.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "bench/lengths.hpp"
#include "bench/peers/peer.hpp"
#include "cli/fft/papers_report.hpp"
#include "papers/fft/classic/classic.hpp"

namespace ridge::cli {
namespace {

using namespace fft::papers;
using Points = std::vector<std::complex<float>>;

struct PapersOptions {
  std::vector<std::string> devices, platforms{"own"}, against;
  std::string lengths = "2^8..2^16", json, markdown;
  double seconds = 0.01;
  bool explain = false, units = false, only_units = false, list = false, accuracy = false, private_memory = false,
       phases = false;
};

const Peer* find_fftw(const PapersOptions& options, const std::vector<Peer>& peers) {
  for (const std::string& name : options.against) {
    if (name != "fftw")
      throw Error(ErrorKind::invalid_argument, fmt::format("--against {}: the only peer here is fftw", name));
    for (const Peer& peer : peers) {
      if (peer.name == name && peer.missing.empty()) return &peer;
      if (peer.name == name) fmt::print("fftw: {}\n", peer.missing);
    }
  }
  return nullptr;
}

PaperBaselines baselines(std::size_t n, const PapersOptions& options, const Peer* fftw) {
  Points in(n), out(n);
  PeerRun theirs;
  if (fftw != nullptr) theirs = fftw->prepare({.shape = {n}}, in.data(), out.data());  // overwrites the arrays
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  for (auto& point : in) {
    const float re = uniform(generator), im = uniform(generator);
    point = {re, im};
  }
  const auto radix2 = fft::make_radix2_dit<float>(n);
  const fft::Plan<float> ours(host(), {.shape = {n}}, {.effort = Effort::quick});
  std::vector<std::function<void()>> calls{
      [&] { radix2->run(fft::Direction::forward, in.data(), out.data(), nullptr); },
      [&] { ours.forward(std::span<const std::complex<float>>(in), std::span<std::complex<float>>(out)); }};
  if (theirs) calls.push_back(theirs);
  const auto best = base::best_seconds_interleaved(
      calls, {.seconds = options.seconds, .at_least = 1, .at_most = 200, .round = options.seconds / 4});
  return {.radix2 = best[0], .host = best[1], .fftw = theirs ? best[2] : 0};
}

std::vector<PaperSeries> series_of(const PapersOptions& options, std::vector<Device>& acting) {
  std::vector<PaperSeries> all;
  std::vector<Device> devices_wanted;
  for (const std::string& name : options.devices) devices_wanted.push_back(device(name));
  if (devices_wanted.empty()) {
    for (const Device& one : devices().devices) {
      if (!one.is_host()) devices_wanted.push_back(one);
    }
  }
  if (devices_wanted.empty()) {
    throw Error(ErrorKind::unavailable, "the papers' variants are device kernels: no OpenCL or CUDA device was found");
  }
  for (const Device& one : devices_wanted) {
    if (one.is_host()) {
      throw Error(ErrorKind::invalid_argument,
                  "the papers' kernels run on OpenCL and CUDA devices; for the host see ridge bench fft --classic");
    }
    for (const std::string& name : options.platforms) {
      acting.push_back(name == "own" ? one : acting_as(one, platform(name)));
      all.push_back({.device = acting.back().info(), .platform = name});
    }
  }
  return all;
}

UnitRow unit_row(const Device& device, UnitDesign design, std::size_t lines, double seconds) {
  const double flops = 5.0 * static_cast<double>(design.length * lines) * std::countr_zero(design.length);
  return {.length = design.length,
          .p = design.points,
          .items = design.length / design.points,
          .units = design.units,
          .radices = fmt::format("{}", fmt::join(design.radices, "*")),
          .twiddles = design.vectors         ? "table"
                      : design.in_register() ? "literals"
                                             : to_string(design.twiddles),
          .rcc = compute_to_communication(std::countr_zero(design.length),
                                          design.in_register() ? 1 : design.radices.size()),
          .gflops = flops / measure_unit(device, design, lines, seconds) * 1e-9};
}

// The thesis's measurements: p = 2, 4, 8, 16 at 1024 points on one unit, then increasing numbers of units for the best
// p. A platform is limited to its own number of units.
UnitSeries measure_units(const Device& device, const std::string& name, double seconds) {
  constexpr std::size_t kLength = 1024, kRounds = 32;
  const std::size_t free_lines = device.info().shares_host_memory ? 256 : 16384;
  const std::size_t own = name == "own" ? 0 : platform(name).units, most = own > 0 ? own : 40;
  UnitSeries series{.device = device.info(), .platform = name};
  const auto add = [&](std::size_t length, std::size_t p, std::size_t units, UnitTwiddles twiddles) {
    UnitDesign design = plan_unit(length, p, device.limits());
    if (!design.refusal.empty()) return;
    design.twiddles = twiddles;
    design.units = units;
    design.rounds = units > 0 ? kRounds : 1;
    const std::size_t lines = units > 0 ? units * kRounds : free_lines * kLength / length;
    series.rows.push_back(unit_row(device, design, lines, seconds));
  };
  for (const std::size_t p : {2, 4, 8, 16}) add(kLength, p, 1, UnitTwiddles::table);
  for (const std::size_t p : {2, 4, 8, 16}) add(kLength, p, 1, UnitTwiddles::constant);
  for (const std::size_t p : {2, 4, 8, 16}) add(kLength, p, 1, UnitTwiddles::quarter);
  for (const std::size_t units : {2, 4, 8, 16, 20, 40}) {
    if (units <= most) add(kLength, 8, units, UnitTwiddles::table);
  }
  for (const std::size_t length : {16, 32}) add(length, 0, 0, UnitTwiddles::table);
  for (const std::size_t length : {64, 256, 1024}) {
    const UnitDesign design = plan_vector_unit(length, device);
    if (design.refusal.empty()) series.rows.push_back(unit_row(device, design, free_lines * kLength / length, seconds));
  }
  if (own > 0) return series;
  if (device.limits().compute_units > most) add(kLength, 8, device.limits().compute_units, UnitTwiddles::table);
  for (const std::size_t p : {2, 4, 8, 16}) add(kLength, p, 0, UnitTwiddles::table);
  return series;
}

// Figure 2.7 of the thesis: relative error of one transform (against double) and of a round trip, by butterfly.
void print_accuracy() {
  using Complex = std::complex<float>;
  const auto distance = [](const auto& a, const auto& b, double scale) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference += std::norm(std::complex<double>(a[i]) * scale - std::complex<double>(b[i]));
      norm += std::norm(std::complex<double>(b[i]));
    }
    return std::sqrt(difference / norm);
  };
  std::vector<std::vector<std::string>> rows{{"N", "butterfly", "forward", "round trip"}};
  for (const std::size_t n : {64, 1024, 16384}) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
    std::vector<Complex> in(n), there(n), back(n);
    for (Complex& point : in) {
      const float re = uniform(random), im = uniform(random);
      point = {re, im};
    }
    const std::vector<std::complex<double>> wide(in.begin(), in.end());
    std::vector<std::complex<double>> exact(n);
    fft::plan<double>(host(), {.shape = {n}, .threads = 1}, {.effort = Effort::quick}).forward(wide, exact);
    const auto add = [&](const char* name, const std::unique_ptr<fft::LineKernel<float>>& kernel) {
      kernel->run(fft::Direction::forward, in.data(), there.data(), nullptr);
      kernel->run(fft::Direction::inverse, there.data(), back.data(), nullptr);
      rows.push_back({fmt::to_string(n), name, fmt::format("{:.1e}", distance(there, exact, 1)),
                      fmt::format("{:.1e}", distance(back, in, 1.0 / static_cast<double>(n)))});
    };
    add("10 operations", fft::make_radix2_dit<float>(n));
    add("6 FMAs, divided by the imaginary part (1e-7 for 0)",
        fft::make_fma6_divided_by<float>(fft::Divisor::imaginary, n));
    add("6 FMAs, divided by the larger part", fft::make_fma6<float>(n));
  }
  fmt::print("{}", base::table(rows));
}

void print_private_memory(const PapersOptions& options) {
  std::vector<Device> acting;
  series_of(options, acting);
  for (const Device& device : acting) {
    const auto rows = probe_private_memory(device, options.seconds);
    std::vector<std::vector<std::string>> table{{"private array", "ns per access"}};
    for (const auto& row : rows) {
      table.push_back(
          {base::human_bytes(static_cast<double>(row.bytes)), fmt::format("{:.2f}", 1e9 * row.access_seconds)});
    }
    fmt::print("{}: accesses are fast up to {}{}\n{}", device.id(),
               base::human_bytes(static_cast<double>(private_capacity(rows))),
               device.limits().registers == 0
                   ? "; the device reports no registers"
                   : fmt::format("; {} registers per unit reported", device.limits().registers),
               base::table(table));
  }
}

// Figure 5.7 of the thesis, from one unit to all, and the bound of equation 5.1 with all bytes counted.
void print_phases(const PapersOptions& options) {
  constexpr std::size_t kLength = 1024, kPoints = 8;
  std::vector<Device> acting;
  series_of(options, acting);
  for (const Device& device : acting) {
    std::vector<std::vector<std::string>> table{{"units", "load and store", "exchanges", "butterflies", "twiddles",
                                                 "ns per transform", "GFLOP/s", "GFLOP/s of load and store"}};
    const std::size_t all = std::max<std::size_t>(1, device.limits().compute_units);
    std::vector<std::size_t> counts;
    for (std::size_t units = 1; units < all; units *= 4) counts.push_back(units);
    for (const std::size_t units : {all, std::size_t{0}}) counts.push_back(units);
    for (const std::size_t units : counts) {
      const UnitPhaseTimes times = measure_unit_phases(device, kLength, kPoints, units, options.seconds);
      const auto share = [&](double seconds) { return fmt::format("{:.0f} %", 100 * seconds / times.all()); };
      const double flops = 5e-9 * static_cast<double>(kLength) * std::countr_zero(kLength);
      table.push_back({units == 0 ? "free" : fmt::to_string(units), share(times.memory), share(times.exchanges),
                       share(times.butterflies), share(times.twiddles), fmt::format("{:.4g}", 1e9 * times.all()),
                       fmt::format("{:.4g}", flops / times.all()), fmt::format("{:.4g}", flops / times.memory)});
    }
    fmt::print("{}: {} points, p = {}; what each phase adds to the ones before it\n{}", device.id(), kLength, kPoints,
               base::table(table));
  }
}

void list_variants() {
  for (const Variant& one : variants()) {
    fmt::print("{}/{:8} {} ({})\n", kFamily, one.name, one.what, one.limit);
  }
  fmt::print("{}/in_register  one work-item per transform (N <= 32)\n", kUnitFamily);
  fmt::print("{}/one_item     one work-item per transform with vector types (64 <= N <= 1024, OpenCL)\n", kUnitFamily);
  fmt::print("{}/simt         N/p work-items of p = 2, 4, 8, 16 points, exchange through local memory\n", kUnitFamily);
  fmt::print("\nplatforms\n");
  for (const Platform& one : platforms()) {
    fmt::print("  {:8} {}: groups of {}{}\n", one.name, one.machine, one.work_group,
               one.units > 0
                   ? fmt::format(", {} units, p <= {}, N <= {}, {} of local memory per group of 128", one.units,
                                 points_per_item(one.capacity), longest_in_local_memory(one.capacity),
                                 base::human_bytes(static_cast<double>(local_memory_share(one.capacity, 128))))
                   : "");
  }
}

void run(const PapersOptions& options) {
  const auto progress = base::terminal_progress();
  PaperReport report;
  std::vector<Device> acting;
  std::vector<PaperSeries> series = series_of(options, acting);
  std::vector<SharedKernels> shared_kernels;
  for (const Device& one : acting) shared_kernels.emplace_back(one);
  const std::vector<Peer> peers = fft_peers();
  const Peer* fftw = find_fftw(options, peers);
  const std::vector<std::size_t> lengths =
      options.only_units ? std::vector<std::size_t>{} : parse_lengths(options.lengths);
  std::size_t done = 0;
  for (const std::size_t n : lengths) {
    if (!std::has_single_bit(n)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--lengths: {} is not a power of two, as the papers' variants need", n));
    }
    progress(static_cast<double>(done) / static_cast<double>(lengths.size()), fmt::format("{} points on the host", n));
    const PaperBaselines cpu = baselines(n, options, fftw);
    for (std::size_t i = 0; i < series.size(); ++i) {
      progress(static_cast<double>(done) / static_cast<double>(lengths.size()),
               fmt::format("{} points on {} as {}", n, acting[i].id(), series[i].platform));
      series[i].lengths.push_back(
          {cpu, measure_length(acting[i], std::countr_zero(n), shared_kernels[i], {.seconds = options.seconds})});
      if (options.explain) fmt::print("{}\n", series[i].lengths.back().times.decision.explain());
    }
    ++done;
  }
  for (std::size_t i = 0; i < acting.size() && (options.units || options.only_units); ++i) {
    progress(1, fmt::format("one FFT per unit on {}", acting[i].id()));
    report.units.push_back(measure_units(acting[i], series[i].platform, options.seconds));
  }
  if (!options.only_units) report.series = std::move(series);
  progress(1, "");
  const auto tables = paper_tables(report);
  fmt::print("{}", to_text(tables));
  if (!options.json.empty()) {
    base::write_file(options.json, to_json(report).dump(1) + "\n");
    fmt::print("wrote {}\n", options.json);
  }
  if (!options.markdown.empty()) {
    base::write_file(options.markdown, to_markdown(tables));
    fmt::print("wrote {}\n", options.markdown);
  }
}

}  // namespace

void add_fft_papers(Command& fft) {
  Command& command =
      fft.subcommand("papers", "Run the papers' variants A to F and one FFT per unit; print their tables");
  command.footer(
      "\nExamples:\n"
      "  ridge fft papers --list                                  the variants, their limits, the platforms\n"
      "  ridge fft papers --device opencl:pocl                    2^8..2^16, within the device's own limits\n"
      "  ridge fft papers --device cuda:0 --lengths 2^8..2^24 --against fftw --markdown tables.md\n"
      "  ridge fft papers --device cuda:0 --platform komdiv,intel,nvidia    groups of 128, 256, 1024\n"
      "  ridge fft papers --device cuda:0 --only-units            N/p work-items per transform, 1 to 40 units and all\n"
      "  ridge fft papers --device cuda:0 --only-units --platform hd4000,haswell      16 and 40 units\n"
      "  ridge fft in.npy out.npy --device cuda:0 --variant burtsev/CL      one of them by name\n"
      "  ridge fft explain 4096 --device cuda:0 --variant burtsev           the best variant of the family, and why\n"
      "\nPart 1 of a transform is the bit-reversal permutation, part 2 the butterflies. T_cpu is a sequential radix "
      "2.\n"
      "  K1   T_cpu / time with transfers          K2   T_cpu / time of the kernels\n"
      "  K2^  K2 over that of variant A            K3   part 2's speed-up over A's        %K  part 2's share\n"
      "The composition law: two parts with shares d1 + d2 = 1 that become u1 and u2 times as fast are together\n"
      "u1 u2 / (d1 u2 + d2 u1) times as fast. From the shares and speed-ups of a short length it predicts K2^ of a\n"
      "longer one. Every result is compared with the host's before it is timed. The choice for each length is saved\n"
      "(ridge wisdom) and used by --variant burtsev.");
  auto options = std::make_shared<PapersOptions>();
  command.option("--device", options->devices, "Device to run on; may be repeated (default: all but the host)")
      .separated_by(',')
      .value_name("NAME");
  command
      .option("--platform", options->platforms,
              "own, or a paper's machine to emulate: komdiv, intel, nvidia, hd4000, haswell")
      .separated_by(',')
      .shows_default();
  command.option("--lengths", options->lengths, "Lengths, powers of two").shows_default().value_name("LIST");
  command.option("--against", options->against, "fftw: also time FFTW").separated_by(',');
  command.option("--seconds", options->seconds, "Time per measurement, in seconds").shows_default().between(1e-4, 10.0);
  command.flag("--units", options->units, "Also time one FFT per unit");
  command.flag("--only-units", options->only_units, "Time only one FFT per unit");
  command.flag("--explain", options->explain, "Print the planner's choice for each length, with the rejected variants");
  command.flag("--list", options->list, "List variants and platforms, run nothing");
  command.flag("--accuracy", options->accuracy, "Only compare the accuracy of the thesis's radix-2 butterflies");
  command.flag("--phases", options->phases, "Only time the phases of the kernel of one FFT per unit (figure 5.7)");
  command.flag("--private", options->private_memory,
               "Only probe the private memory of a work-item by kernels of growing arrays");
  command.option("--json", options->json, "Write all figures to FILE as JSON").writes();
  command.option("--markdown", options->markdown, "Write the tables to FILE").writes();
  command.runs([options] {
    if (options->list) return list_variants();
    if (options->accuracy) return print_accuracy();
    if (options->phases) return print_phases(*options);
    if (options->private_memory) return print_private_memory(*options);
    run(*options);
  });
}

}  // namespace ridge::cli
