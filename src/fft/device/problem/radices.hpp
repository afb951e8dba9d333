// Factors of a length, its radices and the number of work-items per line.
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

// --- several passes, and Bluestein's method ---

// Factors of a length, one per pass, nearly equal factors first; empty if a prime factor is too large.
std::vector<std::vector<std::size_t>> pass_factors(std::size_t length, std::size_t passes, std::size_t most_per_pass);

std::vector<std::size_t> padded_lengths(std::size_t n);  // for Bluestein's method, shortest first

}  // namespace ridge::fft::on_device
