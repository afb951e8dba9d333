// SimpleFlow on the host: every stage over rows by the pool of threads, the two heavy ones by SIMD kernels. The answer
// does not depend on the number of threads.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "image/flow/host/workspace.hpp"

namespace ridge::image::flow {

class HostFlow {
 public:
  HostFlow(const FlowProblem& problem, const Kernels& kernels, std::size_t threads);
  void run(const Image& first, const Image& second, Image& out) const;  // sizes as the problem says

 private:
  class Run;
  std::unique_ptr<Workspace> make() const;

  FlowProblem problem_;
  const Kernels& kernels_;
  std::size_t threads_;
  Bands bands_[2];  // between levels, and at the end
  std::vector<std::vector<Tap>> down_, across_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> free_;
};

// Every SIMD version this build and this machine have, the best first.
std::vector<const Kernels*> host_kernels();

}  // namespace ridge::image::flow
