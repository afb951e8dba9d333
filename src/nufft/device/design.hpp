// Parameters of a nonuniform transform on a device, and the kernels for them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <ridge/device.hpp>

#include "nufft/kernel.hpp"
#include "nufft/layout.hpp"

namespace ridge::nufft {

enum class Spreading {
  matrix,  // sorted by tile; eight points at once are products on the matrix units
  window,  // sorted by tile; a work-item keeps a window of its column in registers
  atomic,  // each point's box is added to the grid by atomic additions
};

struct DeviceDesign {
  Spreading spreading = Spreading::window;
  std::size_t axes = 1, width = 0;
  double upsampling = 2;
  bool float64 = false, real = false;
  bool turns = false;  // coordinates are integers, 2^32 per period (float only)
  std::array<std::size_t, 3> cells{1, 1, 1};
  bool parts = false;        // includes the kernels of sort_parts.cl
  std::size_t products = 3;  // matrix of floats: 3 for float's precision, 1 for that of TF32

  static constexpr std::size_t kFewestByParts = std::size_t{1} << 18;           // least number for sort_parts.cl
  static constexpr std::size_t kPartsLocalBytes = 94 * 1024, kPartItems = 512;  // of sort_parts.cl
  std::size_t grid_cells() const { return cells[0] * cells[1] * cells[2]; }
  // Columns of a tile along the fastest axis and lines along the next one, borders included.
  std::size_t columns() const { return axes == 1 ? 1 : axes == 3 || spreading == Spreading::matrix ? 16 : 32; }
  std::size_t lines() const { return axes == 3 ? 16 : 1; }
  std::size_t step() const {  // first cells of a tile per axis
    const std::size_t most = axes == 1 ? 1 : columns() + 1 - width;
    return spreading == Spreading::matrix && !float64 ? most / 2 * 2 : most;
  }
  bool bins() const { return axes == 2 && spreading == Spreading::matrix; }  // tiles of both axes, no window
  std::size_t batch() const { return axes == 3 ? 64 : 32; }                  // points whose weights are in local memory
  std::size_t lanes() const { return width <= 4 ? 4 : width <= 8 ? 8 : 16; }
  std::size_t tiles_across() const;
  std::size_t tiles() const;
  std::size_t keys_per_tile() const;  // cells along the window's axis
  std::size_t local_bytes() const;    // of spread_window
  std::size_t spread_items() const {
    return axes < 3 ? 32 : float64 && !real ? 128 : 64;
  }  // of the kernels in matrix.cl
  std::size_t read_items() const { return axes < 3 ? 32 : float64 ? 64 : 128; }
};

// One product of TF32 numbers if its error is below epsilon, else the three of split numbers.
inline std::size_t products_for(double epsilon, std::size_t width, double upsampling, std::size_t axes) {
  return width > 0 && rounded_products_error(width, upsampling, axes) <= epsilon ? 1 : 3;
}

// The design with the spreading of least predicted time on this device; throws the last refusal if there is none.
DeviceDesign fastest_spreading(const Device& device, const Layout& layout, DeviceDesign design);

KernelSource nonuniform_source(const DeviceDesign& design);

}  // namespace ridge::nufft
