// Kernels in gather form, which compute cells from their neighbours in memory, for any update.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/layout.hpp"

namespace ridge::stencil {

// Parameters of every gather kernel, and a function that computes one cell anywhere in the grid.
inline constexpr const char* kSizeParameters =
    "int width, int height, int planes, ulong pitch, ulong origin, ulong field";
std::string coefficient_parameter(const Layout& layout);
// Reason why the grid has too many work-groups or cells along an axis; empty if it does not.
std::string grid_refusal(const Launch& launch, const DeviceLayout& place);
std::string update_cell_text(const CellText& text, const std::string& load);

struct GatherOptions {
  Extent items{16, 16, 1};  // of a work-group
  int wide = 1;             // cells of a row per work-item, read as a vector
  int tall = 1;             // rows per work-item
  bool cached = false;      // reads use the read-only path
  bool padded = false;      // rows start at multiples of 128 bytes
};

// One step. `make(place)` returns the launch.
struct GatherKernel {
  CellText text;
  DeviceLayout place;
  GatherOptions options;

  std::string refusal(const Limits& limits) const;
  KernelSource source() const;
  Launch launch() const;
  std::vector<Argument> scalars() const;  // after in, out and coefficients
};

// Several steps of a tile in local memory, with a halo that shrinks by the radius per step.
struct TileOptions {
  std::size_t depth = 2;
  std::array<std::size_t, 3> tile{1, 16, 32};  // z, y, x: cells that a work-group finishes
  std::size_t items = 256;
};

struct TileKernel {
  CellText text;
  DeviceLayout place;
  TileOptions options;

  std::size_t local_bytes() const;
  std::string refusal(const Limits& limits) const;
  KernelSource source() const;
  Launch launch() const;
  std::vector<Argument> scalars() const;
};

}  // namespace ridge::stencil
