// ridge bench filterbank: times every variant of the filter bank, next to liquid-dsp and the roofline ceiling.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>
#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "bench/filterbank.hpp"

#include "bench/floor.hpp"
#include "bench/peers/channelizer.hpp"
#include "bench/rows_as_they_come.hpp"
#include "filterbank/host/host_variant.hpp"
#include "machine/energy.hpp"

namespace ridge::cli {
namespace {

std::pair<std::size_t, std::size_t> parse_shape_of_bank(const std::string& text) {
  std::size_t channels = 0, taps = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%zux%zu%n", &channels, &taps, &used) != 2 ||
      static_cast<std::size_t>(used) != text.size()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("--shape {}: needs channels x taps, as in 256x16", text));
  }
  return {channels, taps};
}

filterbank::Ratio ratio_of(const std::string& text) {
  filterbank::Ratio ratio;
  if (std::sscanf(text.c_str(), "%zu/%zu", &ratio.numerator, &ratio.denominator) < 1) {
    throw Error(ErrorKind::invalid_argument, fmt::format("--oversample {}: needs a ratio, as in 8/7", text));
  }
  return ratio;
}

// Compares the power of every channel summed over the run: a peer may number channels differently and start one sample
// earlier.
void check_powers(const std::string& peer, std::size_t channels, std::span<const std::complex<float>> ours,
                  std::span<const std::complex<float>> theirs) {
  std::vector<double> a(channels), b(channels);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    a[i % channels] += std::norm(std::complex<double>(ours[i]));
    b[i % channels] += std::norm(std::complex<double>(theirs[i]));
  }
  double straight = 0, mirrored = 0, size = 0;
  for (std::size_t k = 0; k < channels; ++k) {
    straight += std::abs(a[k] - b[k]);
    mirrored += std::abs(a[k] - b[(channels - k) % channels]);
    size += a[k];
  }
  if (std::min(straight, mirrored) > 0.1 * size) {
    throw Error(ErrorKind::internal,
                fmt::format("{} and Ridgeline differ in the power of {} channels (relative difference {:.2g})", peer,
                            channels, std::min(straight, mirrored) / size));
  }
}

class FilterbankCase {
 public:
  FilterbankCase(const Device& device, const filterbank::Problem& problem, const FilterbankCases& wanted,
                 const BenchOptions& options)
      : device_(device),
        problem_(problem),
        options_(options),
        scenario_(wanted.scenario),
        power_(wanted.power),
        seconds_(wanted.seconds) {
    const std::size_t hop = problem.channels * problem.oversampling.denominator / problem.oversampling.numerator;
    spectra_ = std::max<std::size_t>(16, static_cast<std::size_t>(wanted.size > 0 ? wanted.size : 4e6) /
                                             (hop * problem.stations * problem.polarizations));
    const std::size_t rows = (spectra_ * hop + problem.channels - 1) / problem.channels;
    in_ = base::AlignedArray<std::byte>(rows * problem.channels * problem.stations * problem.polarizations *
                                        filterbank::bytes_of(problem.samples));
    fill();
  }

