// A transform on a device other than the host: one axis after another, each by the route that the planner chose.
#pragma once
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "device/staging.hpp"
#include "fft/box_order.hpp"
#include "fft/device/route.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"
#include "fft/layout.hpp"

namespace ridge::fft {

class PanelTransform;  // src/fft/panels/panel_transform.hpp

class DeviceTransform {
 public:
  // `float64`: numbers are double, else float.
  DeviceTransform(const Device& device, const Problem& problem, const planner::Options& options, bool float64);

  // Sizes are checked by the caller; in and out are the same if the plan is in place. `first`: elements of both that
  // precede the first one used; it must keep 16-byte accesses aligned.
  void enqueue(Queue& queue, Direction direction, const Buffer& in, const Buffer& out, std::size_t first = 0) const;

  // For host memory: uses buffers that the first such run creates and keeps; runs from several threads are serialized.
  void run(Direction direction, const void* in, void* out) const;

  std::size_t bytes_of(Direction direction, bool input) const;  // size of each side's array
  std::size_t scratch_bytes() const;                            // of the arrays that the plan holds

  const Device& device() const { return device_; }
  const Problem& problem() const { return problem_; }
  const Layout& layout() const { return layout_; }
  const std::vector<planner::Decision>& decisions() const { return decisions_; }
  std::string explain() const;
  std::vector<KernelSource> kernels() const;  // of the forward transform

 private:
  enum class Array { input, output, work, second };
  struct Stage {
    std::shared_ptr<const on_device::CompiledRoute> route;
    Array from, to;
    std::size_t axis;
  };
  struct EndOperators {  // extra work of the first load and the last store of a direction
    on_device::FactorTable load, store;
    Samples samples = Samples::same;
    double scale = 1;
  };

  EndOperators end_operators(Direction direction) const;
  on_device::AxisProblem axis_problem(Direction direction, std::size_t axis, Kind kind, const Side& in,
                                      const Side& out) const;
  struct PlannedAxis {  // one axis of one direction
    std::size_t axis;
    Kind kind;
    Array from, to;
    on_device::AxisProblem problem;
  };
  std::vector<PlannedAxis> planned_axes(Direction direction);
  // Real 2D arrays transformed columns first (folded_axes.cpp).
  bool folds(const planner::Options& options) const;
  on_device::AxisProblem folded_rows(Direction direction) const;
  std::vector<PlannedAxis> folded_axes(Direction direction);
  void build(const planner::Options& options);
  on_device::AxisProblem box_problem(Direction direction, const BoxAxis& axis, const Side& from, const Side& to,
                                     const EndOperators* load, const EndOperators* store) const;
  void build_boxed(Direction direction, const planner::Options& options);  // boxes/boxed_axes.cpp
  using Compiled = std::shared_ptr<const on_device::CompiledRoute>;
  struct ReturnRoute {  // the forward winner, reused for the inverse
    std::optional<on_device::Route> route;
    std::future<Compiled> compiled = {};  // compiled concurrently if it was known beforehand
  };
  // `back` is the same axis of the inverse: the same route is compiled concurrently for it.
  Compiled choose(const on_device::AxisProblem& problem, const on_device::AxisProblem* back,
                  const planner::Options& options, ReturnRoute& return_route);
  Compiled compiled_back(ReturnRoute& return_route, bool float64) const;

  // Rows and columns of planes in one launch if that is faster than one after another: the first two stages of each
  // direction, the last two of an inverse real transform.
  bool join_complex_planes(const std::vector<PlannedAxis>& back, const planner::Options& options);
  void join_real_planes(const planner::Options& options);
  std::optional<on_device::Route> chosen_plane(Direction direction, const Stage& first, const Stage& second,
                                               const planner::Options& options);
  Stage joined(const on_device::Route& route, Array from, Array to, std::size_t axis) const;
  std::optional<on_device::PlaneProblem> plane_problem(Direction direction) const;
  bool pairs_serve() const;
  std::size_t complex_bytes() const { return float64_ ? 16 : 8; }

  Device device_;
  Problem problem_;
  bool float64_;
  Layout layout_;
  std::vector<Stage> forward_, inverse_;  // stages in order
  Side work_side_;
  Buffer work_, second_;
  std::vector<planner::Decision> decisions_;

  std::shared_ptr<const PanelTransform> panels_;  // host arrays that exceed the device's memory; else null

  Staging staging_;
};

}  // namespace ridge::fft
