// A kernel of the filter bank made real on a device: compiled, its tables there, launched over any stretch.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include <ridge/device.hpp>
#include <ridge/filterbank.hpp>

#include "filterbank/device/design.hpp"
#include "filterbank/variant.hpp"

namespace ridge::filterbank::on_device {

class DeviceWeights final : public Weights {
 public:
  DeviceWeights(Buffer values, Buffer scaled_roots) : buffer(std::move(values)), tables(std::move(scaled_roots)) {}
  Buffer buffer;
  Buffer tables;  // roots of the transform, times what undoes the scale of the weights
};

// `values` in a buffer of the device, there when this returns.
template <class Value>
Buffer uploaded(const Device& device, std::span<const Value> values, const char* name) {
  const Buffer buffer = device.buffer(values.size_bytes(), {.name = name});
  Queue queue = device.queue();
  queue.upload(values, buffer);
  queue.finish();
  return buffer;
}

// Spectra first .. first + count of a stream whose sample number `start` (of each station, a multiple of the block) is
// the first in `samples`; written from value `out_offset` of `spectra` on, which is where the output block of the first
// begins.
struct Stretch {
  const Buffer& samples;
  std::int64_t start = 0;
  const Buffer& spectra;
  std::uint64_t out_offset = 0;
  std::uint64_t first = 0;
  std::size_t count = 0;
  // Where delays are undone: whole samples of each station (std::int32_t), and phases [spectrum][polarization][station]
  // from number `first_phase` on.
  Buffer shifts{}, phases{};
  std::size_t first_phase = 0;
};

// Where the output block of spectrum `at` begins, in values behind where that of spectrum `first` does.
inline std::size_t block_place(const Geometry& g, std::uint64_t first, std::uint64_t at) {
  return static_cast<std::size_t>(at / g.times - first / g.times) * g.times * g.spectrum_size();
}

class CompiledBank {
 public:
  CompiledBank(const Device& device, const KernelDesign& design, std::span<const std::complex<float>> factors);
  void enqueue(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const;
  std::shared_ptr<const DeviceWeights> prepare(std::span<const double> prototype) const;
  const KernelDesign& design() const { return design_; }
  const Kernel& kernel() const { return kernel_; }

 private:
  void launch(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const;

  Device device_;
  KernelDesign design_;
  Kernel kernel_;
  std::size_t local_bytes_ = 0;
  Buffer tables_, factors_;  // no tables_ where the weights bring their own
};

// Turns of a group's loop over time: groups that fill the device evenly and read little history twice.
std::size_t rounds_for(const KernelDesign& design, std::size_t spectra, std::size_t slots);

}  // namespace ridge::filterbank::on_device
