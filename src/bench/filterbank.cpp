// ridge bench filterbank: its options, and every variant of the filter bank on the host next to liquid-dsp.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "bench/cases.hpp"
#include "bench/peers/peer.hpp"
#include "device/random.hpp"
#include "filterbank/host/host_variant.hpp"

namespace ridge::cli {
namespace {

filterbank::Samples samples_named(const std::string& text) {
  using filterbank::Samples;
  const std::pair<const char*, Samples> known[] = {
      {"i4", Samples::int4}, {"i8", Samples::int8}, {"i16", Samples::int16}, {"f32", Samples::float32}};
  for (const auto& [name, samples] : known) {
    if (text == name) return samples;
  }
  mistake(fmt::format("--samples {}: needs i4, i8, i16 or f32", text));
}

filterbank::Problem problem_of(const FilterbankCases& wanted, const std::string& shape, const std::string& samples) {
  filterbank::Problem problem{.stations = wanted.stations, .threads = wanted.threads};
  int used = 0;
  if (std::sscanf(shape.c_str(), "%zux%zu%n", &problem.channels, &problem.taps, &used) != 2 ||
      static_cast<std::size_t>(used) != shape.size()) {
    mistake(fmt::format("--shape {}: needs channels x taps, as in 256x16", shape));
  }
  problem.samples = samples_named(samples);
  if (std::sscanf(wanted.oversample.c_str(), "%zu/%zu", &problem.oversampling.numerator,
                  &problem.oversampling.denominator) < 1) {
    mistake(fmt::format("--oversample {}: needs a ratio, as in 8/7", wanted.oversample));
  }
  return problem;
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

class HostBank {
 public:
  HostBank(const Device& device, const filterbank::Problem& problem, const FilterbankCases& wanted,
           const BenchOptions& options)
      : device_(device),
        problem_(problem),
        wanted_(wanted),
        options_(options),
        g_(filterbank::resolve(problem)),
        chosen_(filterbank::plan(device, problem, {.variant = options.variant})),
        contest_{device, filterbank_text(problem)} {
    const std::size_t streams = problem.stations * problem.polarizations;
    spectra_ = std::max<std::size_t>(
        16, static_cast<std::size_t>(wanted.size > 0 ? wanted.size : 4e6) / (chosen_.hop() * streams));
    const std::size_t rows = (spectra_ * chosen_.hop() + problem.channels - 1) / problem.channels;
    in_ = base::AlignedArray<std::byte>(rows * problem.channels * streams * filterbank::bytes_of(problem.samples));
    fill_random(in_.span(), random_of(problem.samples));
    out_ = base::AlignedArray<std::complex<float>>((spectra_ + problem.channels / chosen_.hop() + 2) *
                                                   chosen_.spectrum_size());
    std::fill(out_.begin(), out_.end(), 0.0f);
    samples_ = static_cast<double>(spectra_ * chosen_.hop() * streams);
  }

  BenchResult run() {
    add_variants();
    if (!options_.against.empty()) add_peer();
    if (wanted_.scenario) add_fir();
    result_.explanation = chosen_.explain();
    result_.rows = contest_.time([&](const auto& calls) {
      return base::best_seconds_interleaved(calls, {.seconds = wanted_.seconds, .at_least = 3, .at_most = 500});
    });
    for (const report::BenchRow& row : result_.rows)
      add_note("{} {}: {:.0f} Msample/s", contest_.problem, row.variant, samples_ / row.seconds * 1e-6);
    if (wanted_.scenario) {
      const double seconds = contest_.other_seconds.front();
      add_note("{} FIR alone: {:.0f} Msample/s, {:.0f} GFLOP/s", contest_.problem, samples_ / seconds * 1e-6,
               samples_ * (2 + 4 * (static_cast<double>(g_.taps) - 1)) / seconds * 1e-9);
    }
    for (const Contest::Entry& one : contest_.ours) {
      if (wanted_.power && one.chosen)
        add_note("{} {}: {}", contest_.problem, one.name, power_of(device_, one.call, one.flops, 0, nullptr));
    }
    return std::move(result_);
  }

 private:
  template <class... Values>
  void add_note(fmt::format_string<Values...> text, Values&&... values) {
    result_.notes.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  void add_variants() {
    const auto times = static_cast<double>(spectra_);
    const double flops = chosen_.flops() * times, bytes = chosen_.bytes() * times;
    const double floor = floor_of(device_, flops, bytes, false, problem_.threads).seconds();
    for (const auto& candidate : filterbank::candidates(device_, problem_)) {
      const std::string name = candidate.name();
      const bool skip = (candidate.variant == "reference" && options_.variant.empty()) ||
                        (wanted_.scenario && name != chosen_.variant());
      if (skip || !is_wanted(candidate, options_.variant)) continue;
      auto stream = std::make_shared<filterbank::Stream>(filterbank::plan(device_, problem_, only(name)));
      contest_.ours.push_back({name, [this, stream] { stream->push(in_.span(), out_.span()); }, flops, bytes, floor,
                               name == chosen_.variant()});
    }
  }

  // The second part of the study's table: the FIR without the FFT.
  void add_fir() {
    const filterbank::Problem& complete = chosen_.problem();
    const auto fir = filterbank::host_fir_alone(complete, g_);
    contest_.others.emplace_back([this, fir, weights = fir->prepare(complete.weights)] {
      const filterbank::RawView raw(0, in_.data(), in_.size(), nullptr, 0);
      fir->run({.raw = raw, .first = 0, .spectra = spectra_, .weights = *weights, .out = out_.data()});
    });
  }

  void add_peer() {
    const ChannelizerPeer peer = liquid_channelizer();
    if (!peer.missing.empty()) return add_note("{}: {}", peer.name, peer.missing);
    if (problem_.stations != 1 || problem_.threads != 1 || problem_.samples != filterbank::Samples::int8 ||
        chosen_.hop() != problem_.channels) {
      return add_note("{} is left out of {}: it needs int8, one station, one thread and critical sampling", peer.name,
                      contest_.problem);
    }
    theirs_ = base::AlignedArray<std::complex<float>>(out_.size());
    std::fill(theirs_.begin(), theirs_.end(), 0.0f);
    const auto call = peer.prepare({.channels = problem_.channels,
                                    .taps = problem_.taps,
                                    .blocks = spectra_,
                                    .prototype = chosen_.problem().weights},
                                   reinterpret_cast<const std::int8_t*>(in_.data()), theirs_.data());
    call();
    filterbank::Stream stream(chosen_);
    const std::size_t made = stream.push(in_.span(), out_.span()) * chosen_.spectrum_size();
    check_powers(peer.name, problem_.channels, out_.span().first(made), theirs_.span().first(made));
    contest_.peers.push_back({peer.name, call});
  }

  const Device& device_;
  const filterbank::Problem& problem_;
  const FilterbankCases& wanted_;
  const BenchOptions& options_;
  const filterbank::Geometry g_;
  const filterbank::Plan chosen_;
  Contest contest_;
  std::size_t spectra_ = 0;
  double samples_ = 0;  // complex samples per run
  base::AlignedArray<std::byte> in_;
  base::AlignedArray<std::complex<float>> out_, theirs_;
  BenchResult result_;
};

BenchTable bank_table(const FilterbankCases& wanted, const BenchOptions& options) {
  compare_plans();
  BenchTable table("Polyphase filter bank", "Integers in, float channels out, through memory; two polarizations.");
  table.notes_first = true;
  // Devices only by name: without --device the bench runs on the host.
  for (const std::string& name : options.devices.empty() ? std::vector<std::string>{"host"} : options.devices) {
    const Device where = device(name);
    if (where.is_host()) check_peers(options, {"liquid"});
    for (const std::string& samples : wanted.samples) {
      for (const std::string& shape : wanted.shapes) {
        const filterbank::Problem problem = problem_of(wanted, shape, samples);
        table.cases.push_back(
            {filterbank_text(problem), [=](const Tell&) { return bench_filterbank(where, problem, wanted, options); }});
      }
    }
  }
  return table;
}

// The problems of --scenarios (thesis 002 in docs/measurements/papers.md) for one number of stations.
FilterbankCases scenario_of(FilterbankCases wanted, std::size_t stations) {
  wanted.scenario = true;
  wanted.shapes = {"1024x4", "512x8", "256x16", "128x32", "64x64"};
  wanted.samples = {"i4", "i8", "i16"};
  wanted.stations = stations;
  return wanted;
}

}  // namespace

BenchResult bench_filterbank(const Device& device, const filterbank::Problem& problem, const FilterbankCases& wanted,
                             const BenchOptions& options) {
  return device.is_host() ? HostBank(device, problem, wanted, options).run()
                          : bench_filterbank_on_device(device, problem, wanted, options);
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

Workload bench_of_filterbank() {
  auto wanted = std::make_shared<FilterbankCases>();
  auto scenarios = std::make_shared<bool>(false);
  Workload bench{.name = "filterbank",
                 .about = "Time the polyphase filter bank, integer samples to float channels",
                 .peers = "liquid (host), cufft (cuda)"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench filterbank --against liquid                         64, 256 and 1024 channels of 16 taps, one "
      "thread\n"
      "  ridge bench filterbank --shape 1024x4,512x8,256x16,128x32,64x64 --stations 16 --samples i4,i8,i16\n"
      "  ridge bench filterbank --shape 256x16 --threads 0 --oversample 8/7\n"
      "  ridge bench filterbank --device cuda:0 --against cufft --shape 256x16 --stations 64 --samples i8,i16\n"
      "  ridge bench filterbank --device cuda:0 --scenarios --transfers --power     the thesis's table";
  bench.add_options = [=](Command& command) {
    command.option("--shape", wanted->shapes, "Problems as channels x taps").separated_by(',').value_name("CxT,...");
    command.option("--samples", wanted->samples, "Sample types: i4, i8, i16, f32")
        .separated_by(',')
        .value_name("TYPE,...");
    command.option("--stations", wanted->stations, "Number of stations").shows_default().positive();
    command.threads(wanted->threads);
    command.option("--oversample", wanted->oversample, "Oversampling ratio, as in 8/7").shows_default();
    command.option("--size", wanted->size, "Complex samples per run (default 4e6; devices 1e8)").positive();
    add_seconds(command, wanted->seconds);
    command.flag("--detect", wanted->detect, "Devices: also time detected power, summed over times in the same kernel");
    command.flag("--transfers", wanted->transfers,
                 "Devices: also time with transfers from and to host memory, relative to the link");
    command.flag("--power", wanted->power, "Watts and GFLOP/s per watt by the energy counter (RAPL, NVML)");
    command.flag("--all", wanted->all, "Devices: time every candidate, not only the planner's choice");
    command.flag("--scenarios", *scenarios,
                 "Thirty fixed problems: 1024x4 to 64x64, 16 and 64 stations, int4, int8 and int16; whole bank and FIR "
                 "filter alone");
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) -> std::vector<BenchTable> {
    if (!*scenarios) return {bank_table(*wanted, options)};
    return {bank_table(scenario_of(*wanted, 16), options), bank_table(scenario_of(*wanted, 64), options)};
  };
  return bench;
}

}  // namespace ridge::cli
