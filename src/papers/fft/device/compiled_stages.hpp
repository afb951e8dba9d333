// A stage plan compiled for a device: kernels, tables, launches.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fft/device/step.hpp"
#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

// Kernels and tables shared by the variants of one device, compiled and uploaded once. Belongs to one thread.
class SharedKernels {
 public:
  explicit SharedKernels(const Device& device) : device_(device) {}
  Kernel kernel(const KernelSource& source, const std::string& name);
  Buffer twiddles(int log_n, Direction direction);  // W^k, k < N/2, rounded once; conjugated for the inverse
  Buffer reversed(int log_n);                       // bit-reversed value of every index
  Buffer unused();                                  // for an unused argument

 private:
  Device device_;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, Buffer> tables_;
};

class CompiledStages final : public on_device::CompiledStep {
 public:
  // Throws Error{invalid_argument} with the reason if the plan was refused.
  CompiledStages(SharedKernels& shared, const StagePlan& plan);
  CompiledStages(const Device& device, const StagePlan& plan);

  // Transforms `lines` consecutive lines, from the given element offset of each array.
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const override;
  // Enqueues part 1, then the first `runs` runs of part 2, to time the parts.
  void enqueue_first(Queue& queue, const Buffer& in, const Buffer& out, std::size_t runs) const;

  const StagePlan& plan() const { return plan_; }
  std::string describe() const override;

 private:
  void enqueue_reversal(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                        std::uint64_t out_offset, std::uint64_t lines) const;
  void enqueue_run(Queue& queue, std::size_t run, const Buffer& out, std::uint64_t offset, std::uint64_t lines) const;

  StagePlan plan_;
  Kernel reverse_;
  std::vector<Kernel> kernels_;  // one per run
  Buffer twiddles_, reversed_;
};

}  // namespace ridge::fft::papers
