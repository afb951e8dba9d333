// Predicts the time of a distributed transform on more processes, from rates measured here and those of a network.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

// Measures latency and bandwidth of messages between the processes of a communicator.
struct Network {
  double latency = 0;           // seconds per short message
  double bytes_per_second = 0;  // sent per process while all send to all
};
Network measure_network(const Communicator& all);  // takes about ten milliseconds

struct Rates {
  double flops = 0;                   // per second and process, counted as 5 N log2 N
  Network between = {}, within = {};  // between machines; within one machine
  std::size_t here = 1;               // processes per machine
  bool array = false;  // processes of one machine share one grid (Exchange::Kind::array): nothing is sent
};

struct Prediction {
  std::string decomposition;  // "slabs", "pencils 64x64"; empty: more processes than points to divide
  double transform = 0, exchange = 0, bytes_sent = 0;
  double seconds() const { return transform + exchange; }
};

// Predicts the fastest decomposition. The spectrum stays in the layout of the last exchange; no overlap, no congestion.
Prediction predict(const Shape& shape, std::size_t point_bytes, std::size_t processes, const Rates& rates);

}  // namespace ridge::mpi
