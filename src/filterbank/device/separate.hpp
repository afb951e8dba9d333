// FIR and FFT as separate kernels with the branches in device memory: the variants of the LOFAR study, for any number
// of channels, and the baseline for the fused kernels.
#pragma once
#include <vector>

#include <ridge/fft.hpp>

#include "filterbank/device/device_variant.hpp"

namespace ridge::filterbank::on_device {

class SeparateBank final : public DeviceBank {
 public:
  // `one_each`: one launch per spectrum, as in the study's reference.
  SeparateBank(const Device& device, const KernelDesign& fir, const Problem& problem, bool one_each);
  std::shared_ptr<const DeviceWeights> prepare(std::span<const double> prototype) const override;
  void enqueue(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const override;
  // Kernels that it compiles, without those of the FFT plan.
  static std::vector<KernelSource> kernels(const KernelDesign& fir, const Problem& problem);

 private:
  struct Size {
    std::size_t spectra;
    fft::Plan<float> transform;
    Buffer branches, channels;
  };
  Size size(const Device& device, std::size_t spectra) const;

  Geometry geometry_;
  CompiledBank fir_;
  Kernel finish_;
  Buffer factors_;
  std::vector<Size> sizes_;  // descending
};

// The best FIR kernel for the problem, without a transform.
std::shared_ptr<const CompiledBank> fir_alone(const Device& device, const Problem& problem, const Geometry& geometry);

// The designs of fused kernels that write spectra as pairs of signed bytes, the most promising first. The values are
// rounded as they are: scale the prototype so that they fit.
std::vector<KernelDesign> byte_designs(const Device& device, const Problem& problem, const Geometry& geometry);

// A fused kernel that writes power, with sums over divisors of `times`; empty if no fused kernel fits the channels.
std::optional<KernelDesign> power_design(const Device& device, const Problem& problem, const Geometry& geometry,
                                         Products products, std::size_t times);
std::shared_ptr<const CompiledBank> fused_power(const Device& device, const Problem& problem, const Geometry& geometry,
                                                Products products, std::size_t times);

}  // namespace ridge::filterbank::on_device
