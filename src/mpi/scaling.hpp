// How long a distributed transform would take on more processes than there are: from rates measured here and a
// network's.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/mpi/box.hpp>

#include "mpi/network.hpp"

namespace ridge::mpi {

struct Rates {
  double flops = 0;                   // a process transforms a second, counted as 5 N log2 N
  Network between = {}, within = {};  // machines; one machine
  std::size_t here = 1;               // processes a machine
  bool array = false;                 // those of one machine store into one grid (fft/pipeline.hpp): nothing is sent
};

struct Prediction {
  std::string way;  // "slabs", "pencils 64x64"; empty: more processes than points to divide
  double transform = 0, exchange = 0, bytes_sent = 0;
  double seconds() const { return transform + exchange; }
};

// The least of the ways. The spectrum stays where the last exchange leaves it; nothing overlaps; no congestion.
Prediction predict(const Shape& shape, std::size_t point_bytes, std::size_t processes, const Rates& rates);

}  // namespace ridge::mpi
