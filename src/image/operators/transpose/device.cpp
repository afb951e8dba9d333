// Variants `transpose`, `transpose u8` and `transpose rgb8`: transposition and rotations by multiples of 90 degrees.
#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"
#include "image/operators/rotate/places.hpp"

namespace ridge::image::on_device {
namespace {

constexpr int kTranspose = 4;

struct TransposeDesign {
  Link link = {};
  int rotation = kTranspose;
  std::size_t words = 0;  // bytes per pixel (1 or 3) if images are accessed as words, otherwise 0
};

KernelSource transpose_source(const TransposeDesign& design) {
  if (design.words != 0) {
    return {.name = "image_transpose",
            .text = detail::kernel_text(design.words == 1 ? "image/operator_transpose_u8"
                                                          : "image/operator_transpose_rgb8"),
            .defines = {{"ROTATION", std::to_string(design.rotation)}}};
  }
  KernelSource source = fetch_source("operator_transpose", design.link);
  source.defines.emplace_back("ROTATION", std::to_string(design.rotation));
  return source;
}

class TransposeStep final : public Step {
 public:
  TransposeStep(const Device& device, const TransposeDesign& design)
      : kernel_(device.compile(transpose_source(design)).kernel("transpose")) {
    const Shape &in = design.link.in, &out = design.link.out;
    launch_ = design.words == 1
                  ? Launch{.groups = {groups_for(in.columns, 64), groups_for(in.rows, 64)}, .items = {16, 16}}
              : design.words == 3
                  ? Launch{.groups = {groups_for(out.columns, 64), groups_for(out.rows, 64)}, .items = {192}}
                  : Launch{.groups = {groups_for(out.columns, 32), groups_for(out.rows, 32)}, .items = {32, 8}};
    if (design.words == 0) return;
    TransposeDesign any = design;  // for images whose rows are not aligned to four bytes
    any.words = 0;
    any_ = std::make_shared<const TransposeStep>(device, any);
  }
  void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const override {
    if (any_ && !(aligned_for_vec4(in) && aligned_for_vec4(out))) return any_->enqueue(queue, in, guide, out);
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const std::size_t size : {in.rows(), in.columns(), out.rows(), out.columns()})
      arguments.emplace_back(static_cast<int>(size));
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  Launch launch_;
  std::shared_ptr<const TransposeStep> any_;
};

}  // namespace

void list_transpose(const Device& device, const Chain&, const Link& link, std::vector<StepPlan>& plans) {
  const Operation* operation = operation_besides_grays(link);
  if (operation == nullptr) return;
  TransposeDesign design{.link = link};
  if (const auto* rotate = std::get_if<Rotate>(operation)) {
    const auto turns = quarter_turns(*rotate);
    if (!turns) return;
    design.rotation = *turns;
  } else if (!std::holds_alternative<Transpose>(*operation)) {
    return;
  }
  const double bytes = static_cast<double>(link.in.rows * link.in.row_bytes() + link.out.rows * link.out.row_bytes());
  const std::size_t pixel = link.in.pixel_bytes();
  const bool across = design.rotation == kTranspose || design.rotation == 1;
  const bool by_words =
      (pixel == 1 && across) || (pixel == 3 && link.out.pixel_bytes() == 3 && (across || design.rotation == 3));
  for (const bool words : {true, false}) {
    if (words && !by_words) continue;
    design.words = words ? pixel : 0;
    StepPlan plan{.name = !words ? "transpose" : pixel == 1 ? "transpose u8" : "transpose rgb8"};
    if (device.limits().work_group < 256)
      plan.refusal =
          fmt::format("needs work-groups of 256 work-items, the device allows {}", device.limits().work_group);
    plan.cost = {.flops = 0, .bytes = bytes, .launches = 1, .efficiency = words ? 0.8 : 0.5};
    plan.kernels = [design] { return std::vector<KernelSource>{transpose_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const TransposeStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
