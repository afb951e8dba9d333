#include "cli/machine/size_ranks.hpp"

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
#include "cli/fft/lengths.hpp"
#include "cli/machine/seconds.hpp"
#include "cli/mistake.hpp"
#include "cli/with_processes.hpp"
#include "mpi/scaling.hpp"

namespace ridge::cli {
namespace {

// One process of several that run at once: lines that do not fit its cache.
template <class T>
double transform_rate(const mpi::Communicator& all) {
  const fft::Plan<T> plan(host(), {.shape = {64, 64, 128}, .threads = 1}, {.effort = Effort::quick});
  base::AlignedArray<std::complex<T>> in(plan.input_size()), out(plan.output_size());
  std::fill(in.begin(), in.end(), std::complex<T>(1, 2));
  all.barrier();
  const double seconds = base::best_seconds(
      [&] { plan.forward(std::span<const std::complex<T>>(in.span()), out.span()); }, {.seconds = 0.1});
  return plan.flops() / all.largest(seconds);
}

// Packed, sent and received: three passes over memory.
mpi::Network copies() {
  base::AlignedArray<std::byte> from(std::size_t{32} << 20), to(from.size());
  std::memset(from.data(), 1, from.size());
  const double seconds =
      base::best_seconds([&] { std::memcpy(to.data(), from.data(), from.size()); }, {.seconds = 0.1});
  return {.latency = 1e-6, .bytes_per_second = static_cast<double>(from.size()) / seconds / 3};
}

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
void tell(const SizeRanksWishes& wishes, const mpi::Shape& shape, const mpi::Communicator& all) {
  const auto latency = parse_seconds(wishes.latency);
  const auto bandwidth = base::parse_bytes(wishes.bandwidth);
  if (!latency || !(*latency >= 0)) {
    mistake(fmt::format("--latency {}: a time as in 2us", wishes.latency));
  }
  if (!bandwidth || *bandwidth == 0) {
    mistake(fmt::format("--bandwidth {}: bytes a second as in 1G", wishes.bandwidth));
  }
  mpi::Rates rates{.flops = transform_rate<T>(all), .here = wishes.node};
  rates.between = {*latency, static_cast<double>(*bandwidth)};
  const bool network = all.count() > 1 && all.machines() == 1;
  rates.within = network ? mpi::measure_network(all) : copies();
  if (all.count() > 1 && all.machines() > 1) rates.between = mpi::measure_network(all);
  const double measured = all.count() > 1 ? measured_seconds<T>(all, shape) : 0;
  const mpi::Prediction expected = mpi::predict(shape, sizeof(std::complex<T>), all.count(), rates);
  if (!all.root()) return;

  fmt::print(
      "{} points of complex {}\n"
      "Assumed: a process transforms {} as measured here ({} at once, one thread each); {} processes a machine, which\n"
      "exchange {} each ({}); between machines {} each and {} a message ({}). Nothing overlaps, the network\n"
      "never jams, the spectrum stays where the last exchange leaves it.\n",
      shape_text(shape), sizeof(T) == sizeof(double) ? "double" : "float", base::human_rate(rates.flops, "FLOP/s"),
      all.count(), rates.here, base::human_rate(rates.within.bytes_per_second, "B/s"),
      network ? "measured" : "a third of a copy", base::human_rate(rates.between.bytes_per_second, "B/s"),
      base::human_seconds(rates.between.latency), all.machines() > 1 ? "measured" : "as given");
  std::vector<std::vector<std::string>> rows{
      {"ranks", "way", "transforms", "exchange", "together", "strong", "sent a rank", "weak"}};
  const double alone = mpi::predict(shape, sizeof(std::complex<T>), 1, rates).seconds();
  for (std::size_t ranks = 1; ranks <= wishes.ranks; ranks *= 2) {
    const mpi::Prediction found = mpi::predict(shape, sizeof(std::complex<T>), ranks, rates);
    if (found.way.empty()) break;
    // Weak: the first axis grows with the processes, so that each has as much as one process has of this shape now.
    mpi::Shape longer = shape;
    longer[0] *= ranks;
    const mpi::Prediction weak = mpi::predict(longer, sizeof(std::complex<T>), ranks, rates);
    rows.push_back({std::to_string(ranks), found.way, base::human_seconds(found.transform),
                    base::human_seconds(found.exchange), base::human_seconds(found.seconds()),
                    fmt::format("{:.0f} %", 100 * alone / static_cast<double>(ranks) / found.seconds()),
                    base::human_bytes(found.bytes_sent),
                    weak.way.empty() ? "-" : fmt::format("{:.0f} %", 100 * alone / weak.seconds())});
  }
  fmt::print("{}", base::table(rows));
  if (measured > 0) {
    fmt::print("{} ranks here: predicted {}, measured {}, {:.2f} times that\n", all.count(),
               base::human_seconds(expected.seconds()), base::human_seconds(measured), measured / expected.seconds());
  }
}

}  // namespace

void run_size_ranks(const SizeRanksWishes& wishes) {
  const mpi::Shape shape = parse_shape(wishes.shape);
  if (shape.size() < 2) mistake("--shape of a spread transform has two or three axes");
  if (wishes.node == 0) mistake("--node: one process a machine at least");
  with_processes([&](const mpi::Communicator& all) {
    wishes.type == "f64" ? tell<double>(wishes, shape, all) : tell<float>(wishes, shape, all);
  });
}

}  // namespace ridge::cli
