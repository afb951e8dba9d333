// Variant `downscale by two`: resize and pyramid steps that halve both sides of 8-bit images; bound by memory.
#include <algorithm>

#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

struct DownscaleDesign {
  Shape in = {}, out = {};
  int taps = 2, rows_each = 1;
  Border border = Border::replicate;
  double constant = 0;
};

KernelSource downscale_source(const DownscaleDesign& design) {
  KernelSource source = vec4_source("image_downscale_by_two", design.in, design.border, design.constant);
  source.text += detail::kernel_text(design.taps == 2 ? "image/operator_downscale_by_two"
                                                      : "image/operator_downscale_by_two_taps");
  source.defines.emplace_back("ROWS_EACH", std::to_string(design.rows_each));
  source.defines.emplace_back("TAPS", std::to_string(design.taps));
  if (design.border == Border::wrap) source.defines.emplace_back("WRAP_BORDER", "1");
  return source;
}

class DownscaleStep final : public Step {
 public:
  DownscaleStep(const Device& device, const DownscaleDesign& design)
      : kernel_(device.compile(downscale_source(design)).kernel("downscale_bytes")),
        words_(design.taps == 2 ? 4 : 8),
        launch_{.groups = {groups_for(design.out.columns, 512),
                           groups_for(design.out.rows, static_cast<std::size_t>(design.rows_each))},
                .items = {128}} {}
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    const bool aligned = in.offset() % words_ == 0 && in.pitch() % words_ == 0;
    for (const int value :
         {static_cast<int>(in.rows()), static_cast<int>(in.columns()), aligned ? 1 : 0, aligned_for_vec4(out) ? 1 : 0})
      arguments.emplace_back(value);
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  std::size_t words_;  // alignment of the input rows: bytes per load
  Launch launch_;
};

// True if output i uses these weights from input 2 i - (taps / 2 - 1) on.
bool is_downscale_by_two(const AxisTaps& axis_taps, std::size_t places, const std::vector<float>& weights) {
  if (axis_taps.taps != std::ssize(weights) || axis_taps.from.size() != places) return false;
  const int before = axis_taps.taps / 2 - 1;
  for (std::size_t i = 0; i < places; ++i) {
    if (axis_taps.from[i] != static_cast<int>(2 * i) - before) return false;
  }
  for (std::size_t i = 0; i < axis_taps.weights.size(); ++i) {
    if (axis_taps.weights[i] != weights[i % weights.size()]) return false;
  }
  return true;
}

}  // namespace

void list_downscale_by_two(const Device&, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  if (link.in.depth != Depth::u8 || link.operations.size() != 1) return;
  const Operation& operation = link.operations.front();
  DownscaleDesign design{.in = link.in, .out = link.out};
  if (const auto* pyramid = std::get_if<Pyramid>(&operation)) {
    if (pyramid->levels != 1 || !border_fits(chain, Depth::u8)) return;
    design.taps = 5;
    design.border = chain.border;
    design.constant = chain.constant;
  } else {
    ResizeAxisTaps axes;
    if (link.in.rows != 2 * link.out.rows || link.in.columns != 2 * link.out.columns ||
        !axis_taps_of_resize(chain, link, axes))
      return;
    const auto both = [&](const std::vector<float>& weights) {
      return is_downscale_by_two(axes.down, link.out.rows, weights) &&
             is_downscale_by_two(axes.across, link.out.columns, weights);
    };
    if (both({-3 / 32.0f, 19 / 32.0f, 19 / 32.0f, -3 / 32.0f})) {
      design.taps = 4;
    } else if (!both({0.5f, 0.5f})) {
      return;
    }
  }
  const double values = values_of(link.out);
  for (const int rows_each : {4, 2, 1}) {  // fastest first (H200)
    if (rows_each == 4 && design.taps == 2) continue;
    design.rows_each = rows_each;
    StepPlan plan{.name = "downscale by two", .parameters = {{"rows", std::to_string(rows_each)}}};
    plan.cost = {
        .flops = (design.taps == 2 ? 8 : 30) * values,
        .bytes = static_cast<double>(link.in.rows * link.in.row_bytes() + link.out.rows * link.out.row_bytes()),
        .launches = 1,
        .efficiency = 0.9};
    plan.kernels = [design] { return std::vector<KernelSource>{downscale_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const DownscaleStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
