// Interface of a variant of the nonuniform transform. To add one, write a file with a lister and add its line to
// registry.cpp.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include <ridge/device.hpp>

#include "nufft/layout.hpp"
#include "plan/choose.hpp"
#include "plan/lister.hpp"

namespace ridge::nufft {

// Points in the order and form that a variant needs. Immutable.
class PointSet {
 public:
  explicit PointSet(std::size_t count) : count_(count) {}
  virtual ~PointSet() = default;
  std::size_t count() const { return count_; }

 private:
  std::size_t count_;
};

// Coordinates of `count` points; one array per axis of the problem.
template <class T>
struct Coordinates {
  std::array<const T*, 3> axis{};
  std::size_t count = 0;
};

// A variant built for one layout on one device. Callers have checked sizes and overlap. If Layout::real is set, the
// pointers to strengths and values are those of arrays of reals.
template <class T>
class Variant {
 public:
  virtual ~Variant() = default;
  // Error{invalid_argument} for coordinates that are not finite or too far from 0.
  virtual std::shared_ptr<const PointSet> sort(const Coordinates<T>& points) const = 0;
  // The same for coordinates in buffers of the device, one per axis. On the host the buffers are host memory.
  virtual std::shared_ptr<const PointSet> sort(Queue& queue, const std::array<Buffer, 3>& axis,
                                               std::size_t count) const {
    static_cast<void>(queue);
    Coordinates<T> points{.axis = {}, .count = count};
    for (std::size_t i = 0; i < 3; ++i) {
      if (axis[i]) points.axis[i] = reinterpret_cast<const T*>(axis[i].native());
    }
    return sort(points);
  }
  // Runs one direction on buffers of the device. The host's queue runs synchronously.
  virtual void enqueue(Queue& queue, const PointSet& points, Type type, int sign, const Buffer& in,
                       const Buffer& out) const {
    static_cast<void>(queue);
    const auto* from = reinterpret_cast<const std::complex<T>*>(in.native());
    auto* to = reinterpret_cast<std::complex<T>*>(out.native());
    type == Type::to_modes ? to_modes(points, sign, from, to) : to_points(points, sign, from, to);
  }
  // slopes() on buffers; the derivatives follow the values of the whole batch.
  virtual void enqueue_slopes(Queue& queue, const PointSet& points, int sign, const Buffer& modes,
                              const Buffer& values) const = 0;
  // The whole batch. `points` was returned by sort() of the same variant.
  virtual void to_modes(const PointSet& points, int sign, const std::complex<T>* strengths,
                        std::complex<T>* modes) const = 0;
  virtual void to_points(const PointSet& points, int sign, const std::complex<T>* modes,
                         std::complex<T>* values) const = 0;
  // As to_points(), and the derivatives of the values by each coordinate (axes x batch x points).
  virtual void slopes(const PointSet& points, int sign, const std::complex<T>* modes, std::complex<T>* values,
                      std::complex<T>* slopes) const = 0;
  virtual std::vector<planner::Decision> decisions() const { return {}; }  // of the plans it is made of
};

template <class T>
using Entry = planner::Entry<Variant<T>>;

// Appends the variant with each set of parameters to try, including refused ones. `options` are those of the plan, for
// the plans a variant is made of.
template <class T>
using Lister = planner::Lister<Entry<T>, Layout, planner::Options>;

// Every variant for the device, in the registry's order.
template <class T>
std::vector<Entry<T>> list_variants(const Device& device, const Layout& layout, const planner::Options& options);

// Chooses and builds a variant.
template <class T>
planner::Chosen<Variant<T>> choose_variant(const Device& device, const Layout& layout,
                                           const std::vector<Entry<T>>& entries, const planner::Options& options);

}  // namespace ridge::nufft
