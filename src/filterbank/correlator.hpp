// What a correlator is made of, on the host or on a device.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <ridge/filterbank.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank {

// "float32", "float16", "int8"; Error{invalid_argument} for others.
Arithmetic arithmetic_named(std::string_view name);

class CorrelatorState {
 public:
  // Error{invalid_argument} in words where the problem cannot be correlated so.
  CorrelatorState(const Problem& problem, const Correlation& correlation);
  virtual ~CorrelatorState() = default;
  // Whole output blocks of spectra, counted and checked.
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
  std::uint64_t count_ = 0;  // times taken
};

namespace on_device {
std::unique_ptr<CorrelatorState> make_correlator(const Device& device, const Problem& problem,
                                                 const Correlation& correlation);
// With the kernels of matrix units or without; a device that has none imitates them, slowly.
std::unique_ptr<CorrelatorState> make_correlator(const Device& device, const Problem& problem,
                                                 const Correlation& correlation, bool matrix_units);
}  // namespace on_device

}  // namespace ridge::filterbank
