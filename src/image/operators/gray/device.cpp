// Conversion to gray on devices: the variant `point`, one launch bound by memory, and a stage of tile kernels.
#include <cmath>

#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

KernelSource point_source(const Shape& in, int rows_each) {
  KernelSource source = vec4_source("image_point", in, Border::replicate, 0);
  source.text += detail::kernel_text("image/operator_point");
  source.defines.insert(source.defines.end(), {{"ROWS_EACH", std::to_string(rows_each)},
                                               {"RED", literal(Gray::kWeights[0])},
                                               {"GREEN", literal(Gray::kWeights[1])},
                                               {"BLUE", literal(Gray::kWeights[2])},
                                               {"NEVER_BEYOND", "1"}});
  constexpr const char* kThousandths[] = {"RED_1000", "GREEN_1000", "BLUE_1000"};
  for (std::size_t k = 0; k < 3; ++k)
    source.defines.emplace_back(kThousandths[k], std::to_string(std::lround(1000 * Gray::kWeights[k])) + "u");
  return source;
}

Launch point_launch(const Shape& in, int rows_each) {
  return {.groups = {groups_for(in.columns, 512), groups_for(in.rows, static_cast<std::size_t>(rows_each))},
          .items = {128}};
}

}  // namespace

void list_point(const Device&, const Chain&, const Link& link, std::vector<StepPlan>& plans) {
  if (link.operations.size() != 1 || !std::holds_alternative<Gray>(link.operations.front())) return;
  for (const int rows_each : {1, 2, 4}) {
    StepPlan plan{.name = "point", .parameters = {{"rows", std::to_string(rows_each)}}};
    plan.cost = {
        .flops = 5 * static_cast<double>(link.in.rows * link.in.columns),
        .bytes = static_cast<double>(link.in.rows * link.in.row_bytes() + link.out.rows * link.out.row_bytes()),
        .launches = 1,
        .efficiency = 0.9};
    plan.kernels = [in = link.in, rows_each] { return std::vector<KernelSource>{point_source(in, rows_each)}; };
    plan.build = [in = link.in, rows_each](const Device& there) {
      return std::make_shared<const Vec4Step>(there.compile(point_source(in, rows_each)).kernel("point"),
                                              point_launch(in, rows_each));
    };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device

namespace ridge::image {

bool gray_tile(const Gray& o, on_device::StageList& stages) {
  on_device::TileStage made = stages.stage(output_shape(o, stages.in()), [](on_device::StageText& text) {
    using on_device::literal;
    text.line("  {}", text.read("y", "x", "s"));
    text.line("  v[0] = FMA({}, s[0], FMA({}, s[1], {} * s[2]));", literal(Gray::kWeights[0]),
              literal(Gray::kWeights[1]), literal(Gray::kWeights[2]));
  });
  made.reads = on_device::Reads::pixel;
  return stages.add(std::move(made));
}

}  // namespace ridge::image
