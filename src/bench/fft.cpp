// ridge bench fft: parses the problems, times Ridgeline and the peers on the host, prints the table.
#include "bench/fft.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "bench/bench.hpp"
#include "bench/floor.hpp"
#include "bench/lengths.hpp"
#include "bench/peers/fftw_mpi.hpp"
#include "bench/rows_as_they_come.hpp"
#include "check/problem_text.hpp"
#include "command/process.hpp"
#include "machine/energy.hpp"

namespace ridge::cli {
namespace {

std::size_t points_of(const std::vector<std::size_t>& shape, std::size_t batch) {
  std::size_t points = batch;
  for (const std::size_t n : shape) {
    if (__builtin_mul_overflow(points, n, &points)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: the number of points overflows 64 bits", shape_text(shape)));
    }
  }
  return points;
}

template <class T>
void fill(base::AlignedArray<std::complex<T>>& data) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<T> uniform(T(-0.5), T(0.5));
  for (auto& value : data) {
    const T re = uniform(generator), im = uniform(generator);
    value = {re, im};
  }
}

// Relative distance of two results: a peer that computes something else is not timed.
template <class T>
double distance(const base::AlignedArray<std::complex<T>>& ours, const base::AlignedArray<std::complex<T>>& theirs) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    difference += std::norm(std::complex<double>(ours[i]) - std::complex<double>(theirs[i]));
    norm += std::norm(std::complex<double>(theirs[i]));
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

template <class T>
FftBenchResult bench_on_host(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers) {
  using Complex = std::complex<T>;
  const PeerProblem& problem = wanted.problem;
  const std::size_t points = points_of(problem.shape, problem.batch);
  const std::size_t spectrum = problem.real ? points / problem.shape.back() * (problem.shape.back() / 2 + 1) : points;
  const std::size_t size = std::max(points, spectrum);  // sufficient also for real arrays
  base::AlignedArray<Complex> in(size), out(size), expected(size), kept(size);
  std::fill(out.begin(), out.end(), Complex{});

  FftBenchResult result;
  std::vector<PeerRun> peer_runs;
  std::vector<std::string> peer_names;
  for (const Peer& peer : peers) {
    if (!peer.prepare) {
      result.notes.push_back(fmt::format("{}: left out: it does not run on the host", peer.name));
      continue;
    }
    try {
      peer_runs.push_back(peer.prepare(problem, in.data(), out.data()));
      peer_names.push_back(peer.name);
    } catch (const Error& error) {
      result.notes.push_back(fmt::format("{}: left out of {}: {}", peer.name, fft_problem_text(problem), error.what()));
    }
  }
  fft::Problem ours{.shape = problem.shape,
                    .batch = problem.batch,
                    .kind = problem.real ? fft::Kind::real : fft::Kind::complex,
                    .threads = problem.threads};
  std::vector<fft::Plan<T>> plans;
  std::vector<std::string> names;
  const auto add = [&](const planner::Options& planning, const std::string& asked) {
    plans.emplace_back(device, ours, planning);
    const auto& decisions = plans.back().decisions();
    std::string name;
    for (const auto& decision : decisions) {
      name += (name.empty() ? "" : " / ") + decision.trials.at(decision.winner).name;
    }
    names.push_back(!asked.empty() ? asked : !name.empty() ? name : problem.real ? "real codelet" : "copy");
  };
  add({.variant = wanted.variant}, wanted.variant);
  result.explanation = plans.front().explain();
  for (const std::string& variant : wanted.also) {
    try {
      add({.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = variant}, variant);
    } catch (const Error& error) {
      result.notes.push_back(fmt::format("{}: left out of {}: {}", variant, fft_problem_text(problem), error.what()));
    }
  }

  // The peers' planning has overwritten `in`. The input of a real inverse must be the spectrum of real samples.
  fill(kept);
  if (problem.real && problem.inverse) {
    plans.front().forward(std::span<const T>(reinterpret_cast<const T*>(kept.data()), points),
                          in.span().first(spectrum));
    std::copy(in.begin(), in.end(), kept.begin());
  }
  // Fresh data before each round: a peer may overwrite its input, and no contender starts with cached data.
  std::size_t rotation = 0;
  const auto restore = [&] {
    const auto middle = kept.begin() + static_cast<std::ptrdiff_t>(rotation);
    std::copy(kept.begin(), middle, std::copy(middle, kept.end(), in.begin()));
  };
  const auto renew = [&] {
    if (!(problem.real && problem.inverse)) rotation = (rotation + 97) % size;
    restore();
  };
  restore();

  std::vector<std::function<void()>> calls;
  for (const auto& plan : plans) {
    const std::span<const Complex> from(in.data(), problem.inverse ? spectrum : points);
    if (problem.real && problem.inverse) {
      const std::span<T> samples(reinterpret_cast<T*>(out.data()), points);
      calls.emplace_back([&plan, from, samples] { plan.inverse(from, samples); });
    } else if (problem.real) {
      const std::span<const T> samples(reinterpret_cast<const T*>(in.data()), points);
      calls.emplace_back([&plan, samples, to = out.span().first(spectrum)] { plan.forward(samples, to); });
    } else if (problem.inverse) {
      calls.emplace_back([&plan, from, &out] { plan.inverse(from, out.span()); });
    } else {
      calls.emplace_back([&plan, from, &out] { plan.forward(from, out.span()); });
    }
  }
  calls.front()();
  std::copy(out.begin(), out.end(), expected.begin());
  const double tolerance = sizeof(T) == sizeof(float) ? 1e-5 : 1e-13;
  for (std::size_t i = 0; i < peer_runs.size(); ++i) {
    restore();
    peer_runs[i]();
    if (const double far = distance(out, expected); !(far < tolerance)) {
      throw Error(ErrorKind::internal, fmt::format("{}: Ridgeline's result and {}'s differ by {:.2g}",
                                                   fft_problem_text(problem), peer_names[i], far));
    }
    calls.push_back(peer_runs[i]);
  }
  const auto seconds = base::best_seconds_interleaved(
      calls, {.seconds = wanted.seconds_each, .at_least = 5, .at_most = 2000, .round = 2e-5}, renew);

  result.flops = plans.front().flops();
  result.bytes = plans.front().bytes();
  const FftFloor floor = fft_floor(device, result.flops, result.bytes, sizeof(T) == sizeof(double), problem.threads);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    report::BenchRow row;
    row.problem = fft_problem_text(problem);
    row.device = device.id();
    row.variant = names[i];
    row.seconds = seconds[i];
    row.gflops = result.flops / seconds[i] * 1e-9;
    row.gbytes_per_s = result.bytes / seconds[i] * 1e-9;
    row.roof_share = floor.seconds() / seconds[i];
    for (std::size_t p = 0; p < peer_names.size(); ++p) row.peers[peer_names[p]] = seconds[plans.size() + p];
    row.chosen = i == 0;
    result.rows.push_back(row);
  }
  if (wanted.power) {
    auto counter = machine::EnergyCounter::open(device);
    result.notes.push_back(fmt::format("{} {}: {}", fft_problem_text(problem), names[0],
                                       machine::power_text(counter, calls.front(), result.flops)));
  }
  return result;
}

