// Radices of a length and the number of work-items per line.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft::on_device {

struct RadixPlan {
  std::vector<std::size_t> radices;
  std::size_t threads;  // per line
  double cost;          // instructions per point, by the register capacity model
  std::size_t held;     // largest number of points per work-item
};

struct RadixLimits {
  std::size_t most_threads = 1024;
  std::size_t most_held = 32;     // points in registers
  std::size_t least_threads = 1;  // more if few lines share a group
};

// Best by the model first; empty if the length has a prime factor without a butterfly.
std::vector<RadixPlan> radix_plans(std::size_t length, const RadixLimits& limits);

// Cost of a plan by the model.
double plan_price(std::size_t length, const std::vector<std::size_t>& radices, std::size_t threads);

bool has_butterflies(std::size_t length);

}  // namespace ridge::fft::on_device
