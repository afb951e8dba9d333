// Between the spectrum of a real signal and a complex transform too long to do both in one kernel.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

enum class SpectrumChange {
  unpack,  // even, forward: the n values of the transform of pairs become the n + 1 of the samples
  pack,    // even, inverse: back
  mirror,  // odd, inverse: the second half is made out of the first
};

struct SpectrumDesign {
  SpectrumChange change = SpectrumChange::unpack;
  bool float64 = false;
  std::size_t length = 1;                  // of the complex transform
  std::vector<std::uint64_t> counts = {};  // of the lines' digits
  Address in = {}, out = {};
  FactorKind factor = FactorKind::none;  // of the spectrum of the samples, on whichever side it is
  Address factor_at = {};
  double scale = 1;                 // forward only
  Storage storage = Storage::same;  // of the spectrum of the samples
};

KernelSource spectrum_text(const SpectrumDesign& design);

// The step's `load` are the factors.
std::shared_ptr<const StepDesign> spectrum_step(const SpectrumDesign& design);

}  // namespace ridge::fft::on_device
