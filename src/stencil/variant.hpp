// What a variant of the stencil brings. Adding one: a file with a lister, and its line in registry.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include <ridge/stencil.hpp>

#include "plan/choose.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {

// A grid on a device: where its newest level lies and where the next one goes. Fixed cells are right in both.
struct DeviceLevels {
  Queue& queue;
  const Buffer &from, &to;
  std::size_t origin = 0, pitch = 1, field = 0;  // elements before the first cell, between rows, of a field
};

// A grid on its way, where the variant keeps it. Used by one thread at a time; the caller has checked every grid.
template <class T>
class Running {
 public:
  virtual ~Running() = default;
  virtual void run(std::size_t steps) = 0;        // devices: enqueued
  virtual void prepare(std::size_t /*steps*/) {}  // whatever run(steps) would make first
  virtual double change(Norm norm) = 0;           // of one further step, which is taken; waits
  virtual void read(Grid<T>& grid) = 0;           // waits; may be followed by more steps
  virtual void wait() = 0;
  // Part of the grid (Session::get and put); waits. A variant without them is given whole grids instead.
  virtual bool has_boxes() const { return false; }
  virtual void get(const Box& box, T* cells);
  virtual void put(const Box& box, const T* cells);
  // Session::add and keep, enqueued; false: none here, get() and put() are used.
  virtual bool add(const std::array<std::size_t, 3>& /*cell*/, std::size_t /*field*/, T /*value*/) { return false; }
  virtual bool keep(const Box& /*box*/) { return false; }
  virtual void kept(std::vector<T>& /*cells*/) {}  // appends them; waits
  // Devices: `work` enqueues what makes the cells of `to` that change, which are the newest then. False: none here.
  virtual bool replace(const std::function<void(const DeviceLevels&)>& /*work*/) { return false; }
};

// Where a variant has none of its own.
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

// A variant built for one layout on one device: compiled, ready, unchanging. Host variants derive from HostVariant
// (host/host_variant.hpp), which brings start() and asks only for the steps.
template <class T>
class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::unique_ptr<Running<T>> start(const Grid<T>& grid, const Grid<T>* coefficients) const = 0;
  // Whether start() and its Running::read() take grids that are not packed; else they are given packed copies.
  virtual bool takes_strides() const { return false; }
  // Packed fields in checked buffers of the device; only for variants on one.
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
                       std::size_t steps) const;
  virtual std::size_t depth() const { return 1; }  // steps it likes to take at once; any number works
};

template <class T>
void Variant<T>::enqueue(Queue&, const Buffer&, const Buffer&, const Buffer&, std::size_t) const {
  no_buffers();
}

// A variant built for a part of the grid, to be timed in its place, and what its seconds of a step are to be multiplied
// with. Large grids take seconds to go through once; a part that is as little in the caches tells as much.
template <class T>
struct Sample {
  std::shared_ptr<const Variant<T>> variant;
  double scale = 1;
};

// Costs are those of one step (step_cost() below); what the variant does in a block of `depth` steps is divided by it.
template <class T>
struct Entry : planner::Entry<Variant<T>> {
  bool exact = true;  // equals reference<T>() bit for bit; else within rounding (another order of the sum)
  std::function<Sample<T>(const Layout& part)> sample{};  // none: the whole is timed
};

// Its parameter "depth": what the variant's depth() will be. 1 where it has none.
std::size_t depth_of(const planner::Candidate& candidate);

// Appends the variant with each set of parameters worth trying, refusals included.
template <class T>
using Lister = void(const Device& device, const Update<T>& update, const Layout& layout,
                    std::vector<Entry<T>>& entries);

// A variant's file defines one and registry.cpp names it: the lister of each type of cells, none where the variant is
// not for them.
struct Listers {
  Lister<float>* for_float = nullptr;
  Lister<double>* for_double = nullptr;
  Lister<std::int32_t>* for_int32 = nullptr;
  Lister<std::uint8_t>* for_uint8 = nullptr;

  template <class T>
  Lister<T>* get() const {
    if constexpr (std::is_same_v<T, float>) return for_float;
    if constexpr (std::is_same_v<T, double>) return for_double;
    if constexpr (std::is_same_v<T, std::int32_t>) return for_int32;
    if constexpr (std::is_same_v<T, std::uint8_t>) return for_uint8;
  }
};

// Useful flops of a step, and the traffic of `accesses` passes over all cells (2: read once, written once; 3: with
// write-allocate; 2 / depth with temporal blocking). `efficiency` is what the author expects of that roof.
template <class T>
planner::Cost step_cost(const Update<T>& update, const Layout& layout, double accesses, double efficiency,
                        double redundancy = 1);

// Every variant for the device, in the registry's order.
template <class T>
std::vector<Entry<T>> list_variants(const Device& device, const Update<T>& update, const Layout& layout);

// The norm of new - old over all fields, as Norm defines it; NaN anywhere gives NaN.
template <class T>
double change_between(const Grid<T>& before, const Grid<T>& after, Norm norm);

}  // namespace ridge::stencil
