// Design of the cluster route: one long transform in a single pass over memory, held by the work-groups of a cluster.
#pragma once
#include <cstddef>
#include <memory>

#include "fft/device/pass/text/codegen.hpp"
#include "fft/device/pass/text/writers.hpp"
#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

// A transform of columns.length * rows.length points. The column results are exchanged through the local memory of the
// cluster: each goes to the group that holds its row.
struct ClusterDesign {
  PassDesign columns, rows;
  std::size_t groups = 2;     // per cluster
  std::size_t side = 1;       // adjacent lines per cluster, if they are columns of an array
  bool real = false;          // columns of sample pairs; stores the spectrum of the samples
  bool reuse_buffer = false;  // exchanges reuse the memory that receives rows: more groups fit a compute unit
  bool counted = false;       // with reuse_buffer only: a group waits for its own bytes, not for all other groups
};

// Kernel text of the cluster route: groups write into each other's local memory (CUDA, Hopper and later). Same
// arguments as a pass.
PassText cluster_text(const ClusterDesign& design);

// Local memory of the kernel in bytes, without generating its text.
std::size_t local_bytes_of(const ClusterDesign& design);

std::shared_ptr<const StepDesign> cluster_step(const ClusterDesign& design);

// The two phases of a cluster kernel: columns, then rows.

// Loads the rows that the column phase stored in local memory, and transforms them in registers.
void load_received_rows(PassWriters& pass, std::size_t pitch, std::size_t side = 1);

// Real lines: after columns of sample pairs, the row phase stores the spectrum of the samples. A group holds rows and
// their mirrors (real_codegen.cpp).
void send_to_row_or_mirror(PassWriters& pass, std::size_t lines, std::size_t pitch, std::size_t slot);
// `reuse_buffer`: exchanges use the memory in which the rows were received.
void write_real_rows(PassWriters& pass, std::size_t pitch, std::size_t groups, bool reuse_buffer);

}  // namespace ridge::fft::on_device
