// Parameters of the variance on a device: its kernel, method and tile sizes.
#pragma once
#include <mutex>
#include <vector>

#include "image/variant.hpp"

namespace ridge::image::on_device {

enum class VarianceKernel {
  plain,       // one pixel per work-item: any method, window, depth
  exact,       // 8 bits, running sums, four columns per work-item
  three_wise,  // 8 bits, windows of 9 or 27 in both directions, one column per work-item
  lanes,       // 8 bits, up to 31 rows, 33 columns: exact, neighbours' sums from registers
  columns,     // 8 bits, up to 1023 cells: exact sums in float; or joined three-wise across
};

struct VarianceDesign {
  VarianceKernel kernel = VarianceKernel::plain;
  int chunk = 0;     // all but plain: rows per group; 0: chosen to fill the device once
  int together = 3;  // three_wise, columns: rows between two barriers
  int items = 128;   // columns: work-items per group
};

std::uint64_t columns_resident(const VarianceDesign& design);  // groups of `columns` per compute unit
inline constexpr std::uint64_t kLanesResident = 16;            // sub-groups of `lanes`: 128 registers per work-item
VarianceMethod method_of(const VarianceProblem& problem);      // resolves `best`
KernelSource variance_source(const VarianceProblem& problem, const VarianceDesign& design);
std::vector<VarianceDesign> variance_designs();
planner::Candidate candidate_of(const Device& device, const VarianceProblem& problem, const VarianceDesign& design);

class DeviceVariance final : public Variant {
 public:
  DeviceVariance(const Device& device, const VarianceProblem& problem, const VarianceDesign& design);
  void run(std::span<const Image> in, Image& out) const override;
  void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const override;

 private:
  VarianceProblem problem_;
  VarianceDesign design_;
  Kernel kernel_;
  Launch launch_;
  int chunk_ = 0, side_chunk_ = 0, strips_ = 0, side_groups_ = 0;
  Queue own_queue_;
  Image image_, variance_;  // used by run(), one caller at a time
  mutable std::mutex running_;
};

}  // namespace ridge::image::on_device
