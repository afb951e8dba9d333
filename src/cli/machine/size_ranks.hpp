// ridge size --ranks: predicts the time of a distributed transform on more processes than are running.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::cli {

struct SizeRanksOptions {
  std::size_t ranks = 0;  // largest number of processes
  std::string shape = "1024x1024x1024";
  std::string type = "f32";
  std::string latency = "2us", bandwidth = "1G";  // between machines, per process
  std::size_t node = 16;                          // processes per machine
};

void run_size_ranks(const SizeRanksOptions& options);

// Accepts "3100ns", "20.5us", "0.9ms", "2s" and "0"; numbers other than 0 need a unit.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace ridge::cli
