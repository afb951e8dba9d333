// The two methods that compute layers on a device, and the free surface, which both need.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/layers/layers.hpp"

namespace ridge::stencil {

inline Argument word(std::size_t value) { return Argument(static_cast<std::uint64_t>(value)); }
inline void copy_values(Queue& queue, const Buffer& values, const Buffer& state, std::size_t bytes, std::size_t offset,
                        bool back) {
  back ? queue.copy(state, values, bytes, offset, 0) : queue.copy(values, state, bytes, 0, offset);
}
inline Argument count(std::size_t value) { return Argument(static_cast<std::int32_t>(value)); }

// Kernel of the free surface, if the update has one.
template <class T>
std::vector<KernelSource> surface_sources(const Update<T>& update);

// Copies cells beyond the free surface with the opposite sign.
class Surface {
 public:
  Surface() = default;
  Surface(const Device& device, const std::vector<KernelSource>& sources, const Layout& layout);
  void enqueue(const DeviceGrid& grid) const;

 private:
  Layout layout_{};
  Kernel kernel_{};
};

// One launch for all layers: best where they have few cells.
template <class T>
std::shared_ptr<const Layers<T>> layers_by_cells(const Device& device, const Update<T>& update, const Layout& layout);
template <class T>
std::vector<KernelSource> cell_layer_sources(const Update<T>& update, const Layout& layout);

// One launch per axis, in which cells along the axis share what they read. `aligned`: rows of the grid start at
// multiples of four cells, so that four cells are copied at a time.
template <class T>
std::shared_ptr<const Layers<T>> layers_by_lines(const Device& device, const Update<T>& update, const Layout& layout,
                                                 bool aligned = false);
// Empty if the layers of an axis differ in width or are too wide for the registers.
template <class T>
std::vector<KernelSource> line_layer_sources(const Update<T>& update, const Layout& layout, bool aligned = false);

}  // namespace ridge::stencil
