// ridge size --ranks: what a distributed transform would take on more processes than there are here.
#pragma once
#include <cstddef>
#include <string>

namespace ridge::cli {

struct SizeRanksOptions {
  std::size_t ranks = 0;  // up to so many
  std::string shape = "1024x1024x1024";
  std::string type = "f32";
  std::string latency = "2us", bandwidth = "1G";  // between machines, a process
  std::size_t node = 16;                          // processes a machine
};

void run_size_ranks(const SizeRanksOptions& options);

}  // namespace ridge::cli
