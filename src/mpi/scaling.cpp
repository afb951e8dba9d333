// Predicts compute and network times of a transform on more processes.
#include "mpi/scaling.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"

namespace ridge::mpi {
namespace {

double number(std::size_t n) { return static_cast<double>(n); }

// Largest part divided by the mean part: the factor lost if the extent is not divisible.
double imbalance(std::size_t points, std::size_t parts) {
  return std::ceil(number(points) / number(parts)) * number(parts) / number(points);
}

// Seconds of an all-to-all among `group` processes, of which `together` consecutive ones share a machine.
double exchange_seconds(double bytes, std::size_t group, std::size_t together, std::size_t processes,
                        const Rates& rates) {
  // One barrier before and one after. The transforms' own reads and writes carry the data.
  if (rates.array && processes <= rates.here) return 2 * rates.within.latency * std::log2(2 * number(group));
  const double all = number(group), near = number(std::min(group, together));
  const double far_seconds = (all - near) * rates.between.latency +
                             (all > near ? bytes * (all - near) / all / rates.between.bytes_per_second : 0);
  const double near_seconds =
      (near - 1) * rates.within.latency + (near > 1 ? bytes * (near - 1) / all / rates.within.bytes_per_second : 0);
  return far_seconds + near_seconds;
}

}  // namespace

Network measure_network(const Communicator& all) {
  if (all.count() == 1) return {};
  const std::size_t peers = all.count() - 1, each = std::max<std::size_t>(4096, (std::size_t{4} << 20) / peers);
  base::AlignedArray<std::byte> out(each * peers), in(each * peers);
  std::fill(out.begin(), out.end(), std::byte{1});
  std::fill(in.begin(), in.end(), std::byte{0});
  const auto best = [&](std::size_t bytes, std::size_t to, int rounds) {
    std::vector<Communicator::Message> going, coming;
    for (std::size_t i = 0; i < to; ++i) {
      going.push_back({(all.rank() + i + 1) % all.count(), 2, out.data() + i * each, bytes});
      coming.push_back({(all.rank() + all.count() - i - 1) % all.count(), 2, in.data() + i * each, bytes});
    }
    double least = INFINITY;
    for (int round = 0; round < rounds; ++round) {
      all.barrier();
      const double start = base::now();
      all.exchange(going, coming);
      least = std::min(least, all.largest(base::now() - start));
    }
    return least;
  };
  Network network;
  network.latency = best(8, 1, 20);
  network.bytes_per_second = static_cast<double>(each * peers) / best(each, peers, 4);
  return network;
}

Prediction predict(const Shape& shape, std::size_t point_bytes, std::size_t processes, const Rates& rates) {
  double points = 1;
  for (const std::size_t extent : shape) points *= number(extent);
  const double flops = 5 * points * std::log2(std::max(2.0, points)) / number(processes);
  const double bytes = points * number(point_bytes) / number(processes);
  const std::size_t n0 = shape[0], n1 = shape.size() > 1 ? shape[1] : 1, n2 = shape.back();
  Prediction best;
  if (processes == 1) return {.decomposition = "alone", .transform = flops / rates.flops};
  const auto consider = [&](const std::string& way, double slowest, double exchange, double sent) {
    const Prediction found{way, flops * slowest / rates.flops, exchange, sent};
    if (best.decomposition.empty() || found.seconds() < best.seconds()) best = found;
  };
  if (shape.size() > 1 && processes <= std::min(n0, n1)) {
    consider("slabs", std::max(imbalance(n0, processes), imbalance(n1, processes)),
             exchange_seconds(bytes, processes, rates.here, processes, rates), bytes * (1 - 1 / number(processes)));
  }
  if (shape.size() < 3) return best;
  for (std::size_t rows = 1; rows <= processes; ++rows) {
    const std::size_t columns = processes / rows;
    if (rows * columns != processes || rows > std::min(n0, n1) || columns > std::min(n1, n2)) continue;
    // Consecutive ranks form a row of the process grid, so a machine holds whole rows or part of one.
    const std::size_t in_row = std::min(columns, rates.here),
                      in_column = std::max<std::size_t>(1, rates.here / columns);
    consider(fmt::format("pencils {}x{}", rows, columns), imbalance(n0, rows) * imbalance(n1, columns),
             exchange_seconds(bytes, columns, in_row, processes, rates) +
                 exchange_seconds(bytes, rows, in_column, processes, rates),
             bytes * (2 - 1 / number(rows) - 1 / number(columns)));
  }
  return best;
}

}  // namespace ridge::mpi
