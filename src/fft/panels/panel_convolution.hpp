// Overlap-save convolution of host arrays on a device: panels of several blocks are uploaded, filtered and downloaded
// at the same time, so that the signal may be larger than the device's memory.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "device/panels.hpp"

namespace ridge::fft {

// Element: T or std::complex<T>.
template <class T, class Element>
class PanelConvolution {
 public:
  // `spectrum`: of the filter, padded to one block. `filter`, `block`: number of points of the filter and of a block.
  PanelConvolution(const Device& device, std::span<const std::complex<T>> spectrum, std::size_t filter,
                   std::size_t block, const planner::Options& options);
  // Writes out.size() values of the whole result, from number `first` on.
  void run(std::span<const Element> signal, std::span<Element> out, std::size_t first) const;
  std::string explain() const;

 private:
  static constexpr Kind kKind = std::is_same_v<T, Element> ? Kind::real : Kind::complex;
  std::size_t history() const { return filter_ - 1; }
  std::size_t fresh() const { return block_ - filter_ + 1; }  // new values per block
  std::size_t values() const { return kKind == Kind::real ? block_ / 2 + 1 : block_; }
  Problem problem(Directions directions) const;

  Device device_;
  std::size_t filter_, block_, blocks_;  // blocks per panel
  Plan<T> forward_, inverse_;
  Buffer spectra_;
  PanelStream stream_;
};

}  // namespace ridge::fft
