// SimpleFlow on the host: every stage is divided by rows over the thread pool, and the two most expensive ones use SIMD
// kernels. The result does not depend on the number of threads.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "image/flow/host/kernels.hpp"
#include "image/flow/host/workspace.hpp"

namespace ridge::image::flow {

class HostFlow {
 public:
  HostFlow(const FlowProblem& problem, const Kernels& kernels, std::size_t threads);
  void run(const Image& first, const Image& second, Image& out) const;  // sizes must match the problem

 private:
  class Run;
  std::unique_ptr<Workspace> make() const;

  FlowProblem problem_;
  const Kernels& kernels_;
  std::size_t threads_;
  Bands bands_[2];  // of the filter between levels, and of the last one
  std::vector<std::vector<Tap>> down_, across_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> free_;
};

// All SIMD versions that this build and this machine support, the fastest first.
std::vector<const Kernels*> host_kernels();

// Plain search of the flow for any radius and reach.
// As Kernels::search, with borders of radius + reach.
void search_general(const SearchJob& job, int radius, int reach, int begin, int end);

}  // namespace ridge::image::flow
