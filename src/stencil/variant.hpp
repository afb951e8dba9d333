// Interface of stencil variants. To add one: a file with a lister, and its line in registry.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <ridge/stencil.hpp>

#include "plan/choose.hpp"
#include "plan/lister.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {

// A grid on a device: buffers of the newest level and of the next one. Fixed cells are valid in both.
struct DeviceLevels {
  Queue& queue;
  const Buffer &from, &to;
  std::size_t origin = 0, pitch = 1, field = 0;  // elements before the first cell, between rows, of a field
};

template <class T>
class Levels;

// Fields and coefficients of a running grid on a device. After single steps the two time levels are in fields `newer`
// and `older` of the buffer.
struct DeviceGrid {
  Queue& queue;
  const Buffer &fields, &coefficients;
  std::size_t origin = 0, pitch = 1, plane = 1, field = 0;  // elements
  std::size_t newer = 0, older = 1;
};

// Called during a single step with rows [y, y_end) of planes [z, z_end) as soon as their new level is stored, by the
// thread that computed them. `exchanged`: where the new level is, as by Running::host_levels() after the step.
using RowsDone =
    std::function<void(bool exchanged, std::size_t z, std::size_t z_end, std::size_t y, std::size_t y_end)>;

// A running grid, stored where the variant needs it. Used by one thread at a time; the caller has checked every grid.
template <class T>
class Running {
 public:
  virtual ~Running() = default;
  virtual void run(std::size_t steps) = 0;        // devices: enqueued
  virtual void prepare(std::size_t /*steps*/) {}  // prepares everything that run(steps) would create
  virtual double change(Norm norm) = 0;           // performs one further step and returns its change; blocks
  virtual void read(Grid<T>& grid) = 0;           // blocks; may be followed by more steps
  virtual void wait() = 0;
  // One step. The fields of two time levels may stay exchanged until settle(), so that a single step is as fast as one
  // of many; all other functions settle first. Only host variants call `done`.
  virtual void single(const RowsDone& /*done*/ = {}) { run(1); }
  virtual void settle() {}
  // Before many single steps: frees memory that only settle() and the functions that call it need; settle() takes it
  // again. False if there is none.
  virtual bool release() { return false; }
  // Makes room for `levels` time levels of an update with two, so that a single step can keep the older level: zeros
  // everywhere, the newer level in field 0. False: not available. Then aim() sets the field that the next single step
  // writes instead of the older level.
  virtual bool has_levels() { return false; }
  virtual bool open_levels(std::size_t /*levels*/) { return false; }
  virtual void aim(std::size_t /*field*/) {}
  // The levels are in fields 0 and 1 again, their values are not kept.
  virtual void reset_levels() {}
  // The time levels, for code that adds sources and reads receivers. Host variants have the first, device variants the
  // second; null otherwise.
  virtual Levels<T>* host_levels(bool& /*exchanged*/) { return nullptr; }
  virtual std::optional<DeviceGrid> device_grid() { return std::nullopt; }
  // A part of the grid (Session::get and put); blocks. Variants without them receive whole grids instead.
  virtual bool has_boxes() const { return false; }
  virtual void get(const Box& box, T* cells);
  virtual void put(const Box& box, const T* cells);
  // Session::add and keep, enqueued; false: not available, get() and put() are used.
  virtual bool add(const std::array<std::size_t, 3>& /*cell*/, std::size_t /*field*/, T /*value*/) { return false; }
  virtual bool keep(const Box& /*box*/) { return false; }
  virtual void kept(std::vector<T>& /*cells*/) {}  // appends them; blocks
  // Devices: `work` enqueues the computation of the changing cells of `to`, which becomes the newest level. False: not
  // available.
  virtual bool replace(const std::function<void(const DeviceLevels&)>& /*work*/) { return false; }
};

// Throw: this variant has no boxes, or no buffers.
[[noreturn]] void no_boxes();
[[noreturn]] void no_buffers();
template <class T>
void Running<T>::get(const Box&, T*) {
  no_boxes();
}
template <class T>
void Running<T>::put(const Box&, const T*) {
  no_boxes();
}

// A variant built for one layout on one device: compiled and immutable. Host variants derive from HostVariant
// (host/host_variant.hpp), which provides start() and only needs the steps.
template <class T>
class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::unique_ptr<Running<T>> start(const Grid<T>& grid, const Grid<T>* coefficients) const = 0;
  // True if start() and Running::read() accept strided grids; else they receive packed copies.
  virtual bool takes_strides() const { return false; }
  // Packed fields in checked device buffers; only for device variants.
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
                       std::size_t steps) const;
  virtual std::size_t depth() const { return 1; }  // preferred number of steps per call; any number works
};

template <class T>
void Variant<T>::enqueue(Queue&, const Buffer&, const Buffer&, const Buffer&, std::size_t) const {
  no_buffers();
}

// A variant built for a part of the grid, timed instead of the whole, and the factor for its seconds per step. Large
// grids take seconds per sweep; a part that exceeds the caches too is representative.
template <class T>
struct Sample {
  std::shared_ptr<const Variant<T>> variant;
  double scale = 1;
};

// Costs are per step (step_cost() below); the work of a block of `depth` steps is divided by it.
template <class T>
struct Entry : planner::Entry<Variant<T>> {
  bool exact = true;  // equals reference<T>() bit for bit; else within rounding (another order of the sum)
  std::function<Sample<T>(const Layout& part)> sample{};  // empty: the whole grid is timed
};

// Value of the parameter "depth", the variant's depth(); 1 if it has none.
std::size_t depth_of(const planner::Candidate& candidate);

// Appends the variant with each set of parameters worth trying, refusals included.
template <class T>
using Lister = planner::Lister<Entry<T>, Update<T>, Layout>;

// Defined in a variant's file and named in registry.cpp: one lister per cell type that the variant supports.
using Listers = planner::Listers<Lister, float, double, std::int32_t, std::uint8_t>;

// Useful flops of a step, and the traffic of `accesses` passes over all cells (2: read once, written once; 3: with
// write-allocate; 2 / depth with temporal blocking). `efficiency` is the expected share of that roof.
template <class T>
planner::Cost step_cost(const Update<T>& update, const Layout& layout, double accesses, double efficiency,
                        double redundancy = 1);

// All variants for the device, in the registry's order.
template <class T>
std::vector<Entry<T>> list_variants(const Device& device, const Update<T>& update, const Layout& layout);

// The norm of new - old over all fields, as Norm defines it; NaN anywhere gives NaN.
template <class T>
double change_between(const Grid<T>& before, const Grid<T>& after, Norm norm);

}  // namespace ridge::stencil
