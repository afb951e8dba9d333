// ridge bench fft: its options, the cases they ask for, and joined devices.
#include "bench/fft/fft.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/fft.hpp>

#include "bench/lengths.hpp"
#include "bench/peers/fftw_mpi.hpp"
#include "check/fft/problem_text.hpp"

namespace ridge::cli {
fft::RealKind parse_real_kind(const std::string& name) {
  std::vector<std::string> known;
  for (int i = 0; i <= static_cast<int>(fft::RealKind::dst4); ++i) {
    const auto kind = static_cast<fft::RealKind>(i);
    if (fft::to_string(kind) == name) return kind;
    known.emplace_back(fft::to_string(kind));
  }
  mistake(fmt::format("no kind \"{}\"; the kinds are {}", name, fmt::join(known, ", ")));
}

namespace {

constexpr std::size_t kDevicePoints = std::size_t{1} << 26;
constexpr std::size_t kHostCorePoints = std::size_t{1} << 22;  // on PoCL 2^26 takes minutes with --transfers

struct FftOptions {
  std::string lengths = "2^1..2^22", shapes, problems, type = "f32", kind, batch_text;
  bool classic = false, planning = false, sweep = false, latency = false;
  std::size_t batch_points = 0;
  std::vector<std::size_t> batches;  // empty: 1 on the host, enough to fill a device otherwise
  FftBench one;                      // what all cases have in common
  HybridBenchOptions hybrid;
};

std::size_t points_of(const std::vector<std::size_t>& shape, std::size_t batch) {
  std::size_t points = batch;
  for (const std::size_t n : shape) {
    if (__builtin_mul_overflow(points, n, &points))
      mistake(fmt::format("{}: the number of points overflows 64 bits", shape_text(shape)));
  }
  return points;
}

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
    FftBench one = options.one;
    one.problem.shape = listed.problem.shape;
    one.problem.batch = listed.problem.batch;
    one.problem.real = listed.problem.kind == fft::Kind::real;
    one.problem.inverse = listed.inverse;
    one.problem.float64 = listed.float64;
    one.problem.kind.reset();
    one.stored.clear();
    cases.push_back(one);
  }
  return cases;
}

std::vector<FftBench> cases_of(const FftOptions& options, const BenchOptions& bench) {
  if (!options.problems.empty()) return cases_of_file(options, bench);
  std::vector<std::vector<std::size_t>> shapes;
  if (options.shapes.empty()) {
    for (const std::size_t n : parse_lengths(options.lengths)) shapes.push_back({n});
  } else {
    for (const std::string& shape : split_text(options.shapes, ',')) shapes.push_back(parse_shape(shape));
  }
  std::vector<FftBench> cases;
  for (std::size_t i = 0; i < shapes.size() * std::max<std::size_t>(1, options.batches.size()); ++i) {
    const auto& shape = shapes[i / std::max<std::size_t>(1, options.batches.size())];
    FftBench one = options.one;
    one.problem.shape = shape;
    const std::size_t points = points_of(shape, 1);
    if (!options.batches.empty()) one.problem.batch = options.batches[i % options.batches.size()];
    if (options.batch_points > 0) one.problem.batch = std::max<std::size_t>(1, options.batch_points / points);
    if (options.classic && shape.size() == 1) {
      for (const auto& candidate : fft::candidates<float>(host(), shape[0])) {
        if (candidate.variant.starts_with("classic/") && candidate.refusal.empty())
          one.also.push_back(candidate.variant);
      }
    }
    static_cast<void>(points_of(shape, one.problem.batch));
    cases.push_back(one);
  }
  return cases;
}

