// Measures latency and bandwidth of messages between the processes of a communicator.
#pragma once
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

struct Network {
  double latency = 0;           // seconds per short message
  double bytes_per_second = 0;  // sent per process while all send to all
};
Network measure_network(const Communicator& all);  // takes about ten milliseconds

}  // namespace ridge::mpi
