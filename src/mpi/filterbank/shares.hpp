// Which stations of a bank each worker has: a process, or a device of one.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include <ridge/filterbank.hpp>
#include <ridge/mpi/box.hpp>

namespace ridge::mpi::filterbank {

// The part of the problem that has these stations.
ridge::filterbank::Problem problem_of(const ridge::filterbank::Problem& problem, const Part& stations);

// Seconds that one station takes on a device for each sample, the way there and back included: a stretch of noise goes
// through a bank of `stations` of them.
double seconds_of_station(const Device& device, const ridge::filterbank::Problem& problem,
                          const std::optional<ridge::filterbank::Detection>& detection, const planner::Options& options,
                          std::size_t stations);

// The stations of each, in order; nobody waits for the slowest longer than he must.
std::vector<Part> shares_by_speed(const std::vector<double>& seconds, std::size_t stations);

}  // namespace ridge::mpi::filterbank
