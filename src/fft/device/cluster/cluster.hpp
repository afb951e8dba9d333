// A line of columns.length * rows.length points in one trip through memory: the groups of a cluster hold it together.
#pragma once
#include <cstddef>
#include <memory>

#include "fft/device/pass/codegen.hpp"
#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

// A line of columns.length * rows.length points in one trip through memory: the columns' values go to the group that
// has their row through the local memory of a cluster.
struct ClusterDesign {
  PassDesign columns, rows;  // columns.ahead, rows.ahead: clusters stay, and the next line lands meanwhile
  std::size_t groups = 2;    // a cluster
  std::size_t side = 1;      // lines side by side, where they are columns of an array
  bool real = false;         // columns of pairs of samples, and what is stored is the spectrum of the samples
  bool landing = false;      // exchanges take the memory where rows are received: more groups fit a compute unit
  bool counted = false;      // landing only: a group waits until its bytes are there, and not for the other groups
};

// The columns and the rows of one long line, shared by the groups of a cluster that write into each other's local
// memory (CUDA, Hopper and later). Arguments as a pass has them.
PassText cluster_text(const ClusterDesign& design);

// Bytes of local memory that the kernel takes, without writing it.
std::size_t local_bytes_of(const ClusterDesign& design);

std::shared_ptr<const StepDesign> cluster_step(const ClusterDesign& design);

}  // namespace ridge::fft::on_device
