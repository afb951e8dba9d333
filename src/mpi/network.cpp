// Measures latency and bandwidth between the processes of an MPI run.
#include "mpi/scaling.hpp"

#include <algorithm>
#include <cmath>

#include "base/aligned.hpp"
#include "base/clock.hpp"

namespace ridge::mpi {

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

}  // namespace ridge::mpi
