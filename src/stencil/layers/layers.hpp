// Absorbing layers and free surfaces at run time: when a step of the grid is done, or of some of its rows, the layers
// update their memory variables and add their terms to the new level. They need updates of two time levels (see
// Running::single()).
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "stencil/variant.hpp"

namespace ridge::stencil {

// Position of a layer in the grid. The band consists of its cells and of `radius` further ones, which its terms read.
// The stored block has `radius` more on both sides, in which memory variables are zero. Where all profiles are zero,
// nothing uses the new memory variables, which may then be left as they are.
struct LayerPlace {
  std::size_t axis = 2, radius = 0, cells = 0;
  std::array<std::size_t, 3> begin{}, extent{};  // of the band, in the grid
  std::array<std::size_t, 3> stored{};           // extent of the block, which begins `radius` cells before the band
  std::size_t values() const { return stored[0] * stored[1] * stored[2]; }
};

// A layer as updates that the stencil variants can run. `first` computes values that neighbours share: outputs are its
// fields; coefficients are the profiles, the level before the step, the scale and the memory variables. `main` has
// field 0, the new level, then the memory variables; fields after them keep their values: the level before the step and
// the shared values. Its coefficients are the profiles and the scale, with the same numbers.
template <class T>
struct LoweredLayer {
  LayerPlace place{};
  std::size_t profiles = 0, memories = 0, shared = 0, scale = 0;
  std::vector<std::vector<T>> values{};  // of the profiles, along the stored block; zero outside the band
  Update<T> first{}, main{};             // `first` is used if there are shared values
  LayerUpdate::Differences differences{};
  std::size_t previous() const { return profiles; }
  std::size_t scaling() const { return profiles + 1; }
  std::size_t others() const { return profiles + 2; }
  std::size_t previous_field() const { return memories + 1; }  // of `main`; shared values follow
};

// Error{invalid_argument} if the layers do not fit the grid or a side is not fixed.
template <class T>
std::vector<LoweredLayer<T>> lower_layers(const Update<T>& update, const Layout& layout);

// Memory variables of one session.
template <class T>
class LayerState {
 public:
  virtual ~LayerState() = default;
  // One step: cells beyond a free surface, the step of the grid, the layers' terms.
  virtual void step(Running<T>& running) = 0;
  virtual void clear() = 0;
  virtual std::size_t values() const = 0;                           // memory variables
  virtual std::size_t held_values() const { return 2 * values(); }  // in memory, old copies included
  virtual void save(T* values) = 0;                                 // returns when they are copied
  virtual void restore(const T* values) = 0;
  // Enqueues a copy of the memory variables to a buffer, or back; implemented by layers on devices only.
  virtual void copy_state(Queue& /*queue*/, const Buffer& /*state*/, std::size_t /*offset*/, bool /*back*/) {}
};

// Compiled once per plan.
template <class T>
class Layers {
 public:
  virtual ~Layers() = default;
  virtual std::unique_ptr<LayerState<T>> start() const = 0;
  virtual std::vector<KernelSource> kernels() const { return {}; }
};

// The axis whose low side a free surface is: the first one along which the update reads.
inline std::size_t surface_axis(const Layout& layout) {
  return layout.radius[0] > 0 ? 0 : layout.radius[1] > 0 ? 1 : 2;
}

// Null if the update has neither layers nor a free surface. `aligned`: in the variant, rows of the grid start at
// multiples of four cells.
template <class T>
std::shared_ptr<const Layers<T>> make_layers(const Device& device, const Update<T>& update, const Layout& layout,
                                             bool aligned = false);
template <class T>
std::shared_ptr<const Layers<T>> host_layers(const Update<T>& update, const Layout& layout);
template <class T>
std::shared_ptr<const Layers<T>> device_layers(const Device& device, const Update<T>& update, const Layout& layout,
                                               bool aligned);

}  // namespace ridge::stencil
