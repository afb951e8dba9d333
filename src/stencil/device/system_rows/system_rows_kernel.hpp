// One or more steps of any 2D update in registers: a sub-group marches down a strip of rows. Every value that cells
// share (shared_values.hpp) is computed once, by the lane that owns it. Neighbours along the row get it by shuffles,
// later rows from registers, where it stays until its last use. Prefetched rows wait in local memory. Without
// sub-groups neighbours exchange through local memory, with barriers.
//
// The kernel covers the cells that no border reaches within the pass; update_frame computes the frame around them.
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
  int cells = 2;       // adjacent cells per lane: a power of two, at most 16 bytes
  int prefetch = 4;    // prefetched rows
  int lanes = 32;      // of a sub-group
  int sub_groups = 2;  // per work-group, one strip each
  int resident = 1;    // work-groups that should fit a compute unit: limits the registers
  bool shuffles = true;
  int march_rows = 0;  // rows per piece, compile-time constant, which barriers need on PoCL; 0: any
  bool quick = false;  // the device's approximate division and root, products fused with sums
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

// The cells that a launch covers.
struct SystemRowsPlan {
  int left = 0, right = 0, top = 0, bottom = 0;  // the cells to write
  int strips = 1, chunk_rows = 1;
  Launch launch{};
  std::vector<Argument> scalars{};  // after in, out and coefficients
};
SystemRowsPlan plan_rows(const SystemRowsKernel& kernel, const DeviceLayout& place, int left, int right, int top,
                         int bottom, std::size_t resident_groups);

}  // namespace ridge::stencil
