// Several steps of a linear 2D stencil in one pass, in registers: a sub-group marches down a strip of rows. Every row
// that arrives is added to the sums it belongs to (scatter form); a sum that is complete is the row that arrives at the
// next step. Neighbours along the row come by shuffles, so there is no barrier; rows ahead wait in local memory, put
// there by copies that pass the registers by. Without sub-groups neighbours come through local memory too. Sums are
// built in another order than the reference's, so results differ in the last digits.
//
// A pass is two kernels: the interior, which no border reaches within the pass, and the frame around it.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/stencil.hpp>

#include "stencil/device/layout.hpp"
#include "stencil/device/weights.hpp"

namespace ridge::stencil {

struct RowMarchOptions {
  int depth = 8;         // steps a pass
  int cells = 8;         // side by side, a lane
  int prefetch = 4;      // rows read ahead
  bool ring = true;      // rows ahead wait in local memory; else in registers
  int lanes = 32;        // of a sub-group
  int sub_groups = 2;    // in a work-group, a strip each
  int resident = 1;      // work-groups that should fit a compute unit at once: bounds the registers
  bool shuffles = true;  // false: neighbours through local memory, one sub-group a work-group
  int march_rows = 0;    // fixed when compiled, which barriers need on PoCL: rows of a piece at most; 0: any
};

struct RowMarchKernel {
  Weights weights;
  Borders borders;      // of the two axes, y and x
  std::string real;     // "float" or "double"
  bool aligned = true;  // rows are whole vectors long, so that the frame may use vectors too
  bool frame = false;   // else the interior
  bool part = false;    // a function of a joined kernel
  RowMarchOptions options;

  int reach_x() const { return options.depth * weights.radius[2]; }
  int reach_y() const { return options.depth * weights.radius[1]; }
  int halo() const;    // cells at both ends of a strip that are read and not written: whole lanes
  int useful() const;  // cells of a row that a strip writes
  Scaling scaling() const;
  std::string name() const { return frame ? "strip_frame" : "strip_interior"; }
  std::string refusal() const;  // of parameters that do not go together
  KernelSource source() const;
  std::vector<std::pair<std::string, std::string>> defines() const;
};

// How a pass covers a grid: where the interior lies, and how both kernels are cut into pieces.
struct RowMarchPass {
  RowMarchKernel interior, frame;  // of the same depth
  int interior_rows = 256;         // of a piece
  int frame_rows = 48;

  std::string refusal(const DeviceLayout& layout) const;  // a limit of the method that the grid breaks, in words
  bool has_interior(const DeviceLayout& layout) const;    // else the frame covers everything
  int left() const { return interior.halo(); }            // where the interior starts along a row
  int right(const DeviceLayout& layout) const;            // where it ends
  int interior_strips(const DeviceLayout& layout) const;
  Launch interior_launch(const DeviceLayout& layout) const;
  Launch frame_launch(const DeviceLayout& layout) const;
  std::vector<Argument> interior_scalars(const DeviceLayout& layout) const;  // after in and out
  std::vector<Argument> frame_scalars(const DeviceLayout& layout) const;
  // One launch of both: a small grid waits for the slower of them, not for one after the other. Sub-groups only.
  KernelSource joined_source() const;
  Launch joined_launch(const DeviceLayout& layout) const;
  std::vector<Argument> joined_scalars(const DeviceLayout& layout) const;
  // Interior pieces that fill the device in whole waves: `resident` work-groups run at once.
  void fill_waves(const DeviceLayout& layout, std::size_t resident, int waves);
  // Pieces of both for a joined launch: the longest march times the number of waves is least.
  void fill_joined(const DeviceLayout& layout, std::size_t resident);
};

}  // namespace ridge::stencil
