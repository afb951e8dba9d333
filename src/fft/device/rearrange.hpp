// Copies between a caller's device array and a plan of its last axes: permutes axes, crops or pads with zeros, converts
// to complex or conjugates, multiplies the ends of lines. Arrays are packed.
#pragma once
#include <cstdint>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::fft::on_device {

struct ElementChange {
  bool float64 = false;
  bool complex_input = true, complex_output = true;  // never from complex to real
  bool conjugate = false;
};
KernelSource rearrange_text(const ElementChange& change);

struct Rearrangement {
  std::vector<std::uint64_t> shape = {};    // of the output
  std::vector<std::uint64_t> lengths = {};  // of the input along the same axes; elements beyond are zero
  std::vector<std::uint64_t> strides = {};  // of the input along these axes, in elements
};

class Rearranger {
 public:
  Rearranger(const Device& device, const ElementChange& change);
  // Waits until it is done.
  void rearrange(Queue& queue, const Rearrangement& wanted, const Buffer& in, const Buffer& out) const;
  // Multiplies the first and the last real along one axis of an array. Enqueued, not waited for.
  void scale_ends(Queue& queue, const std::vector<std::uint64_t>& shape, std::size_t axis, double first, double last,
                  const Buffer& data) const;

 private:
  bool float64_;
  Kernel rearrange_, scale_ends_;
};

}  // namespace ridge::fft::on_device
