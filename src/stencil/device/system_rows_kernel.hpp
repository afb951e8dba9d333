// One or more steps of any 2D update in registers: a sub-group marches down a strip of rows. Every value that cells
// share (shared_values.hpp) is computed once, by the lane it belongs to; neighbours along the row get it by shuffles,
// rows farther on find it in registers, where it stays as long as anybody wants it. Rows ahead wait in local memory.
// Without sub-groups neighbours exchange through local memory, with barriers.
//
// The kernel covers the cells that no border reaches within the pass; the frame around them is update_frame's.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/layout.hpp"
#include "stencil/device/shared_values.hpp"

namespace ridge::stencil {

struct SystemRowsOptions {
  int depth = 1;
  int cells = 2;       // side by side, a lane: a power of two, 16 bytes at most
  int prefetch = 4;    // rows read ahead
  int lanes = 32;      // of a sub-group
  int sub_groups = 2;  // in a work-group, a strip each
  int resident = 1;    // work-groups that should fit a compute unit at once: bounds the registers
  bool shuffles = true;
  int march_rows = 0;  // rows of a piece, fixed when compiled, which barriers need on PoCL; 0: any
  bool quick = false;  // the device's own quick division and root, products fused with sums
};

struct SystemRowsKernel {
  SharedValues values;
  std::string real;  // "float" or "double"
  std::size_t fields = 1, coefficients = 0;
  SystemRowsOptions options;

  int halo() const;  // cells at both ends of a strip that are read and not written: whole lanes
  int useful() const { return options.lanes * options.cells - 2 * halo(); }
  std::size_t inputs() const;  // fields and coefficients that are read
  std::size_t local_bytes() const;
  std::string refusal(const Limits& limits) const;
  KernelSource source() const;
};

// What a launch of it covers.
struct SystemRowsPlan {
  int left = 0, right = 0, top = 0, bottom = 0;  // the cells to write
  int strips = 1, chunk_rows = 1;
  Launch launch{};
  std::vector<Argument> scalars{};  // after in, out and coefficients
};
SystemRowsPlan plan_rows(const SystemRowsKernel& kernel, const DeviceLayout& place, int left, int right, int top,
                         int bottom, std::size_t resident_groups);

}  // namespace ridge::stencil
