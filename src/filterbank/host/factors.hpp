// Factors of finished channels: bandpass, delay phase, or both at once.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>

namespace ridge::filterbank {

// values[k] *= factors[k] * exp(2 pi i (start + signed k * slope)), where signed k is first + k, minus `channels` from
// k = `wrap` on.
struct Rotation {
  std::complex<float>* values;
  std::size_t channels;
  std::int64_t first;
  std::size_t wrap;
  float start, slope;                  // cycles
  const std::complex<float>* factors;  // may be null
};

struct FactorKernels {
  void (*rotate)(const Rotation& task);
  void (*multiply)(std::complex<float>* values, const std::complex<float>* factors, std::size_t channels);
};

const FactorKernels& factor_kernels();

}  // namespace ridge::filterbank
