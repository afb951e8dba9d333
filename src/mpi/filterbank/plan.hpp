// What a plan over processes knows, for its streams.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ridge/mpi/filterbank.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::mpi::filterbank {

// Every process's stations: checked, or measured. By all.
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
  std::optional<ridge::filterbank::Plan> own;  // where this process has stations
};

}  // namespace ridge::mpi::filterbank
