// Transforms of host arrays that are larger than the memory of a device: one or two passes over panels of rows or
// columns, which are uploaded, transformed and downloaded at the same time.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "device/panels.hpp"
#include "fft/layout.hpp"
#include "fft/panels/panel_roots.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

class DeviceTransform;

// True if the arrays, with the intermediate array where one is needed, exceed the device memory limit and panels
// support the problem: arrays are packed; several passes also need the plan's own element type and no factors or boxes.
bool needs_panels(const Device& device, const Problem& problem, const Layout& layout, bool float64);

class PanelTransform {
 public:
  PanelTransform(const Device& device, const Problem& problem, const Layout& layout, const planner::Options& options,
                 bool float64);
  // Sizes are checked by the caller.
  void run(Direction direction, const void* in, void* out) const;
  std::string explain() const;
  std::vector<planner::Decision> decisions() const;
  std::vector<KernelSource> kernels() const;

 private:
  enum class Array { input, output, work };
  // Units (rows, or columns) of one transform in an array of host memory.
  struct Side {
    Array array = Array::input;
    bool columns = false;
    std::size_t unit = 0;     // bytes of a row; elements of a column
    std::size_t element = 0;  // bytes; columns only
    std::size_t bytes(std::size_t units) const { return units * unit * (columns ? element : 1); }
  };
  struct Pass {
    std::shared_ptr<const DeviceTransform> transform = {};
    Side read = {}, written = {};
    std::size_t transforms = 1;                 // processed one after another
    std::size_t units = 1, at_once = 1;         // of one transform, and of a full panel
    std::size_t part = 0;                       // columns that are transformed at once; 0: passes over rows
    std::size_t panels = PanelStream::kAtOnce;  // on the device
    bool in_place = false;
    bool roots = false;                                     // the result is multiplied by roots of unity and transposed
    std::vector<std::size_t> starts = {};                   // first unit of each panel of a transform, then `units`
    std::size_t each() const { return starts.size() - 1; }  // panels of a transform
    std::size_t first(std::size_t panel) const { return starts[panel % each()]; }
    std::size_t count(std::size_t panel) const { return starts[panel % each() + 1] - first(panel); }
  };
  struct Pointers {
    std::byte *input = nullptr, *output = nullptr, *work = nullptr;
  };

  bool one_axis() const { return problem_.shape.size() == 1; }
  std::size_t complex_bytes() const { return float64_ ? 16 : 8; }
  std::size_t at_once(std::size_t units, std::size_t unit_bytes, std::size_t segment, std::size_t most) const;
  Problem part(const std::vector<std::size_t>& shape, std::size_t batch, Direction direction, bool last) const;
  void add(std::vector<Pass>& passes, Pass pass, const Problem& problem, const planner::Options& options) const;
  void add_columns(std::vector<Pass>& passes, Pass pass, Direction direction, bool last,
                   const planner::Options& options) const;
  std::vector<Pass> plan_batch(Direction direction, const planner::Options& options) const;
  std::vector<Pass> plan_axes(Direction direction, const planner::Options& options) const;
  std::vector<Pass> plan_one_axis(Direction direction, const planner::Options& options);
  void run_pass(Direction direction, const Pass& pass, const Pointers& arrays) const;
  std::vector<PanelRows> rows_of(const Pass& pass, const Side& side, const Pointers& arrays, std::size_t panel) const;
  template <class T>
  void run_halved(Direction direction, const void* in, void* out) const;

  Device device_;
  Problem problem_;
  bool float64_;
  std::size_t memory_;
  std::size_t rows_ = 0, columns_ = 0;  // one axis: the length is their product
  bool halved_ = false;                 // one axis of reals, transformed as half as many complex numbers
  std::size_t work_bytes_[2] = {0, 0};  // by direction
  std::vector<Pass> forward_{}, inverse_{};
  std::shared_ptr<const PanelRoots> roots_[2] = {};  // by direction
  PanelStream stream_;
};

}  // namespace ridge::fft
