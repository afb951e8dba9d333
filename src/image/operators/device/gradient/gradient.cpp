// Variant `gradient`: image gradients in one launch, bound by memory.
#include "device/kernel_text.hpp"
#include "image/operators/device/vec4.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image::on_device {
namespace {

struct GradientDesign {
  Shape in = {};
  Chain chain = {};
  Gradient gradient = {};
  int rows_each = 8;
};

KernelSource gradient_source(const GradientDesign& design) {
  KernelSource source = vec4_source("image_gradient", design.in, design.chain.border, design.chain.constant);
  source.text += detail::kernel_text("image/operator_gradient");
  const GradientWeights weights = gradient_weights(design.gradient);
  source.defines.insert(source.defines.end(), {{"ROWS_EACH", std::to_string(design.rows_each)},
                                               {"SIDE", literal(weights.beside[0] * weights.along[2])},
                                               {"MIDDLE", literal(weights.beside[1] * weights.along[2])}});
  return source;
}

}  // namespace

void list_gradient(const Device&, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  if (link.operations.size() != 1) return;
  const auto* gradient = std::get_if<Gradient>(&link.operations.front());
  if (gradient == nullptr) return;
  GradientDesign design{.in = link.in, .chain = chain, .gradient = *gradient};
  for (const int rows_each : {4, 8}) {
    design.rows_each = rows_each;
    StepPlan plan{.name = "gradient", .parameters = {{"rows", std::to_string(rows_each)}}};
    plan.cost = {
        .flops = 12 * static_cast<double>(link.in.rows * link.in.columns),
        .bytes = static_cast<double>(link.in.rows * link.in.row_bytes() + link.out.rows * link.out.row_bytes()),
        .launches = 1,
        .efficiency = 0.9};
    plan.kernels = [design] { return std::vector<KernelSource>{gradient_source(design)}; };
    plan.build = [design](const Device& there) {
      const Launch launch{.groups = {groups_for(design.in.columns, 256),
                                     groups_for(design.in.rows, static_cast<std::size_t>(design.rows_each))},
                          .items = {128}};
      return std::make_shared<const Vec4Step>(there.compile(gradient_source(design)).kernel("gradient"), launch);
    };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
