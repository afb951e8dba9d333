// Running grids of device variants whose packed cells are written and read on the device.
#pragma once
#include <functional>
#include <memory>

#include <ridge/device.hpp>

#include "stencil/variant.hpp"

namespace ridge::stencil {

// Work on packed cells of all fields, enqueued.
using PackedCells = std::function<void(Queue& queue, const Buffer& packed)>;

template <class T>
class PackedRunning : public Running<T> {
 public:
  virtual void fill(const PackedCells& make) = 0;  // `make` writes new cells
  virtual void view(const PackedCells& use) = 0;   // `use` reads the newest cells
};

// Every variant of a device derives from this.
template <class T>
class PackedVariant : public Variant<T> {
 public:
  // `coefficients` is empty if there are none.
  virtual std::unique_ptr<PackedRunning<T>> start_packed(const PackedCells& cells,
                                                         const PackedCells& coefficients) const = 0;
};

}  // namespace ridge::stencil