// The requested peers, with one line for each that is unavailable.
std::vector<Peer> peers_of(const BenchOptions& options, std::vector<std::string>& missing) {
  std::vector<Peer> chosen;
  std::vector<std::string> names;
  const std::vector<Peer> known = fft_peers();
  for (const Peer& peer : known) names.push_back(peer.name);
  check_peers(options, names);
  for (const std::string& name : options.against) {
    const Peer& found = *std::find_if(known.begin(), known.end(), [&](const Peer& peer) { return peer.name == name; });
    if (found.missing.empty()) {
      chosen.push_back(found);
    } else {
      missing.push_back(fmt::format("{}: {}", found.name, found.missing));
    }
  }
  return chosen;
}

// Sets the batch so that the data exceed a device's caches.
void fill_device(const FftOptions& options, const std::vector<Device>& place, FftBench& one) {
  const bool on_host = place.size() == 1 && place.front().is_host();
  if (on_host || !options.batches.empty() || options.batch_points != 0 || !options.problems.empty()) return;
  const bool slow =
      std::all_of(place.begin(), place.end(), [](const Device& each) { return each.info().runs_on_host_cores; });
  one.problem.batch =
      std::max<std::size_t>(1, (slow ? kHostCorePoints : kDevicePoints) / points_of(one.problem.shape, 1));
}

void print_planning(const FftOptions& options, const BenchOptions& bench) {
  const std::vector<Device> devices = bench.devices.empty() ? std::vector<Device>{host()} : bench_devices(bench);
  std::vector<FftBench> cases = cases_of(options, bench);
  for (FftBench& one : cases) fill_device(options, {devices.front()}, one);
  fmt::print("{}", planning_table(cases, devices));
}

void print_latency(const FftOptions& options, const BenchOptions& bench) {
  std::vector<std::string> missing;
  const std::vector<Peer> peers = peers_of(bench, missing);
  fmt::print("{}", latency_table(cases_of(options, bench),
                                 bench.devices.empty() ? std::vector{host()} : bench_devices(bench), peers));
  for (const std::string& peer : missing) fmt::print("not compared with {}\n", peer);
}

BenchTable fft_table(const FftOptions& options, const BenchOptions& bench) {
  compare_plans();
  BenchTable table(options.one.convolve       ? "Convolutions"
                   : !options.kind.empty()    ? "Real-to-real transforms"
                   : options.one.problem.real ? "Real Fourier transforms"
                                              : "Fourier transforms",
                   "GFLOP/s counts 5 N log2 N per transform, half of that for real transforms.");
  // Without --device the bench runs on the host, which most peers support.
  std::vector<std::vector<Device>> places;
  for (const std::string& name : bench.devices) places.push_back(parse_joined_devices(name));
  if (places.empty()) places = {{host()}};
  BenchOptions against = bench;
  if (options.sweep && bench.against.empty()) against.against = {peer_of_device(places.front().front())};
  const std::vector<Peer> peers = peers_of(against, table.bench.missing_peers);
  for (const auto& place : places) {
    if (options.one.convolve && (place.size() > 1 || !place.front().is_host() || !options.shapes.empty()))
      mistake("--convolve times one axis on the host: give --device host and --lengths");
    if (options.one.problem.real && options.one.problem.inverse && (place.size() > 1 || !place.front().is_host()))
      mistake("--real --inverse is timed on the host only: give --device host");
  }
  for (const FftBench& wanted : cases_of(options, bench)) {
    for (const auto& place : places) {
      if (options.sweep && !is_sweep_cell(place.front(), wanted.problem)) continue;
      FftBench one = wanted;
      fill_device(options, place, one);
      std::string names;
      for (const Device& device : place) names += (names.empty() ? "" : "+") + device.id();
      table.cases.push_back({fmt::format("{} on {}", fft_problem_text(one.problem), names), [=](const Tell&) {
                               BenchResult result = one.convolve       ? bench_convolution(one, peers)
                                                    : place.size() > 1 ? bench_fft_hybrid(place, one, options.hybrid)
                                                                       : bench_fft(place.front(), one, peers);
                               for (report::BenchRow& row : result.rows) add_sweep_members(one.problem, row);
                               return result;
                             }});
    }
  }
  return table;
}

