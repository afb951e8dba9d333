// Predicts strong and weak scaling of a distributed FFT from measured or given rates.
#include "cli/machine/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>
#include <ridge/mpi/fft.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "bench/lengths.hpp"
#include "command/options.hpp"
#include "command/process.hpp"
#include "mpi/scaling.hpp"

namespace ridge::cli {
namespace {

constexpr double kMostPointsMeasured = 1 << 25;             // per process
constexpr std::size_t kWorkingSet = std::size_t{32} << 20;  // bytes per array: more than a core's caches

// FLOP/s of one process while all run, on enough planes of the shape to exceed its cache: transforms within each plane,
// then columns across the planes.
template <class T>
double transform_rate(const mpi::Communicator& all, const mpi::Shape& shape) {
  using Complex = std::complex<T>;
  const std::vector<std::size_t> plane(shape.begin() + 1, shape.end());
  std::size_t points = 1;
  for (const std::size_t extent : plane) points *= extent;
  const std::size_t planes = std::clamp<std::size_t>(kWorkingSet / (points * sizeof(Complex)), 1, shape[0]);
  const planner::Options quick{.effort = Effort::quick};
  const fft::Plan<T> rows(host(), {.shape = plane, .threads = 1}, quick);
  const std::size_t beside = std::min<std::size_t>(points, shape.back());
  const fft::Plan<T> columns(host(),
                             {.shape = {planes},
                              .batch = beside,
                              .input = {.axes = {points + 8}, .batch = 1},
                              .output = {.axes = {beside}, .batch = 1},
                              .threads = 1},
                             quick);
  base::AlignedArray<Complex> in(planes * points), between(planes * (points + 8)), out(planes * points);
  std::fill(in.begin(), in.end(), Complex(1, 2));
  all.barrier();
  const double seconds = base::best_seconds(
      [&] {
        for (std::size_t i = 0; i < planes; ++i) {
          rows.forward(std::span<const Complex>(in.data() + i * points, points),
                       std::span(between.data() + i * (points + 8), points));
        }
        for (std::size_t at = 0; at < points / beside * beside; at += beside) {
          columns.forward(std::span<const Complex>(between.data() + at, columns.input_size()),
                          std::span(out.data() + at * planes, columns.output_size()));
        }
      },
      {.seconds = 0.2});
  const double flops =
      rows.flops() * static_cast<double>(planes) + columns.flops() * static_cast<double>(points / beside);
  return flops / all.largest(seconds);
}

// Bytes per second that each process copies while all do.
double copy_rate(const mpi::Communicator& all) {
  base::AlignedArray<std::byte> from(kWorkingSet), to(from.size());
  std::memset(from.data(), 1, from.size());
  all.barrier();
  const double seconds =
      base::best_seconds([&] { std::memcpy(to.data(), from.data(), from.size()); }, {.seconds = 0.1});
  return static_cast<double>(from.size()) / all.largest(seconds);
}

// An exchange through memory: packing, sending and receiving are three passes.
mpi::Network copies(double rate) { return {.latency = 1e-6, .bytes_per_second = rate / 3}; }

template <class T>
double measured_seconds(const mpi::Communicator& all, const mpi::Shape& shape) {
  const mpi::fft::Plan<T> plan(all, {.shape = shape, .threads = 1}, {.effort = Effort::quick});
  base::AlignedArray<std::complex<T>> in(plan.input().size()), out(plan.output().size());
  std::fill(in.begin(), in.end(), std::complex<T>(1, 2));
  double best = INFINITY;
  for (int round = 0; round < 5; ++round) {
    all.barrier();
    const double start = base::now();
    plan.forward(std::span<const std::complex<T>>(in.span()), out.span());
    best = std::min(best, all.largest(base::now() - start));
  }
  return best;
}

template <class T>
void tell(const SizeRanksOptions& options, const mpi::Shape& shape, const mpi::Communicator& all) {
  const auto latency = parse_seconds(options.latency);
  const auto bandwidth = base::parse_bytes(options.bandwidth);
  if (!latency || !(*latency >= 0)) {
    mistake(fmt::format("--latency {}: needs a time with its unit, as in 2us", options.latency));
  }
  if (!bandwidth || *bandwidth == 0) {
    mistake(fmt::format("--bandwidth {}: needs bytes per second, as in 1G", options.bandwidth));
  }
  mpi::Rates rates{.flops = transform_rate<T>(all, shape), .here = options.node, .array = true};
  const double copied = copy_rate(all);
  rates.between = {*latency, static_cast<double>(*bandwidth)};
  const bool network = all.count() > 1 && all.machines() == 1;
  rates.within = network ? mpi::measure_network(all) : copies(copied);
  if (all.count() > 1 && all.machines() > 1) rates.between = mpi::measure_network(all);
  double points = 1;
  for (const std::size_t extent : shape) points *= static_cast<double>(extent);
  const bool possible = points / static_cast<double>(all.count()) <= kMostPointsMeasured;
  const double measured = possible ? measured_seconds<T>(all, shape) : 0;
  const mpi::Prediction expected = mpi::predict(shape, sizeof(std::complex<T>), all.count(), rates);
  if (!all.root()) return;

  fmt::print(
      "{} points of complex {}\n"
      "Assumptions: a process transforms at {}, as measured here ({} at once, one thread each, each copying at {}).\n"
      "The {} processes of a machine share one grid in memory, or exchange at {} each ({}) if there are several\n"
      "machines; between machines at {} each and {} per message ({}). No overlap, no network congestion; the spectrum\n"
      "keeps the layout of the last exchange.\n",
      shape_text(shape), sizeof(T) == sizeof(double) ? "double" : "float", base::human_rate(rates.flops, "FLOP/s"),
      all.count(), base::human_rate(copied, "B/s"), rates.here, base::human_rate(rates.within.bytes_per_second, "B/s"),
      network ? "messages, measured" : "a third of a copy", base::human_rate(rates.between.bytes_per_second, "B/s"),
      base::human_seconds(rates.between.latency), all.machines() > 1 ? "measured" : "as given");
  std::vector<std::vector<std::string>> rows{
      {"ranks", "method", "transforms", "exchange", "total", "strong", "sent per rank", "weak"}};
  const double alone = mpi::predict(shape, sizeof(std::complex<T>), 1, rates).seconds();
  for (std::size_t ranks = 1; ranks <= options.ranks; ranks *= 2) {
    const mpi::Prediction found = mpi::predict(shape, sizeof(std::complex<T>), ranks, rates);
    if (found.decomposition.empty()) break;
    // Weak scaling: the first axis grows with the processes, so that each keeps the points that one process has of this
    // shape.
    mpi::Shape longer = shape;
    longer[0] *= ranks;
    const mpi::Prediction weak = mpi::predict(longer, sizeof(std::complex<T>), ranks, rates);
    rows.push_back({std::to_string(ranks), found.decomposition, base::human_seconds(found.transform),
                    base::human_seconds(found.exchange), base::human_seconds(found.seconds()),
                    fmt::format("{:.0f} %", 100 * alone / static_cast<double>(ranks) / found.seconds()),
                    base::human_bytes(found.bytes_sent),
                    weak.decomposition.empty() ? "-" : fmt::format("{:.0f} %", 100 * alone / weak.seconds())});
  }
  fmt::print("{}", base::table(rows));
  if (measured > 0) {
    fmt::print("{} ranks here: predicted {}, measured {}, {:.2f} times the prediction\n", all.count(),
               base::human_seconds(expected.seconds()), base::human_seconds(measured), measured / expected.seconds());
  }
}

}  // namespace

void run_size_ranks(const SizeRanksOptions& options) {
  const mpi::Shape shape = parse_shape(options.shape);
  if (shape.size() < 2) mistake("--shape: a distributed transform needs two or three axes");
  if (options.node == 0) mistake("--node: needs at least one process per machine");
  with_processes([&](const mpi::Communicator& all) {
    options.type == "f64" ? tell<double>(options, shape, all) : tell<float>(options, shape, all);
  });
}

}  // namespace ridge::cli
