// Several steps of a linear 2D stencil in one pass, in registers: a sub-group marches down a strip of rows. Every row
// that arrives is added to the sums it belongs to (scatter form); a sum that is complete is the row that arrives at the
// next step. Neighbours along the row come by shuffles, so there is no barrier and no local memory; without sub-groups
// they come through local memory. Sums are built in another order than the reference's, so results differ in the last
// digits.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/stencil.hpp>

#include "stencil/device/layout.hpp"
#include "stencil/device/weights.hpp"

namespace ridge::stencil {

struct StripOptions {
  int depth = 8;            // steps a pass
  int cells = 8;            // side by side, a lane
  int prefetch = 4;         // rows read ahead
  int border_prefetch = 2;  // the same near borders
  int lanes = 32;           // of a sub-group
  int sub_groups = 2;       // in a work-group, a strip each
  int resident = 1;         // work-groups that should fit a compute unit at once: bounds the registers
  bool shuffles = true;     // false: neighbours through local memory, one sub-group a work-group
  int chunk_rows = 0;       // fixed when compiled, which local memory needs on PoCL; 0: chosen at the launch
};

struct StripKernel {
  Weights weights;
  Borders borders;
  std::string real;     // "float" or "double"
  bool aligned = true;  // rows are a multiple of the vector long, so that the right-most strip may use vectors too
  StripOptions options;

  int reach_x() const { return options.depth * weights.radius[2]; }
  int reach_y() const { return options.depth * weights.radius[1]; }
  int halo() const;    // cells at both ends of a strip that are read and not written: whole lanes
  int useful() const;  // cells of a row that a strip writes
  int strips(std::size_t width) const;
  Scaling scaling() const;
  std::string refusal(const DeviceLayout& layout) const;  // a limit of the method that the grid breaks, in words
  KernelSource source() const;
  Launch launch(const DeviceLayout& layout, int chunk_rows) const;
  std::vector<Argument> scalars(const DeviceLayout& layout, int chunk_rows) const;  // after in and out
};

// Rows a chunk so that chunks fill the device in whole waves: `resident` work-groups run at once.
int chunk_rows_for(const StripKernel& kernel, const DeviceLayout& layout, std::size_t resident, int waves);

}  // namespace ridge::stencil
