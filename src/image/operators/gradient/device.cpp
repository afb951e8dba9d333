// Image gradients on devices: the variant `gradient`, one launch bound by memory, and a stage of tile kernels.
#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"
#include "image/methods/device/vec4.hpp"
#include "image/operators/gradient/weights.hpp"

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

void write_gradient(StageText& text, const GradientWeights& weights) {
  text.line("  v[0] = 0.0f;\n  v[1] = 0.0f;");
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (i == 1 && j == 1) continue;
      text.line("  {}", text.read(fmt::format("y + {}", i), fmt::format("x + {}", j), "s"));
      text.line("  v[0] = FMA({}, s[0], v[0]);\n  v[1] = FMA({}, s[0], v[1]);",
                literal(weights.beside[i] * weights.along[j]), literal(weights.along[i] * weights.beside[j]));
    }
  }
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

namespace ridge::image {

bool gradient_tile(const Gradient& o, on_device::StageList& stages) {
  return stages.add(stages.window(
      3, 3, [weights = gradient_weights(o)](on_device::StageText& text) { on_device::write_gradient(text, weights); }));
}

}  // namespace ridge::image
