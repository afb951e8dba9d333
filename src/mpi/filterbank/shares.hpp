// Distributes the stations of a filter bank over workers: processes, or devices of one process.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include <ridge/filterbank.hpp>
#include <ridge/mpi/box.hpp>

namespace ridge::mpi::filterbank {

// The part of the problem with these stations.
ridge::filterbank::Problem problem_of(const ridge::filterbank::Problem& problem, const Part& stations);

// Measured seconds per sample and station on a device, transfers included. Noise is channelized by a bank of `stations`
// stations.
double seconds_of_station(const Device& device, const ridge::filterbank::Problem& problem,
                          const std::optional<ridge::filterbank::Detection>& detection, const planner::Options& options,
                          std::size_t stations);

// Consecutive stations for each worker, such that the slowest one finishes as early as possible.
std::vector<Part> shares_by_speed(const std::vector<double>& seconds, std::size_t stations);

}  // namespace ridge::mpi::filterbank
