// A stage plan made real on a device: kernels, tables, launches.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fft/device/step.hpp"
#include "fft/historical/papers/stage_plan.hpp"

namespace ridge::fft::papers {

// Kernels and tables that the variants of one device have in common: compiled once, uploaded once. Belongs to one
// thread.
class Shelf {
 public:
  explicit Shelf(const Device& device) : device_(device) {}
  Kernel kernel(const KernelSource& source, const std::string& name);
  Buffer twiddles(int log_n, Direction direction);  // W^k, k < N/2, rounded once; conjugated for the way back
  Buffer reversed(int log_n);                       // every index read backwards
  Buffer nothing();                                 // for an argument that nobody reads

 private:
  Device device_;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, Buffer> tables_;
};

class CompiledStages final : public on_device::CompiledStep {
 public:
  // Error{invalid_argument} with the reason where the plan was refused.
  CompiledStages(Shelf& shelf, const StagePlan& plan);
  CompiledStages(const Device& device, const StagePlan& plan);

  // `lines` lines, one after the other, from the given elements of each array on.
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const override;
  // Part 1, then the first `runs` runs of part 2: what times the parts.
  void enqueue_first(Queue& queue, const Buffer& in, const Buffer& out, std::size_t runs) const;

  const StagePlan& plan() const { return plan_; }
  std::string describe() const override;

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
