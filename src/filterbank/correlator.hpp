// Interface of a correlator: products of all pairs of signals, summed over time, on the host or on a device.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <ridge/filterbank.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank {

// Parses "float32", "float16" or "int8"; throws Error{invalid_argument} for any other name.
Arithmetic arithmetic_named(std::string_view name);

class CorrelatorState {
 public:
  // Throws Error{invalid_argument} if the problem cannot be correlated with these parameters.
  CorrelatorState(const Problem& problem, const Correlation& correlation);
  virtual ~CorrelatorState() = default;
  // Adds `spectra`. The caller has checked that they are whole output blocks and that `out` is large enough.
  virtual void push(std::span<const std::complex<float>> spectra, std::complex<float>* out) = 0;
  virtual void enqueue(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& out);
  virtual void pack(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& rows);
  virtual void enqueue_packed(Queue& queue, const Buffer& rows, std::size_t times, const Buffer& out);

  const Geometry& geometry() const { return geometry_; }
  const Correlation& correlation() const { return correlation_; }
  std::size_t baselines() const { return geometry_.stations * (geometry_.stations + 1) / 2; }
  std::size_t channels() const { return geometry_.channels / correlation_.channels; }
  std::size_t products() const { return geometry_.polarizations * geometry_.polarizations; }
  std::size_t size() const { return baselines() * channels() * products(); }
  std::size_t due(std::size_t spectra) const {
    return static_cast<std::size_t>((count_ % correlation_.times + spectra) / correlation_.times);
  }

 protected:
  Geometry geometry_;
  Correlation correlation_;
  std::uint64_t count_ = 0;  // spectra added so far
};

namespace on_device {
std::unique_ptr<CorrelatorState> make_correlator(const Device& device, const Problem& problem,
                                                 const Correlation& correlation);
// Uses the matrix-unit kernels if `matrix_units` is true. A device without matrix units emulates them, slowly.
std::unique_ptr<CorrelatorState> make_correlator(const Device& device, const Problem& problem,
                                                 const Correlation& correlation, bool matrix_units);
}  // namespace on_device

}  // namespace ridge::filterbank
