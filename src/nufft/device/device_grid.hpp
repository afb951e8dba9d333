// The fine grid on a device with sorted points: spreading onto it and interpolation from it.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include <ridge/device.hpp>

#include "nufft/device/sorter.hpp"

namespace ridge::nufft {

// Angles as 32-bit integers, 2^32 per period: exact to 7e-10 radians, where floats near pi are exact to 1e-7.
template <class Angle>
std::vector<std::int32_t> turns_of(const Angle* angles, std::size_t count) {
  std::vector<std::int32_t> turns(count);
  for (std::size_t j = 0; j < count; ++j) {
    const double periods = double{angles[j]} / (2 * std::numbers::pi);
    turns[j] = static_cast<std::int32_t>(std::llround((periods - std::rint(periods)) * 0x1p32));
  }
  return turns;
}

// Uploads numbers in the plan's type.
template <class T>
Buffer upload_numbers(const Device& device, const std::vector<double>& wide, const char* name);

template <class T>
class DeviceGrid {
 public:
  static constexpr std::size_t kPerGroup = 256;  // as in nonuniform.cl

  DeviceGrid(const Device& device, const DeviceDesign& design, bool fold);

  const Program& program() const { return program_; }
  const Buffer& buffer() const { return grid_; }
  // As DeviceSorter::sort().
  std::shared_ptr<const DevicePoints> sort(Queue& queue, const std::array<Buffer, 3>& axis, std::size_t count,
                                           std::size_t& bad) const {
    return sorter_.sort(queue, axis, count, bad);
  }
  // Clears the grid and adds the strengths from element `offset` on.
  void spread(Queue& queue, const DevicePoints& points, const Buffer& strengths, std::uint64_t offset) const;
  void interpolate(Queue& queue, const DevicePoints& points, const Buffer& values, std::uint64_t offset) const;
  // Values as by interpolate(), and their derivatives in arrays `stride` elements apart after the values.
  void slopes(Queue& queue, const DevicePoints& points, const Buffer& values, std::uint64_t offset,
              std::uint64_t stride) const {
    read_boxes(queue, slopes_, points, values, offset, stride);
  }
  // One work-item per element.
  static Launch per_element(std::size_t count) {
    return {.groups = {(count + kPerGroup - 1) / kPerGroup}, .items = {kPerGroup}};
  }

 private:
  std::int32_t across() const { return static_cast<std::int32_t>(design_.tiles_across()); }
  std::int32_t cells(std::size_t i) const { return static_cast<std::int32_t>(design_.cells[i]); }
  Launch per_box(std::size_t count) const;
  void read_boxes(Queue& queue, const ridge::Kernel& kernel, const DevicePoints& points, const Buffer& values,
                  std::uint64_t offset, std::uint64_t stride) const;

  DeviceDesign design_;
  Program program_;
  DeviceSorter<T> sorter_;
  ridge::Kernel spread_, interpolate_, slopes_;
  Buffer grid_, tables_;
};

}  // namespace ridge::nufft
