// Beams of voltages rounded to bytes or 16-bit floats, on the matrix units of a device.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ridge/search/beams.hpp>

#include "search/device/byte_beams.hpp"

namespace ridge::search {

class RoundedBeams {
 public:
  // `weights`: rounded, multiplied by `weight_scale`. Throws Error{invalid_argument} if the device cannot do it.
  RoundedBeams(const Device& device, const BeamProblem& problem, std::span<const std::complex<float>> weights,
               float weight_scale);
  // As Beamformer::power().
  void power(const std::complex<float>* in, float* out);
  void power(const std::int8_t* in, float* out);

 private:
  template <class Store>
  void pack(float voltage_scale, const Store& store, float* out);
  void run(float voltage_scale, float* out);
  std::size_t bins() const { return problem_.times / problem_.integrate; }
  std::size_t rows() const { return problem_.beams + (problem_.incoherent ? 1 : 0); }

  BeamProblem problem_;
  float weight_scale_;
  std::size_t parts_;      // sums of 8 times per power; the last one is filled up with zeros
  ByteBeamProblem shape_;  // of the products
  ByteBeams beams_;
  Queue queue_;
  Buffer in_, table_, sums_, out_;
  std::vector<std::byte> packed_;
  std::vector<float> own_;  // channels x bins, the incoherent beam
};

}  // namespace ridge::search
