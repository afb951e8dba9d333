// Sorts points on a device by tile and by cell along the window's axis: counts, sums, moves. Many points are sorted by
// parts (sort_parts.cl) unless one part has too many of them.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include <ridge/device.hpp>

#include "nufft/device/design.hpp"
#include "nufft/variant.hpp"

namespace ridge::nufft {

class DevicePoints final : public PointSet {
 public:
  using PointSet::PointSet;
  Buffer records{};  // four numbers per point: coordinates and index
  Buffer pieces{};   // tile, first and end point of each piece; empty for atomic spreading
  std::uint32_t pieces_count = 0;
};

template <class T>
class DeviceSorter {
 public:
  DeviceSorter(const Device& device, const DeviceDesign& design, const Program& program, bool fold);
  // `axis` holds the coordinates on the device. Waits for the queue. Returns null and the index of the first point that
  // is not finite or farther from 0 than folding allows, if there is one.
  std::shared_ptr<const DevicePoints> sort(Queue& queue, const std::array<Buffer, 3>& axis, std::size_t count,
                                           std::size_t& bad) const;

 private:
  // The points to sort: their coordinates and number.
  struct Given {
    std::array<Buffer, 3> axis;
    std::size_t count;
  };
  std::size_t keys() const { return design_.tiles() * design_.keys_per_tile() + 1; }
  std::size_t keys_per_part(std::size_t count) const;  // 0: sort_points() is used
  bool sort_parts(Queue& queue, const Given& given, const Buffer& records) const;
  void sort_points(Queue& queue, const Given& given, const Buffer& records) const;
  std::vector<Argument> coordinates(const Given& given) const;
  void add_grid(std::vector<Argument>& arguments) const;
  Buffer scratch(Buffer& buffer, std::size_t elements, const char* name) const;
  void scan(Queue& queue, const Buffer& counts, const Buffer& totals, std::size_t count) const;
  void list_pieces(Queue& queue, DevicePoints& points) const;

  Device device_;
  DeviceDesign design_;
  T farthest_;
  ridge::Kernel count_, scan_, count_pieces_, list_pieces_, move_;
  ridge::Kernel count_parts_{}, start_parts_{}, fill_parts_{}, sort_part_{};
  mutable std::mutex busy_;
  mutable Buffer keys_, ranks_, counts_, totals_, numbers_, number_totals_, total_, found_;
  mutable Buffer part_counts_, starts_, cursors_, moved_;
};

}  // namespace ridge::nufft