constexpr std::size_t kDevicePoints = std::size_t{1} << 26;

struct FftOptions {
  std::string lengths = "2^1..2^22";
  std::string shapes, problems;
  std::string type = "f32", kind;
  bool real = false, inverse = false, classic = false, planning = false;
  std::size_t batch_points = 0, threads = 1, trials = 0;
  std::size_t batch = 0;  // 0: not given: 1 on the host, enough to fill a device otherwise
  bool window = false, power = false, transfers = false;
  double seconds = 0.2;
  HybridBenchOptions hybrid;
};

// The transforms listed in a file; in-place problems are skipped, because the bench runs out of place.
std::vector<FftBench> cases_of_file(const FftOptions& options, const BenchOptions& bench) {
  std::vector<FftBench> cases;
  for (const check::TextProblem& listed : check::read_problems(options.problems)) {
    const bool backwards = listed.inverse && listed.problem.kind == fft::Kind::real;
    const bool elsewhere = !bench.devices.empty() && bench.devices != std::vector<std::string>{"host"};
    if (listed.problem.in_place || (backwards && elsewhere)) {
      fmt::print("{}: left out: {}\n", check::to_text(listed),
                 listed.problem.in_place ? "the bench runs out of place"
                                         : "real inverse transforms are timed on the host only");
      continue;
    }
    FftBench one;
    one.problem.shape = listed.problem.shape;
    one.problem.batch = listed.problem.batch;
    one.problem.real = listed.problem.kind == fft::Kind::real;
    one.problem.inverse = listed.inverse;
    one.problem.float64 = listed.float64;
    one.problem.threads = options.threads;
    one.variant = bench.variant;
    one.seconds_each = options.seconds;
    one.trials = options.trials;
    cases.push_back(one);
  }
  return cases;
}

