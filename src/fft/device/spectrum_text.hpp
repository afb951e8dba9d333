// Between the spectrum of a real signal and a complex transform too long to do both in one kernel.
#pragma once
#include <cstdint>
#include <vector>

#include <ridge/device.hpp>

#include "fft/device/compiled_pass.hpp"
#include "fft/device/pass.hpp"

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
  double scale = 1;  // forward only
};

KernelSource spectrum_text(const SpectrumDesign& design);

class CompiledSpectrum {
 public:
  CompiledSpectrum(const Device& device, const SpectrumDesign& design, const FactorTable& factors);
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const;

 private:
  SpectrumDesign design_;
  Kernel kernel_;
  std::vector<Buffer> tables_;
};

}  // namespace ridge::fft::on_device