BenchTable mpi_table(const FftOptions& options, const BenchOptions& bench, const mpi::Communicator& all) {
  BenchTable table(
      fmt::format("Fourier transforms over {} processes", all.count()),
      "GFLOP/s counts 5 N log2 N per transform, half of that for real transforms; time of the slowest process.");
  table.at_end = true;
  bool against = false;
  for (const std::string& name : bench.against) {
    if (name != "fftw-mpi") mistake(fmt::format("under mpirun the only peer is fftw-mpi, got {}", name));
    against = have_fftw_mpi();
    if (!against)
      table.bench.missing_peers.push_back("fftw-mpi: not found when this was built (Debian: libfftw3-mpi-dev)");
  }
  for (const FftBench& one : cases_of(options, bench))
    table.cases.push_back({fft_problem_text(one.problem),
                           [&all, one, against](const Tell&) { return bench_fft_mpi(all, one, against); }});
  return table;
}

std::vector<BenchTable> fft_tables(FftOptions& options, const BenchOptions& bench, const mpi::Communicator& all) {
  if (options.sweep) {
    if (options.lengths == FftOptions().lengths) options.lengths = "2^2..2^22";
    if (options.batches.empty()) options.batches = {1, 2, 4, 16, 64, 256, 1024};
    if (options.one.seconds_each == FftBench().seconds_each) options.one.seconds_each = 0.02;
  }
  if (!options.batch_text.empty()) options.batch_points = parse_length(options.batch_text);
  FftBench& one = options.one;
  one.variant = bench.variant;
  one.problem.float64 = options.type == "f64";
  if (options.type == "f16" || options.type == "bf16") one.stored = options.type;
  if (!options.kind.empty()) one.problem.kind = parse_real_kind(options.kind);
  if (all.count() > 1) return {mpi_table(options, bench, all)};
  if (!options.planning && !options.latency) return {fft_table(options, bench)};
  options.planning ? print_planning(options, bench) : print_latency(options, bench);
  return {};
}

