// What messages cost, measured among the processes of a communicator.
#pragma once
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

struct Network {
  double latency = 0;           // seconds of a short message
  double bytes_per_second = 0;  // a process sends, while all of them send to all
};
Network measure_network(const Communicator& all);  // some ten milliseconds

}  // namespace ridge::mpi