  std::vector<report::BenchRow> run(std::vector<std::string>& notes, std::string& explanation) {
    planner::Options planning;
    planning.variant = options_.variant;
    const filterbank::Plan chosen = filterbank::plan(device_, problem_, planning);
    explanation = chosen.explain();
    out_ = base::AlignedArray<std::complex<float>>((spectra_ + problem_.channels / chosen.hop() + 2) *
                                                   chosen.spectrum_size());
    std::fill(out_.begin(), out_.end(), 0.0f);
    std::vector<std::string> names;
    std::vector<std::shared_ptr<filterbank::Stream>> streams;
    std::vector<std::function<void()>> calls;
    for (const auto& candidate : filterbank::candidates(device_, problem_)) {
      const bool asked = candidate.variant == options_.variant || candidate.name() == options_.variant;
      if (!candidate.refusal.empty() || (!options_.variant.empty() && !asked)) continue;
      if (candidate.variant == "reference" && !asked) continue;
      if (scenario_ && candidate.name() != chosen.variant()) continue;
      const filterbank::Plan plan = filterbank::plan(
          device_, problem_,
          {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = candidate.name()});
      streams.push_back(std::make_shared<filterbank::Stream>(plan));
      names.push_back(candidate.name());
      calls.emplace_back([this, stream = streams.back()] { stream->push(in_.span(), out_.span()); });
    }
    std::vector<std::string> peers;
    base::AlignedArray<std::complex<float>> theirs;
    add_peers(chosen, peers, theirs, calls, notes);
    if (scenario_) add_fir(chosen.problem(), calls);
    const auto seconds = base::best_seconds_interleaved(calls, {.seconds = seconds_, .at_least = 3, .at_most = 500});

    const auto times = static_cast<double>(spectra_);
    const FftFloor floor = fft_floor(device_, chosen.flops() * times, chosen.bytes() * times, false, problem_.threads);
    const double roof = std::max(floor.arithmetic_seconds, floor.memory_seconds);
    std::vector<report::BenchRow> rows;
    for (std::size_t i = 0; i < names.size(); ++i) {
      report::BenchRow row;
      row.problem = text();
      row.device = device_.id();
      row.variant = names[i];
      row.seconds = seconds[i];
      row.gflops = chosen.flops() * times / seconds[i] * 1e-9;
      row.gbytes_per_s = chosen.bytes() * times / seconds[i] * 1e-9;
      row.roof_share = roof / seconds[i];
      for (std::size_t p = 0; p < peers.size(); ++p) row.peers[peers[p]] = seconds[names.size() + p];
      row.chosen = names[i] == chosen.variant();
      rows.push_back(row);
      notes.push_back(fmt::format(
          "{} {}: {:.0f} Msample/s", text(), names[i],
          times * static_cast<double>(chosen.hop() * problem_.stations * problem_.polarizations) / seconds[i] * 1e-6));
    }
    if (scenario_) notes.push_back(fir_text(seconds.back()));
    for (std::size_t i = 0; power_ && i < names.size(); ++i) {
      if (names[i] != chosen.variant()) continue;
      auto counter = machine::EnergyCounter::open(device_);
      notes.push_back(
          fmt::format("{} {}: {}", text(), names[i], machine::power_text(counter, calls[i], chosen.flops() * times)));
    }
    return rows;
  }

  std::string text() const { return filterbank_text(problem_); }

 private:
  void fill() {
    std::uint32_t noise = 1;
    const auto next = [&] { return noise = noise * 1664525 + 1013904223; };
    if (problem_.samples == filterbank::Samples::float32) {
      auto* values = reinterpret_cast<float*>(in_.data());
      for (std::size_t i = 0; i < in_.size() / 4; ++i) values[i] = static_cast<float>(next() >> 8) * 0x1p-24f - 0.5f;
    } else {
      for (std::byte& value : in_) value = static_cast<std::byte>(next() >> 24);
    }
  }

  // The second part of the study's table: the FIR without the FFT.
  void add_fir(const filterbank::Problem& complete, std::vector<std::function<void()>>& calls) {
    const filterbank::Geometry g = filterbank::resolve(complete);
    const auto fir = filterbank::host_fir_alone(complete, g);
    calls.emplace_back([this, fir, weights = fir->prepare(complete.weights)] {
      const filterbank::RawView raw(0, in_.data(), in_.size(), nullptr, 0);
      fir->run({.raw = raw, .first = 0, .spectra = spectra_, .weights = *weights, .out = out_.data()});
    });
  }
  std::string fir_text(double seconds) const {
    const filterbank::Geometry g = filterbank::resolve(problem_);
    const auto samples = static_cast<double>(spectra_ * g.hop * g.stations * g.polarizations);
    return fmt::format("{} FIR alone: {:.0f} Msample/s, {:.0f} GFLOP/s", text(), samples / seconds * 1e-6,
                       samples * (2 + 4 * (static_cast<double>(g.taps) - 1)) / seconds * 1e-9);
  }