void add_fft_options(Command& command, FftOptions& options) {
  FftBench& one = options.one;
  const Option lengths =
      command
          .option("--lengths", options.lengths,
                  "Lengths: 2^1..2^22, 1:4096 (every one), smooth, primes, or a list separated by commas")
          .shows_default()
          .value_name("LIST");
  command.option("--shape", options.shapes, "Shapes AxB or AxBxC, separated by commas, instead of lengths")
      .value_name("SHAPE")
      .not_with(lengths);
  command
      .option("--problems", options.problems,
              "Time the transforms listed in a file, as cf1024 or drb64x64*8 (docs/check.md)")
      .value_name("FILE")
      .not_with(lengths);
  command.option("--type", options.type, "Precision: f32, f64; on devices also f16 and bf16 storage, computed in float")
      .shows_default()
      .one_of({"f32", "f64", "f16", "bf16"});
  command.flag("--real", one.problem.real, "Transform real samples to half a spectrum");
  command
      .option("--kind", options.kind,
              "Real-to-real transform along every axis: dct1 .. dct4, dst1 .. dst4, hartley, halfcomplex")
      .value_name("KIND");
  command.flag("--inverse", one.problem.inverse, "Time the inverse transform; with --real on the host only");
  command.flag("--convolve", one.convolve,
               "Host: convolve N samples with a filter of N samples; peers transform padded arrays");
  const Option batch =
      command
          .option("--batch", options.batches,
                  "Number of transforms, consecutive in memory, or a list (default: 1; on devices 2^26 points)")
          .separated_by(',')
          .value_name("N,...")
          .positive();
  command.flag("--sweep", options.sweep,
               "Time a grid of lengths and batches, by default 2^2..2^22 and 1, 2, 4, 16, 64, 256, 1024, against the "
               "device's usual "
               "peer (cufft, clfft, fftw); cells of more than 2^26 points (host: 2^22) are left out");
  command.option("--batch-points", options.batch_text, "Set the batch to this total number of points")
      .value_name("N")
      .not_with(batch);
  command.threads(one.problem.threads, "Threads for Ridgeline and for peers that support them (0: all)");
  command.flag("--classic", options.classic, "Also time the variants of textbooks and papers, in separate rows");
  command.flag("--window", one.window, "Devices: apply a window on load; without peers");
  command.flag("--transfers", one.transfers,
               "Devices: also time with transfers from and to page-locked host memory, for peers too");
  command.flag("--power", one.power, "Watts and GFLOP/s per watt by the energy counter (RAPL, NVML)");
  command.option("--trials", one.trials, "Devices: number of variants to time before one is chosen (default 8)")
      .positive();
  command.flag("--planning", options.planning, "Time planning: first, from the cache, measured, from wisdom");
  command.flag("--latency", options.latency,
               "Devices: time single calls, and a call and a wait, beside an empty kernel and the peers");
  auto& hybrid = options.hybrid;
  command.flag("--pinned", hybrid.pinned, "Several devices at once: use page-locked instead of pageable memory");
  command.option("--cores", hybrid.cores, "Several devices at once: maximum number of host cores (0: all)");
  command.option("--units", hybrid.units,
                 "Several devices at once: maximum concurrent transforms on a device (0: any number)");
  command.flag("--no-pin", hybrid.no_pin, "Several devices at once: do not pin the threads that copy");
  command.option("--piece", hybrid.piece, "Several devices at once: size of one transfer (1M)").value_name("BYTES");
  command.option("--measure-seconds", hybrid.seconds, "Several devices at once: time to measure the shares, in seconds")
      .shows_default()
      .between(0.01, 600.0);
  add_seconds(command, one.seconds_each);
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

std::vector<Device> parse_joined_devices(const std::string& names) {
  std::vector<Device> found;
  for (const std::string& name : split_text(names, '+')) {
    if (name.empty()) mistake(fmt::format("--device {}: a name is missing", names));
    found.push_back(device(name));
  }
  return found;
}

Workload bench_of_fft() {
  auto options = std::make_shared<FftOptions>();
  Workload bench{.name = "fft",
                 .about = "Time Fourier transforms of any length and shape, and other libraries",
                 .peers = "fftw, pocketfft, kissfft, ne10 on the host, cufft on CUDA",
                 .uses_processes = true};
  bench.footer =
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
      "  ridge bench fft --device cuda:0 --against cufft --lengths 2^10 --batch 32 --transfers   with transfers\n"
      "  ridge bench fft --device cuda:0 --planning --lengths 1024,1009      how long plans take\n"
      "  ridge bench fft --device cuda:0 --latency --against cufft --lengths 2^4,2^10,2^16   what a call costs\n"
      "  ridge bench fft --device host+cuda:0 --lengths 2^14 --batch 1024      one batch divided among both\n"
      "  mpirun -n 8 ridge bench fft --shape 256x256x256 --against fftw-mpi  distributed over processes\n"
      "  ridge bench fft --sweep --device cuda:0 --html sweep.html --json sweep.json   lengths by batches, a heat map\n"
      "  ridge bench fft --sweep --lengths 2^2..2^12 --batch 1,16,256 --real --html sweep.html\n"
      "  ridge bench fft --sweep --device host --lengths 1:4096 --batch 1 --kind dct2 --against fftw,pocketfft --html "
      "dct.html\n"
      "  ridge bench fft --classic --lengths 1024                          also the papers' variants\n"
      "\nFFTW plans by measuring, without a time limit up to 2^13 points (20 s on ARM) and for at most a minute "
      "above.\n"
      "Its wisdom is kept in the cache folder, so that later benches start immediately.";
  bench.add_options = [=](Command& command) { add_fft_options(command, *options); };
  bench.tables = [=](const BenchOptions& common, const mpi::Communicator& all) {
    return fft_tables(*options, common, all);
  };
  return bench;
}

}  // namespace ridge::cli
