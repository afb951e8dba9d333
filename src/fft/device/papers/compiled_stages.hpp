// A stage plan made real on a device: kernels, tables, launches.
#pragma once
#include <cstdint>
#include <vector>

#include "fft/device/papers/stage_plan.hpp"

namespace ridge::fft::papers {

class CompiledStages {
 public:
  // Error{invalid_argument} with the reason where the plan was refused.
  CompiledStages(const Device& device, const StagePlan& plan);

  // `lines` lines, one after the other, from the given elements of each array on.
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const;
  // Part 1, then the first `runs` runs of part 2: what times the parts.
  void enqueue_first(Queue& queue, const Buffer& in, const Buffer& out, std::size_t runs) const;

  const StagePlan& plan() const { return plan_; }
  std::string describe() const;

 private:
  void enqueue_reversal(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                        std::uint64_t out_offset, std::uint64_t lines) const;
  void enqueue_run(Queue& queue, std::size_t run, const Buffer& out, std::uint64_t offset, std::uint64_t lines) const;

  StagePlan plan_;
  Kernel reverse_;
  std::vector<Kernel> kernels_;  // one a run
  Buffer twiddles_, reversed_;
};

}  // namespace ridge::fft::papers
