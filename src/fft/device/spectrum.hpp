// Conversion between the spectrum of a real signal and a complex transform, as a kernel of its own for long lines.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

enum class SpectrumChange {
  unpack,  // even, forward: n values of the transform of pairs become n + 1 of the samples
  pack,    // even, inverse: the reverse of unpack
  mirror,  // odd, inverse: computes the second half from the first
};

struct SpectrumDesign {
  SpectrumChange change = SpectrumChange::unpack;
  bool float64 = false;
  std::size_t length = 1;                  // of the complex transform
  std::vector<std::uint64_t> counts = {};  // batch dimensions
  Address in = {}, out = {};
  FactorKind factor = FactorKind::none;  // applied to the spectrum of the samples
  Address factor_at = {};
  double scale = 1;                 // forward only
  Storage storage = Storage::same;  // of the spectrum of the samples
};

KernelSource spectrum_text(const SpectrumDesign& design);

// The step's `load` holds the factors.
std::shared_ptr<const StepDesign> spectrum_step(const SpectrumDesign& design);

}  // namespace ridge::fft::on_device