std::vector<FftBench> cases_of(const FftOptions& options, const BenchOptions& bench) {
  if (!options.problems.empty()) return cases_of_file(options, bench);
  std::vector<std::vector<std::size_t>> shapes;
  if (!options.shapes.empty()) {
    for (std::size_t at = 0; at <= options.shapes.size();) {
      const std::size_t end = std::min(options.shapes.find(',', at), options.shapes.size());
      shapes.push_back(parse_shape(options.shapes.substr(at, end - at)));
      at = end + 1;
    }
  } else {
    for (const std::size_t n : parse_lengths(options.lengths)) shapes.push_back({n});
  }
  std::vector<FftBench> cases;
  for (const auto& shape : shapes) {
    FftBench one;
    one.problem.shape = shape;
    one.problem.batch = std::max<std::size_t>(1, options.batch);
    if (options.batch_points > 0)
      one.problem.batch = std::max<std::size_t>(1, options.batch_points / points_of(shape, 1));
    one.problem.real = options.real;
    one.problem.inverse = options.inverse;
    one.problem.float64 = options.type == "f64";
    if (!options.kind.empty()) one.problem.kind = parse_real_kind(options.kind);
    one.problem.threads = options.threads;
    if (options.type == "f16" || options.type == "bf16") one.stored = options.type;
    one.variant = bench.variant;
    one.seconds_each = options.seconds;
    one.trials = options.trials;
    one.window = options.window;
    one.power = options.power;
    one.transfers = options.transfers;
    if (options.classic && shape.size() == 1) {
      for (const auto& candidate : fft::candidates<float>(host(), shape[0])) {
        if (candidate.variant.rfind("classic/", 0) == 0 && candidate.refusal.empty()) {
          one.also.push_back(candidate.variant);
        }
      }
    }
    cases.push_back(one);
  }
  return cases;
}

// The requested peers, with one line for each that is unavailable.
std::vector<Peer> peers_of(const BenchOptions& options, std::vector<std::string>& missing) {
  std::vector<Peer> chosen;
  const std::vector<Peer> known = fft_peers();
  for (const std::string& name : options.against) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const Peer& peer) { return peer.name == name; });
    if (found == known.end()) {
      std::string names;
      for (const Peer& peer : known) names += (names.empty() ? "" : ", ") + peer.name;
      throw Error(ErrorKind::invalid_argument, fmt::format("no peer \"{}\"; the peers are {}", name, names));
    }
    if (found->missing.empty()) {
      chosen.push_back(*found);
    } else {
      missing.push_back(fmt::format("{}: {}", found->name, found->missing));
    }
  }
  return chosen;
}

// Sets the batch so that the data exceed a device's caches.
void fill_device(const FftOptions& options, bool on_host, FftBench& one) {
  if (on_host || options.batch != 0 || options.batch_points != 0 || !options.problems.empty()) return;
  one.problem.batch = std::max<std::size_t>(1, kDevicePoints / points_of(one.problem.shape, 1));
}

