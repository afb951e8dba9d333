// Variant `two passes`: separable filters of any size in two launches, vertical then horizontal, with a float image
// between them.
#include "image/methods/device/stages.hpp"

namespace ridge::image::on_device {
namespace {

class TwoPasses final : public Step {
 public:
  TwoPasses(const Device& device, const StepPlan& down, const StepPlan& across, const Shape& between)
      : down_(down.build(device)), across_(across.build(device)), between_(Image::on(device, between, "column sums")) {}
  void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const override {
    down_->enqueue(queue, in, guide, between_);
    across_->enqueue(queue, between_, guide, out);
  }
  bool has_memory() const override { return true; }

 private:
  std::shared_ptr<const Step> down_, across_;
  Image between_;
};

}  // namespace

void list_two_passes(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  Product product;
  if (link.operations.size() != 1 || !product_of(link.operations.front(), link.in.depth, product) || product.step != 1)
    return;
  std::vector<TileStage> stages;
  if (!stages_of(chain, link.operations, link.in, stages)) return;
  TileStage down = stages[0], across = stages[1];
  down.out.depth = across.in.depth = Depth::f32;
  across.has_border = true;
  double sum = 0;
  for (const double weight : product.down) sum += weight;
  across.constant *= sum;  // the vertical pass's result for the constant
  const TileDesign design{8, 32, false};
  const StepPlan first = tile_plan(device, chain, {down}, design), second = tile_plan(device, chain, {across}, design);
  StepPlan plan{.name = "two passes", .refusal = first.refusal.empty() ? second.refusal : first.refusal};
  plan.cost = first.cost;
  plan.cost.flops += second.cost.flops;
  plan.cost.bytes += second.cost.bytes;
  plan.cost.launches = 2;
  plan.kernels = [first, second] {
    std::vector<KernelSource> sources = first.kernels();
    sources.push_back(second.kernels().front());
    return sources;
  };
  plan.build = [first, second, between = down.out](const Device& there) {
    return std::make_shared<const TwoPasses>(there, first, second, between);
  };
  plans.push_back(std::move(plan));
}

}  // namespace ridge::image::on_device
