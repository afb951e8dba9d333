// Tables of Bluestein's method for long lines, computed on the device: the host takes seconds for a million points.
#pragma once
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::fft::on_device {

inline constexpr std::size_t kShortestDeviceChirp = std::size_t{1} << 20;  // points of lines whose tables are made here

KernelSource chirp_source(bool float64);

// scale * exp(-i pi k^2 / n) for k < n, or its conjugate, as float or double pairs. No buffer if the device has no
// double precision or too little memory.
Buffer device_chirp(const Device& device, std::size_t n, bool conjugate, double scale, bool float64);

struct ChirpFilter {
  std::size_t points = 1, padded = 1;  // of the line, and of its transforms
  bool conjugate = false;
  std::size_t columns = 1, rows = 1;  // value k is stored at k % columns * rows + k / columns
};

// Spectrum of the filter, computed in double, as float or double pairs. No buffer as above.
Buffer device_chirp_filter(const Device& device, const ChirpFilter& filter, bool float64);

}  // namespace ridge::fft::on_device
