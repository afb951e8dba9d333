// A filter-bank kernel compiled for a device, with its tables in device memory, launched over any range of spectra.
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
  Buffer tables;  // twiddle factors, multiplied by the inverse scale of the weights
};

// Returns a device buffer with `values`; the upload is complete on return.
template <class Value>
Buffer uploaded(const Device& device, std::span<const Value> values, const char* name) {
  const Buffer buffer = device.buffer(values.size_bytes(), {.name = name});
  Queue queue = device.queue();
  queue.upload(values, buffer);
  queue.finish();
  return buffer;
}

// Spectra first .. first + count of a stream. `samples` begins with sample number `start` of each station, a multiple
// of the block size. Output starts at value `out_offset` of `spectra`, which is the start of the output block that
// holds `first`.
struct Stretch {
  const Buffer& samples;
  std::int64_t start = 0;
  const Buffer& spectra;
  std::uint64_t out_offset = 0;
  std::uint64_t first = 0;
  std::size_t count = 0;
  // With delays: whole samples per station (std::int32_t), and phases [spectrum][polarization][station] from number
  // `first_phase` on.
  Buffer shifts{}, phases{};
  std::size_t first_phase = 0;
};

// Distance in values from the output block that holds spectrum `first` to the one that holds spectrum `at`.
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
  Buffer tables_, factors_;  // tables_ is empty if the weights bring their own
};

// Iterations of a work-group's loop over time, chosen so that the groups fill the device evenly and little history is
// read twice.
std::size_t rounds_for(const KernelDesign& design, std::size_t spectra, std::size_t slots);

}  // namespace ridge::filterbank::on_device
