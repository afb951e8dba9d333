// A problem of any image workload in the planner's terms: shapes of inputs and output, the variants, data to time them
// with, and the comparison with a reference.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "image/repeated_images.hpp"
#include "image/variant.hpp"

namespace ridge::image {

struct Work {
  planner::Problem problem{};
  std::vector<Shape> inputs{};
  Shape output{};
  std::vector<Entry> entries{};
  std::function<std::vector<Image>()> data{};  // typical inputs, in host memory
  std::function<planner::Comparison(std::span<const Image> in, const Image& answer)> judge{};
  // For large images that are made and compared on a device; empty: not available.
  SmallReference reference{};
  std::function<planner::Comparison(const RepeatedImages::Difference& difference)> judge_repeated{};
};

class Trials final : public planner::Trials<Variant> {
 public:
  // Results of at least `large_image` values are made and compared on the device.
  Trials(const Device& device, const Work& work, std::size_t large_image = kLargeImage)
      : device_(device), work_(work), large_image_(large_image) {}
  double seconds(const Variant& variant) override;
  planner::Comparison compare(const Variant& variant) override;

 private:
  void prepare();

  Device device_;
  const Work& work_;
  std::size_t large_image_;
  std::vector<Image> in_, resident_;
  Image out_, resident_out_;
  std::optional<Queue> queue_;
  std::optional<RepeatedImages> repeated_;  // without images in host memory
};

// Plan of the selected variant, improved in the background if the options say so.
planner::Exchangeable<PlanState> chosen_plan(const Device& device, const Work& work, const planner::Options& options);

// The variant that a plan selected.
std::shared_ptr<const Variant> variant_of(const AnyPlan& plan);

// Typical inputs: 8-bit and 16-bit integers over the full range, float in [-1, 1).
std::vector<Image> random_images(const std::vector<Shape>& shapes);

// The problem of each workload.
Work work_of(const Device& device, const FlowProblem& problem);
Work work_of(const Device& device, const OperatorProblem& problem);
Work work_of(const Device& device, const VarianceProblem& problem);

}  // namespace ridge::image
