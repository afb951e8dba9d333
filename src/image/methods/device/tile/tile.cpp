// Variants `tile` and `direct`: any operators with stages, computed tile by tile in one kernel.
#include "image/methods/device/stages.hpp"

#include <fmt/format.h>

namespace ridge::image::on_device {
namespace {

class TileStep final : public Step {
 public:
  TileStep(const Device& device, const Chain& chain, const std::vector<TileStage>& stages, const TileDesign& design)
      : layout_(lay_out(stages, design.rows, design.columns, design.keep)),
        kernel_(device.compile(tile_source(stages, layout_, chain.guide, device.limits())).kernel("tile")) {
    sizes_.push_back(static_cast<int>(stages.front().in.rows));
    sizes_.push_back(static_cast<int>(stages.front().in.columns));
    std::vector<int> places;
    std::vector<float> weights;
    for (const TileStage& stage : stages) {
      sizes_.push_back(static_cast<int>(stage.out.rows));
      sizes_.push_back(static_cast<int>(stage.out.columns));
      guided_ = guided_ || stage.guided;
      for (const AxisTaps* axis_taps : {&stage.down, &stage.across}) {
        places.insert(places.end(), axis_taps->from.begin(), axis_taps->from.end());
        weights.insert(weights.end(), axis_taps->weights.begin(), axis_taps->weights.end());
      }
    }
    const Shape& out = stages.back().out;
    launch_ = {.groups = {groups_for(out.columns, static_cast<std::size_t>(design.columns)),
                          groups_for(out.rows, static_cast<std::size_t>(design.rows))},
               .items = {32, 8},
               .local_bytes = layout_.bytes};
    if (places.empty()) return;
    places_ = device.buffer(places.size() * sizeof(int), {.name = "places"});
    weights_ = device.buffer(weights.size() * sizeof(float), {.name = "weights"});
    Queue queue = device.queue();
    queue.upload(std::span<const int>(places), places_);
    queue.upload(std::span<const float>(weights), weights_);
    queue.finish();
  }

  void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const override {
    std::vector<Argument> arguments = arguments_of(in);
    const auto add = [&](const std::vector<Argument>& more) {
      arguments.insert(arguments.end(), more.begin(), more.end());
    };
    if (guided_) add(arguments_of(guide));
    add(arguments_of(out));
    for (const int size : sizes_) arguments.emplace_back(size);
    if (places_) add({places_, weights_});
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  TileLayout layout_;
  Kernel kernel_;
  Launch launch_;
  std::vector<int> sizes_;
  Buffer places_, weights_;
  bool guided_ = false;
};

double multiplications(const TileStage& stage) {
  const double rows = stage.down.from.empty() ? stage.down.before + stage.down.after + 1 : stage.down.taps;
  const double columns = stage.across.from.empty() ? stage.across.before + stage.across.after + 1 : stage.across.taps;
  return static_cast<double>(stage.out.rows * stage.out.columns * stage.out.channels) * rows * columns *
         stage.operations;
}

double bytes_of_image(const Shape& shape) { return static_cast<double>(shape.rows * shape.row_bytes()); }

}  // namespace

bool stages_of(const Chain& chain, const std::vector<Operation>& operations, const Shape& in,
               std::vector<TileStage>& stages) {
  Shape shape = in;
  for (const Operation& operation : operations) {
    if (!add_stages(operation, chain, shape, stages)) return false;
  }
  return true;
}

StepPlan tile_plan(const Device& device, const Chain& chain, const std::vector<TileStage>& stages,
                   const TileDesign& design) {
  const TileLayout layout = lay_out(stages, design.rows, design.columns, design.keep);
  StepPlan plan{.name = design.keep ? "tile" : "direct"};
  plan.parameters = {{"tile", fmt::format("{}x{}", design.columns, design.rows)}};
  const auto refuse = [&](const std::string& why) {  // the first reason is shown
    if (plan.refusal.empty()) plan.refusal = why;
  };
  if (layout.bytes > device.limits().local_memory || layout.bytes > 48 * 1024) {
    refuse(fmt::format("needs {} KiB of local memory, {} are available", (layout.bytes + 1023) / 1024,
                       std::min<std::size_t>(device.limits().local_memory, 48 * 1024) / 1024));
  }
  if (device.limits().work_group < 256)
    refuse(fmt::format("needs work-groups of 256 work-items, the device allows {}", device.limits().work_group));
  double again = layout.again;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const bool wide = stages[k].down.input(1) > 1 || stages[k].across.input(1) > 1;
    if (k > 0 && design.keep && stages[k].has_border && stages[k].border == Border::wrap && wide) {
      refuse("border wrap reads the opposite side of the previous operator's output, which a tile does not hold");
    }
    if (k > 0 && stages[k].reads == Reads::anywhere && stages[k - 1].many()) {
      refuse("a rotation reads any pixel of the previous operator's output, which a tile does not hold");
    }
    // Later stages enlarge the region that a tile computes of this stage.
    const double more = static_cast<double>(layout.heights[k + 1]) * layout.widths[k + 1] / design.rows /
                        design.columns * static_cast<double>(stages.back().out.rows * stages.back().out.columns) /
                        static_cast<double>(stages[k].out.rows * stages[k].out.columns);
    plan.cost.flops += 2 * multiplications(stages[k]) * (design.keep ? more : 1);
    if (!design.keep && k > 0 && stages[k].many() && stages[k - 1].many()) {
      plan.cost.flops *= stages[k].down.input(1) * stages[k].across.input(1);
      again = 1;
    }
  }
  plan.cost.bytes = bytes_of_image(stages.front().in) * (1 + 0.1 * (again - 1)) + bytes_of_image(stages.back().out);
  plan.cost.launches = 1;
  plan.cost.efficiency = design.keep ? 0.25 : 0.2;
  plan.kernels = [stages, layout, guide = chain.guide, limits = device.limits()] {
    return std::vector<KernelSource>{tile_source(stages, layout, guide, limits)};
  };
  plan.build = [chain, stages, design](const Device& there) {
    return std::make_shared<const TileStep>(there, chain, stages, design);
  };
  return plan;
}

void list_tile(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  std::vector<TileStage> stages;
  if (!stages_of(chain, link.operations, link.in, stages)) return;
  bool many = false;
  for (const TileStage& stage : stages) many = many || stage.many();
  if (!many) return;  // no stage needs a region in local memory
  for (const TileDesign& design : {TileDesign{32, 32}, TileDesign{16, 64}, TileDesign{8, 32}}) {
    plans.push_back(tile_plan(device, chain, stages, design));
  }
}

void list_direct(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  std::vector<TileStage> stages;
  if (!stages_of(chain, link.operations, link.in, stages)) return;
  plans.push_back(tile_plan(device, chain, stages, {8, 32, false}));
}

}  // namespace ridge::image::on_device
