// Layers of one session on the host.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stencil/host/levels.hpp"
#include "stencil/layers/layers.hpp"

namespace ridge::stencil {

// Rows [y, y_end) of planes [z, z_end) of the grid.
struct RowBox {
  std::size_t z = 0, z_end = 0, y = 0, y_end = 0;
};

// The memory variables of one layer.
template <class T>
class HostLayerRows {
 public:
  virtual ~HostLayerRows() = default;
  // The new level and memory variables of those rows that are in the band. `newer` and `older` are the fields of the
  // two time levels.
  virtual void add(Levels<T>& levels, std::size_t newer, std::size_t older, const RowBox& box) = 0;
  virtual void swap() = 0;  // after all rows of a step
  virtual void clear() = 0;
  virtual std::vector<std::span<T>> memory() = 0;  // current values
  // Rows of the band that need shared values before a step, and their computation.
  virtual std::size_t shared_rows() const { return 0; }
  virtual void share(Levels<T>& /*levels*/, std::size_t /*older*/, std::size_t /*begin*/, std::size_t /*end*/) {}
};

// By compiled loops for CPML, if they support the layer.
template <class T>
bool has_host_cpml(const LoweredLayer<T>& layer);
template <class T>
std::unique_ptr<HostLayerRows<T>> host_cpml(const LoweredLayer<T>& layer);

}  // namespace ridge::stencil