void run_planning(const FftOptions& options, const BenchOptions& bench) {
  const std::vector<Device> devices = bench.devices.empty() ? std::vector<Device>{host()} : bench_devices(bench);
  std::vector<FftBench> cases = cases_of(options, bench);
  for (FftBench& one : cases) fill_device(options, devices.front().is_host(), one);
  fmt::print("{}", planning_table(cases, devices));
}

// A device to run on, or several concurrently ("host+cuda:0").
struct Place {
  std::vector<Device> devices;
  bool joined() const { return devices.size() > 1; }
  std::string name() const {
    std::string names;
    for (const Device& device : devices) names += (names.empty() ? "" : "+") + device.id();
    return names;
  }
};

std::vector<Place> places_of(const BenchOptions& bench) {
  // Without --device the bench runs on the host, which most peers support.
  if (bench.devices.empty()) return {{{host()}}};
  std::vector<Place> places;
  for (const std::string& name : bench.devices) places.push_back({parse_joined_devices(name)});
  return places;
}

void run_fft(const FftOptions& options, const BenchOptions& bench) {
  compare_plans();
  report::Bench result;
  result.title = !options.kind.empty() ? "Real-to-real transforms"
                 : options.real        ? "Real Fourier transforms"
                                       : "Fourier transforms";
  result.note = "GFLOP/s counts 5 N log2 N per transform, half of that for real transforms.";
  const std::vector<Peer> peers = peers_of(bench, result.missing_peers);
  const std::vector<Place> places = places_of(bench);
  if (options.real && options.inverse) {
    for (const Place& place : places) {
      if (place.joined() || !place.devices.front().is_host()) {
        throw Error(ErrorKind::invalid_argument, "--real --inverse is timed on the host only: give --device host");
      }
    }
  }
  const auto progress = base::terminal_progress();
  std::vector<std::string> notes, disagreements;
  RowsAsTheyCome shown;
  std::size_t done = 0;
  const std::vector<FftBench> cases = cases_of(options, bench);
  for (const FftBench& wanted : cases) {
    for (const Place& place : places) {
      FftBench one = wanted;
      const Device& device = place.devices.front();
      fill_device(options, !place.joined() && device.is_host(), one);
      progress(static_cast<double>(done++) / static_cast<double>(cases.size() * places.size()),
               fmt::format("{} on {}", fft_problem_text(one.problem), place.name()));
      const FftBenchResult measured =
          place.joined() ? bench_fft_hybrid(place.devices, one, options.hybrid) : bench_fft(device, one, peers);
      result.rows.insert(result.rows.end(), measured.rows.begin(), measured.rows.end());
      notes.insert(notes.end(), measured.notes.begin(), measured.notes.end());
      disagreements.insert(disagreements.end(), measured.disagreements.begin(), measured.disagreements.end());
      if (place.joined()) notes.push_back(measured.explanation);  // includes the shares of the devices
      progress(1, "");
      if (bench.explain && !place.joined()) fmt::print("{}\n", measured.explanation);
      shown.show(report::to_text(result), result.rows.size());
    }
  }
  shown.finish(report::to_text(result));
  save_bench(result, bench);
  for (const std::string& note : notes) fmt::print("{}\n", note);
  if (!disagreements.empty()) throw Error(ErrorKind::internal, fmt::format("{}", fmt::join(disagreements, "; ")));
}

