// Registry of the image variants: one line each, which also declares its lister.
#include "image/variant.hpp"

namespace ridge::image {

// clang-format off
std::vector<Entry> list_variants(const Device& device, const FlowProblem& problem) {
  std::vector<Entry> entries;
  const auto list = [&](Lister<FlowProblem>& lister) { lister(device, problem, entries); };
  if (device.is_host()) {
    Lister<FlowProblem> list_host_flow; list(list_host_flow);
  } else {
    Lister<FlowProblem> list_device_flow; list(list_device_flow);
  }
  return entries;
}

std::vector<Entry> list_variants(const Device& device, const VarianceProblem& problem) {
  std::vector<Entry> entries;
  const auto list = [&](Lister<VarianceProblem>& lister) { lister(device, problem, entries); };
  if (device.is_host()) {
    Lister<VarianceProblem> list_host_variance; list(list_host_variance);
  } else {
    Lister<VarianceProblem> list_device_variance; list(list_device_variance);
  }
  return entries;
}

std::vector<Entry> list_variants(const Device& device, const OperatorProblem& problem) {
  std::vector<Entry> entries;
  const auto list = [&](Lister<OperatorProblem>& lister) { lister(device, problem, entries); };
  if (device.is_host()) {
    Lister<OperatorProblem> list_host_operators; list(list_host_operators);
  } else {
    Lister<OperatorProblem> list_device_operators; list(list_device_operators);
  }
  return entries;
}

}  // namespace ridge::image