  void add_peers(const filterbank::Plan& chosen, std::vector<std::string>& names,
                 base::AlignedArray<std::complex<float>>& theirs, std::vector<std::function<void()>>& calls,
                 std::vector<std::string>& notes) {
    for (const std::string& wanted : options_.against) {
      const auto all = channelizer_peers();
      const auto peer = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == wanted; });
      if (peer == all.end())
        throw Error(ErrorKind::invalid_argument, fmt::format("no peer \"{}\"; the only peer is liquid", wanted));
      if (!peer->missing.empty()) {
        notes.push_back(fmt::format("{}: {}", peer->name, peer->missing));
        continue;
      }
      if (problem_.stations != 1 || problem_.threads != 1 || problem_.samples != filterbank::Samples::int8 ||
          chosen.hop() != problem_.channels) {
        notes.push_back(fmt::format(
            "{} is left out of {}: it needs int8, one station, one thread and critical sampling", peer->name, text()));
        continue;
      }
      theirs = base::AlignedArray<std::complex<float>>(out_.size());
      std::fill(theirs.begin(), theirs.end(), 0.0f);
      calls.push_back(peer->prepare({.channels = problem_.channels,
                                     .taps = problem_.taps,
                                     .blocks = spectra_,
                                     .prototype = chosen.problem().weights},
                                    reinterpret_cast<const std::int8_t*>(in_.data()), theirs.data()));
      calls.back()();
      filterbank::Stream stream(chosen);
      const std::size_t made = stream.push(in_.span(), out_.span());
      check_powers(peer->name, problem_.channels, out_.span().first(made * chosen.spectrum_size()),
                   theirs.span().first(made * chosen.spectrum_size()));
      names.push_back(peer->name);
    }
  }

  Device device_;
  filterbank::Problem problem_;
  const BenchOptions& options_;
  bool scenario_, power_;
  double seconds_;
  std::size_t spectra_;
  base::AlignedArray<std::byte> in_;
  base::AlignedArray<std::complex<float>> out_;
};

filterbank::Samples samples_named(const std::string& text) {
  if (text == "i4") return filterbank::Samples::int4;
  if (text == "i8") return filterbank::Samples::int8;
  if (text == "i16") return filterbank::Samples::int16;
  if (text == "f32") return filterbank::Samples::float32;
  throw Error(ErrorKind::invalid_argument, fmt::format("--samples {}: needs i4, i8, i16 or f32", text));
}

void bench(const FilterbankCases& wanted, const BenchOptions& options) {
  compare_plans();
  report::Bench result{.title = "Polyphase filter bank",
                       .note = "Integers in, float channels out, through memory; two polarizations.",
                       .rows = {}};
  const auto progress = base::terminal_progress();
  // Devices only by name: without --device the bench runs on the host.
  std::vector<Device> chosen;
  for (const std::string& name : options.devices) chosen.push_back(device(name));
  if (chosen.empty()) chosen.push_back(host());
  const double cases = static_cast<double>(chosen.size() * wanted.shapes.size() * wanted.samples.size());
  double done = 0;
  RowsAsTheyCome shown;
  for (const Device& where : chosen) {
    for (const std::string& samples : wanted.samples) {
      for (const std::string& shape : wanted.shapes) {
        const auto [channels, taps] = parse_shape_of_bank(shape);
        const filterbank::Problem problem{.channels = channels,
                                          .taps = taps,
                                          .stations = wanted.stations,
                                          .samples = samples_named(samples),
                                          .oversampling = ratio_of(wanted.oversample),
                                          .threads = wanted.threads};
        progress(done++ / cases, filterbank_text(problem));
        const FilterbankResult one = bench_filterbank(where, problem, wanted, options);
        result.rows.insert(result.rows.end(), one.rows.begin(), one.rows.end());
        progress(1, "");
        for (const std::string& note : one.notes) fmt::print("{}\n", note);
        if (options.explain) fmt::print("{}\n", one.explanation);
        shown.show(report::to_text(result), result.rows.size());
      }
    }
  }
  shown.finish(report::to_text(result));
  save_bench(result, options);
}

}  // namespace

