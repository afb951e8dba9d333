// Which butterflies do a length, and how many work-items share it.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft::on_device {

struct RadixPlan {
  std::vector<std::size_t> radices;
  std::size_t threads;  // a line
  double cost;          // instructions a point, by the model of the capacity of registers
  std::size_t held;     // points a work-item holds at most
};

struct RadixLimits {
  std::size_t most_threads = 1024;
  std::size_t most_held = 32;     // points in registers
  std::size_t least_threads = 1;  // more where few lines share a group
};

// Best by the model first; none where the length has a prime factor that no butterfly has.
std::vector<RadixPlan> radix_plans(std::size_t length, const RadixLimits& limits);

// The cost that a plan would have.
double plan_price(std::size_t length, const std::vector<std::size_t>& radices, std::size_t threads);

bool has_butterflies(std::size_t length);

}  // namespace ridge::fft::on_device
