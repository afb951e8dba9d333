// Transforms between samples on a grid of three axes and columns of their spectrum, on a device.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "device/staging.hpp"
#include "fft/columns/geometry.hpp"
#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

// Kernels that copy between parts of an array and a packed list of them, and those of real grids.
KernelSource columns_text(bool float64);

class DeviceColumns {
 public:
  DeviceColumns(const Device& device, const ColumnsProblem& problem, const planner::Options& options, bool float64,
                bool transposed = false);
  // Sizes are checked by the caller. Forward: from samples to modes.
  void enqueue(Queue& queue, Direction direction, const Buffer& in, const Buffer& out) const;
  void run(Direction direction, const void* in, void* out) const;  // host memory
  const ColumnGeometry& geometry() const { return geometry_; }
  const std::vector<planner::Decision>& decisions() const { return decisions_; }
  std::vector<KernelSource> kernels() const;  // of the forward transform
  std::string explain() const;

 private:
  using Compiled = std::shared_ptr<const CompiledRoute>;
  // The transform along x of a real grid.
  struct RealLines {
    std::function<void(Queue&, const Buffer&, const Buffer&)> forward{}, inverse{};
    std::vector<KernelSource> kernels{};
    std::string explained{};
  };
  template <class T>
  RealLines real_lines(const planner::Options& options) const;
  void make_tables(const std::vector<Column>& columns, bool transposed);
  void copy_modes(Queue& queue, Direction direction, const Buffer& from, const Buffer& to) const;
  AxisProblem along_x(Direction direction) const;
  AxisProblem along_y(Direction direction) const;
  AxisProblem along_z(Direction direction, double scale) const;
  template <class Element>
  Buffer table(const std::vector<Element>& values, const char* name) const;
  void copy(Queue& queue, const Kernel& kernel, const Buffer& from, const Buffer& to, const Buffer& places,
            std::uint64_t length, std::uint64_t elements) const;
  void enqueue_forward(Queue& queue, const Buffer& samples, const Buffer& modes) const;
  void enqueue_inverse(Queue& queue, const Buffer& modes, const Buffer& samples) const;

  Device device_;
  bool float64_;
  ColumnGeometry geometry_;
  std::vector<planner::Decision> decisions_;
  Compiled forward_[3], inverse_[3];  // along x, y and z; none along x for real grids
  RealLines real_lines_{};
  Kernel gather_, scatter_, take_, put_, drop_imaginary_;
  Buffer lines_, places_;                         // offsets of the columns' lines, and of the modes on these lines
  Buffer forward_factors_{}, inverse_factors_{};  // real grids: of the modes
  Buffer first_, second_;                         // work areas
  Staging staging_;
  mutable std::mutex mutex_;
  mutable Event last_;
  mutable std::uintptr_t last_queue_ = 0;
};

}  // namespace ridge::fft::on_device