FilterbankResult bench_filterbank(const Device& device, const filterbank::Problem& problem,
                                  const FilterbankCases& wanted, const BenchOptions& options) {
  if (!device.is_host()) return bench_filterbank_on_device(device, problem, wanted, options);
  FilterbankResult result;
  FilterbankCase on_host(device, problem, wanted, options);
  result.rows = on_host.run(result.notes, result.explanation);
  return result;
}

std::string filterbank_text(const filterbank::Problem& problem) {
  return fmt::format("filterbank {} {}x{}{}{}{}", ridge::to_string(problem.samples), problem.channels, problem.taps,
                     problem.stations > 1 ? fmt::format(" stations {}", problem.stations) : "",
                     problem.oversampling.numerator != problem.oversampling.denominator
                         ? fmt::format(" {}/{}", problem.oversampling.numerator, problem.oversampling.denominator)
                         : "",
                     problem.threads == 1   ? ""
                     : problem.threads == 0 ? " all threads"
                                            : fmt::format(" {} threads", problem.threads));
}

void add_bench_filterbank(Command& bench_command) {
  Command& command =
      bench_command.subcommand("filterbank", "Time the polyphase filter bank, integer samples to float channels");
  command.footer(
      "\nExamples:\n"
      "  ridge bench filterbank --against liquid                         64, 256 and 1024 channels of 16 taps, one "
      "thread\n"
      "  ridge bench filterbank --shape 1024x4,512x8,256x16,128x32,64x64 --stations 16 --samples i4,i8,i16\n"
      "  ridge bench filterbank --shape 256x16 --threads 0 --oversample 8/7\n"
      "  ridge bench filterbank --device cuda:0 --against cufft --shape 256x16 --stations 64 --samples i8,i16\n"
      "  ridge bench filterbank --device cuda:0 --scenarios --transfers --power     the study's table");
  auto options = add_bench_options(command, "liquid (host), cufft (cuda)");
  auto wanted = std::make_shared<FilterbankCases>();
  command.option("--shape", wanted->shapes, "Problems as channels x taps").separated_by(',').value_name("CxT,...");
  command.option("--samples", wanted->samples, "Sample types: i4, i8, i16, f32")
      .separated_by(',')
      .value_name("TYPE,...");
  command.option("--stations", wanted->stations, "Number of stations").shows_default().positive();
  command.threads(wanted->threads);
  command.option("--oversample", wanted->oversample, "Oversampling ratio, as in 8/7").shows_default();
  command.option("--size", wanted->size, "Complex samples per run (default 4e6; devices 1e8)");
  command.option("--seconds", wanted->seconds, "Time per measurement, in seconds").shows_default().between(0.0, 60.0);
  command.flag("--detect", wanted->detect, "Devices: also time detected power, summed over times in the same kernel");
  command.flag("--transfers", wanted->transfers,
               "Devices: also time with transfers from and to host memory, relative to the link");
  command.flag("--power", wanted->power, "Watts and GFLOP/s per watt by the energy counter (RAPL, NVML)");
  command.flag("--all", wanted->all, "Devices: time every candidate, not only the planner's choice");
  auto scenarios = std::make_shared<bool>(false);
  command.flag(
      "--scenarios", *scenarios,
      "The study's problems: 1024x4 .. 64x64, 16 and 64 stations, int4, int8 and int16; complete and FIR only");
  command.runs([wanted, options, scenarios] {
    if (!*scenarios) return bench(*wanted, *options);
    wanted->scenario = true;
    wanted->shapes = {"1024x4", "512x8", "256x16", "128x32", "64x64"};
    wanted->samples = {"i4", "i8", "i16"};
    for (const std::size_t stations : {16, 64}) {
      wanted->stations = stations;
      bench(*wanted, *options);
    }
  });
}

}  // namespace ridge::cli
