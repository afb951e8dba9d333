// Fixture of the filter bank's device tests.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <ridge/filterbank.hpp>

#include "support/devices.hpp"
#include "support/emulated_cuda.hpp"

namespace ridge::filterbank::test {

class BankOnDevices : public ridge::test::NeedsAccelerator<> {
 protected:
  // Compiling a kernel takes seconds on PoCL: there, tests use fewer of the similar kernels.
  static bool compiles_fast(const Device& device) {
    return device.limits().sub_group != 0 || std::getenv("RIDGE_SLOW") != nullptr;
  }
};

// CUDA devices or, with RIDGE_SLOW, an emulated one.
inline std::vector<Device> of_cuda() {
  std::vector<Device> found = ridge::test::devices_of(Backend::cuda);
  if (found.empty() && std::getenv("RIDGE_SLOW") != nullptr) {
    found.emplace_back(std::make_shared<ridge::test::EmulatedCuda>());
  }
  return found;
}

// All power rows of the bytes, pushed `piece` bytes at a time.
inline std::vector<float> power_of(const Device& device, const Problem& problem, const Detection& detection,
                                   std::span<const std::byte> bytes, std::size_t piece) {
  PowerStream stream(device, problem, detection, {.effort = Effort::quick});
  std::vector<float> out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto now = bytes.subspan(at, std::min(piece, bytes.size() - at));
    const std::size_t before = out.size();
    out.resize(before + stream.due(now.size()) * stream.row_size());
    stream.push(now, std::span(out).subspan(before));
  }
  return out;
}

// Relative error of one product of rows [station][product][channel]. Squares of powers are much larger than powers, so
// that one error over all products would not see the powers.
inline double product_error(const Problem& problem, Products products, std::size_t product, std::span<const float> got,
                            std::span<const float> wanted) {
  const std::size_t count = product_count(products, problem.polarizations);
  const std::size_t channels = problem.channels;
  double off = 0, size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i / channels % count != product) continue;
    off += std::pow(static_cast<double>(got[i]) - static_cast<double>(wanted[i]), 2);
    size += std::pow(static_cast<double>(wanted[i]), 2);
  }
  return std::sqrt(off / size);
}

}  // namespace ridge::filterbank::test