// Under mpirun: collective; the root prints.
void run_mpi(const FftOptions& options, const BenchOptions& bench, const mpi::Communicator& all) {
  report::Bench result;
  result.title = fmt::format("Fourier transforms over {} processes", all.count());
  result.note =
      "GFLOP/s counts 5 N log2 N per transform, half of that for real transforms; time of the slowest process.";
  bool against = false;
  for (const std::string& name : bench.against) {
    if (name != "fftw-mpi") {
      throw Error(ErrorKind::invalid_argument, fmt::format("under mpirun the only peer is fftw-mpi, got {}", name));
    }
    against = have_fftw_mpi();
    if (!against) result.missing_peers.push_back("fftw-mpi: not found when this was built (Debian: libfftw3-mpi-dev)");
  }
  std::vector<std::string> notes;
  for (const FftBench& one : cases_of(options, bench)) {
    const FftBenchResult measured = bench_fft_mpi(all, one, against);
    result.rows.insert(result.rows.end(), measured.rows.begin(), measured.rows.end());
    notes.insert(notes.end(), measured.notes.begin(), measured.notes.end());
    if (bench.explain && all.root()) fmt::print("{}\n", measured.explanation);
  }
  if (!all.root()) return;
  finish_bench(result, bench);
  for (const std::string& note : notes) fmt::print("{}\n", note);
}

}  // namespace

std::string fft_problem_text(const PeerProblem& problem) {
  return fmt::format(
      "fft {}{} {}{}{}{}", problem.kind ? std::string(fft::to_string(*problem.kind)) + " " : "",
      problem.real || problem.kind ? (problem.float64 ? "f64" : "f32") : (problem.float64 ? "c128" : "c64"),
      shape_text(problem.shape), problem.batch > 1 ? fmt::format(" batch {}", problem.batch) : "",
      problem.inverse ? " inverse" : "",
      problem.threads == 1   ? ""
      : problem.threads == 0 ? " all threads"
                             : fmt::format(" {} threads", problem.threads));
}

FftBenchResult bench_fft(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers) {
  if (wanted.transfers && (wanted.problem.kind || device.is_host())) {
    throw Error(ErrorKind::invalid_argument, "bench fft: --transfers needs --device with an OpenCL or CUDA device");
  }
  if (wanted.window && (wanted.problem.kind || device.is_host())) {
    throw Error(ErrorKind::invalid_argument, "bench fft: --window needs --device with an OpenCL or CUDA device");
  }
  if (!wanted.stored.empty() && (wanted.problem.kind || device.is_host())) {
    throw Error(ErrorKind::invalid_argument,
                "--type f16 and bf16 need complex or real transforms on an OpenCL or CUDA device");
  }
  if (wanted.problem.kind) return bench_fft_kind(device, wanted, peers);
  if (!device.is_host()) return bench_fft_on_device(device, wanted, peers);
  return wanted.problem.float64 ? bench_on_host<double>(device, wanted, peers)
                                : bench_on_host<float>(device, wanted, peers);
}

