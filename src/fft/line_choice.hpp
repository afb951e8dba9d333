// One way to do a line of n points, as each algorithm's folder offers it to the planner.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fft/kernel.hpp"

namespace ridge::fft {

// `efficiency` is of the core's peak, what the author expects; the planner orders by flops and efficiency.
template <class T>
struct LineChoice {
  std::string name;
  std::string refusal;
  double flops;
  double efficiency;
  std::function<std::unique_ptr<LineKernel<T>>()> make;
};

}  // namespace ridge::fft
