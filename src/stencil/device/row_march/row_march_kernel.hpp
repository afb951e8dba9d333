// Several steps of a linear 2D stencil in one pass, in registers: a sub-group marches down a strip of rows. Every
// arriving row is added to the sums it belongs to (scatter form); a complete sum is the arriving row of the next step.
// Neighbours along the row are exchanged by shuffles, so there is no barrier; prefetched rows wait in local memory,
// written by asynchronous copies. Without sub-groups neighbours go through local memory too. The order of the sums
// differs from the reference, so results differ in the last digits. A pass is two kernels: the interior, which no
// border reaches within the pass, and the frame around it.
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
  int depth = 8;         // steps per pass
  int cells = 8;         // adjacent cells per lane
  int prefetch = 4;      // prefetched rows
  bool ring = true;      // prefetched rows wait in local memory; else in registers
  int lanes = 32;        // of a sub-group
  int sub_groups = 2;    // per work-group, one strip each
  int resident = 1;      // work-groups that should fit a compute unit: limits the registers
  bool shuffles = true;  // false: neighbours through local memory, one sub-group per work-group
  int march_rows = 0;    // compile-time constant, which barriers need on PoCL: most rows of a piece; 0: any
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

// Division of a grid into the interior and the frame, and of both into pieces.
struct RowMarchPass {
  RowMarchKernel interior, frame;  // with the same depth
  int interior_rows = 256;         // rows per piece
  int frame_rows = 48;

  std::string refusal(const DeviceLayout& layout) const;  // limit of the method that the grid violates
  bool has_interior(const DeviceLayout& layout) const;    // else the frame covers everything
  int left() const { return interior.halo(); }            // start of the interior along a row
  int right(const DeviceLayout& layout) const;            // its end
  int interior_strips(const DeviceLayout& layout) const;
  Launch interior_launch(const DeviceLayout& layout) const;
  Launch frame_launch(const DeviceLayout& layout) const;
  std::vector<Argument> interior_scalars(const DeviceLayout& layout) const;  // after in and out
  std::vector<Argument> frame_scalars(const DeviceLayout& layout) const;
  // One launch of both: a small grid waits for the slower of them only. Needs sub-groups.
  KernelSource joined_source() const;
  Launch joined_launch(const DeviceLayout& layout) const;
  std::vector<Argument> joined_scalars(const DeviceLayout& layout) const;
  // Interior pieces that fill the device in whole waves of `resident` concurrent work-groups.
  void fill_waves(const DeviceLayout& layout, std::size_t resident, int waves);
  // Pieces of both for a joined launch: minimizes the longest march times the number of waves.
  void fill_joined(const DeviceLayout& layout, std::size_t resident);
};

std::string row_march_text(const RowMarchKernel& kernel);
// The kernel that calls both as functions, which precede it.
std::string joined_text(const RowMarchKernel& interior, const RowMarchKernel& frame);
// True if fixed rows are restored at each step. The kernel then needs the scale of the field after each step.
bool restores_rows(const RowMarchKernel& kernel);

}  // namespace ridge::stencil
