// Implementation of a distributed filter bank plan, shared by its streams.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ridge/mpi/filterbank.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::mpi::filterbank {

// Stations of every process: as given after a check, or by measured speed. Collective.
std::vector<Part> share_out(const Communicator& all, const Device& device, const Problem& problem,
                            const std::optional<Detection>& detection, const Options& options);

class Plan::Impl {
 public:
  Impl(const Communicator& communicator, const Device& on, const Problem& given, const Options& options);
  Part mine() const { return shares[all.rank()]; }
  bool any() const { return mine().end > mine().begin; }

  Communicator all;
  Device device;
  Problem problem;
  ridge::filterbank::Geometry geometry;
  std::vector<Part> shares;
  std::optional<ridge::filterbank::Plan> own;  // empty if this process has no stations
};

}  // namespace ridge::mpi::filterbank