void add_bench_fft(Command& bench) {
  Command& command = bench.subcommand("fft", "Time Fourier transforms of any length and shape, and other libraries");
  command.footer(
      "\nExamples:\n"
      "  ridge bench fft --against fftw,kissfft,ne10                       2^1..2^22, complex float, one thread\n"
      "  ridge bench fft --against fftw --lengths smooth --type f64        lengths of small factors, double\n"
      "  ridge bench fft --against fftw --lengths primes\n"
      "  ridge bench fft --against fftw --real --lengths 2^4..2^20\n"
      "  ridge bench fft --against fftw --kind dct2 --lengths 2^4..2^18     cosine transforms\n"
      "  ridge bench fft --against fftw --shape 64x64,512x512,128x128x128\n"
      "  ridge bench fft --against fftw --lengths 2^1..2^6 --batch-points 1000000\n"
      "  ridge bench fft --against fftw --threads 16 --lengths 2^4..2^20 --batch-points 2^24\n"
      "  ridge bench fft --device cuda:0 --against cufft --lengths 2^2..2^26   data resident, 2^26 points in total\n"
      "  ridge bench fft --device cuda:0 --against cufft --lengths 2^10 --batch 32 --transfers   with the bus\n"
      "  ridge bench fft --device cuda:0 --planning --lengths 1024,1009      how long plans take\n"
      "  ridge bench fft --device host+cuda:0 --lengths 2^14 --batch 1024      one batch divided among both\n"
      "  mpirun -n 8 ridge bench fft --shape 256x256x256 --against fftw-mpi  distributed over processes\n"
      "  ridge bench fft --classic --lengths 1024                          also the papers' variants\n"
      "\nFFTW plans by measuring, without a time limit up to 2^13 points (20 s on ARM) and for at most a minute "
      "above.\n"
      "Its wisdom is kept in the cache folder, so that later benches start immediately.");
  auto bench_options = add_bench_options(command, "fftw, kissfft, ne10 on the host, cufft on CUDA");
  auto options = std::make_shared<FftOptions>();
  auto batch_points = std::make_shared<std::string>();
  const Option lengths =
      command.option("--lengths", options->lengths, "Lengths: 2^1..2^22, smooth, primes, or a list separated by commas")
          .shows_default()
          .value_name("LIST");
  command.option("--shape", options->shapes, "Shapes AxB or AxBxC, separated by commas, instead of lengths")
      .value_name("SHAPE")
      .not_with(lengths);
  command
      .option("--problems", options->problems,
              "Time the transforms listed in a file, as cf1024 or drb64x64*8 (docs/check.md)")
      .value_name("FILE")
      .not_with(lengths);
  command
      .option("--type", options->type, "Precision: f32, f64; on devices also f16 and bf16 storage, computed in float")
      .shows_default()
      .one_of({"f32", "f64", "f16", "bf16"});
  command.flag("--real", options->real, "Transform real samples to half a spectrum");
  command
      .option("--kind", options->kind,
              "Real-to-real transform along every axis: dct1 .. dct4, dst1 .. dst4, hartley, halfcomplex")
      .value_name("KIND");
  command.flag("--inverse", options->inverse, "Time the inverse transform; with --real on the host only");
  const Option batch = command
                           .option("--batch", options->batch,
                                   "Number of transforms, consecutive in memory (default: 1; on devices 2^26 points)")
                           .positive();
  command.option("--batch-points", *batch_points, "Set the batch to this total number of points")
      .value_name("N")
      .not_with(batch);
  command.threads(options->threads, "Threads for Ridgeline and for peers that support them (0: all)");
  command.flag("--classic", options->classic, "Also time the variants of textbooks and papers, in separate rows");
  command.flag("--window", options->window, "Devices: apply a window on load; without peers");
  command.flag("--transfers", options->transfers,
               "Devices: also time with transfers from and to page-locked host memory, for peers too");
  command.flag("--power", options->power, "Watts and GFLOP/s per watt by the energy counter (RAPL, NVML)");
  command.option("--trials", options->trials, "Devices: number of variants to time before one is chosen (default 8)")
      .positive();
  command.flag("--planning", options->planning, "Time planning: first, from the cache, measured, from wisdom");
  auto& hybrid = options->hybrid;
  command.flag("--pinned", hybrid.pinned, "Several devices at once: use page-locked instead of pageable memory");
  command.option("--cores", hybrid.cores, "Several devices at once: maximum number of host cores (0: all)");
  command.option("--units", hybrid.units,
                 "Several devices at once: maximum concurrent transforms on a device (0: any number)");
  command.flag("--no-pin", hybrid.no_pin, "Several devices at once: do not pin the threads that copy");
  command.option("--piece", hybrid.piece, "Several devices at once: size of one transfer (1M)").value_name("BYTES");
  command.option("--measure-seconds", hybrid.seconds, "Several devices at once: time to measure the shares, in seconds")
      .shows_default()
      .between(0.01, 600.0);
  command.option("--seconds", options->seconds, "Time per measurement, in seconds").shows_default().between(0.0, 60.0);
  command.runs([options, bench_options, batch_points] {
    if (!batch_points->empty()) options->batch_points = parse_length(*batch_points);
    with_processes([&](const mpi::Communicator& all) {
      if (all.count() > 1) return run_mpi(*options, *bench_options, all);
      options->planning ? run_planning(*options, *bench_options) : run_fft(*options, *bench_options);
    });
  });
}

}  // namespace ridge::cli
