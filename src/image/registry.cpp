// Which variants there are: a line each.
#include "image/flow/device/variant.hpp"
#include "image/flow/host/listing.hpp"
#include "image/operators/device/steps.hpp"
#include "image/operators/host/listing.hpp"
#include "image/variance/device/design.hpp"
#include "image/variance/host/listing.hpp"

namespace ridge::image {

std::vector<Entry> list_variants(const Device& device, const FlowProblem& problem) {
  std::vector<Entry> entries;
  if (device.is_host()) {
    list_host_flow(problem, entries);
  } else {
    on_device::list_flow(device, problem, entries);
  }
  return entries;
}

std::vector<Entry> list_variants(const Device& device, const VarianceProblem& problem) {
  std::vector<Entry> entries;
  if (device.is_host()) {
    list_host_variance(problem, entries);
  } else {
    on_device::list_variance(device, problem, entries);
  }
  return entries;
}

std::vector<Entry> list_variants(const Device& device, const OperatorProblem& problem) {
  std::vector<Entry> entries;
  if (device.is_host()) {
    list_host_operators(problem, entries);
  } else {
    on_device::list_operators(device, problem, entries);
  }
  return entries;
}

}  // namespace ridge::image
