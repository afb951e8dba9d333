// State of a filter-bank Plan: the completed problem, the planner's decision and the variant that was built.
#pragma once
#include <ridge/filterbank.hpp>

#include "filterbank/variant.hpp"

namespace ridge::filterbank {

class Bank {
 public:
  Bank(const Device& device, const Problem& problem, const planner::Options& options);

  Problem problem;
  Geometry geometry;
  Device device;
  std::vector<planner::Decision> decisions;
  std::vector<KernelSource> kernels;
  std::string variant_name;
  std::shared_ptr<const Variant> variant;
  std::shared_ptr<const Weights> weights;  // problem.weights in the variant's layout
};

}  // namespace ridge::filterbank
