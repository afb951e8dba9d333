// FIR and transform as two kernels with the branches in memory between them: the study's variants, any number of
// channels, and what fusing is measured against.
#pragma once
#include <vector>

#include <ridge/fft.hpp>

#include "filterbank/device/device_variant.hpp"

namespace ridge::filterbank::on_device {

class SeparateBank final : public DeviceBank {
 public:
  // `one_each`: a launch a spectrum, as the study's reference does.
  SeparateBank(const Device& device, const KernelDesign& fir, const Problem& problem, bool one_each);
  std::shared_ptr<const DeviceWeights> prepare(std::span<const double> prototype) const override;
  void enqueue(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const override;
  // What it compiles, the transform's own apart.
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

// The FIR as a kernel of its own, the best there is for the problem.
std::shared_ptr<const CompiledBank> fir_alone(const Device& device, const Problem& problem, const Geometry& geometry);

// A fused kernel that writes power: sums over divisors of `times`. Nothing where the channels do not fit one.
std::optional<KernelDesign> power_design(const Device& device, const Problem& problem, const Geometry& geometry,
                                         Products products, std::size_t times);
std::shared_ptr<const CompiledBank> fused_power(const Device& device, const Problem& problem, const Geometry& geometry,
                                                Products products, std::size_t times);

Factors factors_of(const Problem& problem, const Geometry& geometry);
std::vector<KernelDesign> designs(const Device& device, const Problem& problem, const Geometry& geometry, Fir fir,
                                  bool transform, std::size_t parts);

}  // namespace ridge::filterbank::on_device
