// Transposed, or turned by quarters.
#include "device/kernel_text.hpp"
#include "image/operators/device/fetch.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image::on_device {
namespace {

constexpr int kTranspose = 4;

struct TurnDesign {
  Link link = {};
  int turn = kTranspose;
  std::size_t words = 0;  // bytes of a pixel, 1 or 3, where images are read and written as words; else 0
};

KernelSource turn_source(const TurnDesign& design) {
  if (design.words != 0) {
    return {.name = "image_turn",
            .text = detail::kernel_text(design.words == 1 ? "image/operator_turn_bytes" : "image/operator_turn_threes"),
            .defines = {{"TURN", std::to_string(design.turn)}}};
  }
  KernelSource source = fetch_source("operator_turn", design.link);
  source.defines.emplace_back("TURN", std::to_string(design.turn));
  return source;
}

class TurnStep final : public Step {
 public:
  TurnStep(const Device& device, const TurnDesign& design)
      : kernel_(device.compile(turn_source(design)).kernel("turn")) {
    const Shape &in = design.link.in, &out = design.link.out;
    launch_ = design.words == 1
                  ? Launch{.groups = {groups_for(in.columns, 64), groups_for(in.rows, 64)}, .items = {16, 16}}
              : design.words == 3
                  ? Launch{.groups = {groups_for(out.columns, 64), groups_for(out.rows, 64)}, .items = {192}}
                  : Launch{.groups = {groups_for(out.columns, 32), groups_for(out.rows, 32)}, .items = {32, 8}};
    if (design.words == 0) return;
    TurnDesign any = design;  // for images whose rows do not begin at multiples of four
    any.words = 0;
    any_ = std::make_shared<const TurnStep>(device, any);
  }
  void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const override {
    if (any_ && !(aligned_for_fours(in) && aligned_for_fours(out))) return any_->enqueue(queue, in, guide, out);
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const std::size_t size : {in.rows(), in.columns(), out.rows(), out.columns()})
      arguments.emplace_back(static_cast<int>(size));
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  Launch launch_;
  std::shared_ptr<const TurnStep> any_;
};

}  // namespace

void list_turn(const Device& device, const Chain&, const Link& link, std::vector<StepPlan>& plans) {
  const Operation* operation = among_grays(link);
  if (operation == nullptr) return;
  TurnDesign design{.link = link};
  if (const auto* rotate = std::get_if<Rotate>(operation)) {
    const auto turns = quarter_turns(*rotate);
    if (!turns) return;
    design.turn = *turns;
  } else if (!std::holds_alternative<Transpose>(*operation)) {
    return;
  }
  const double bytes = static_cast<double>(link.in.rows * link.in.row_bytes() + link.out.rows * link.out.row_bytes());
  const std::size_t pixel = link.in.pixel_bytes();
  const bool across = design.turn == kTranspose || design.turn == 1;
  const bool by_words =
      (pixel == 1 && across) || (pixel == 3 && link.out.pixel_bytes() == 3 && (across || design.turn == 3));
  for (const bool words : {true, false}) {
    if (words && !by_words) continue;
    design.words = words ? pixel : 0;
    StepPlan plan{.name = !words ? "turn" : pixel == 1 ? "byte blocks" : "threes"};
    if (device.limits().work_group < 256) plan.refusal = "needs groups of 256 work-items";
    plan.cost = {.flops = 0, .bytes = bytes, .launches = 1, .efficiency = words ? 0.8 : 0.5};
    plan.kernels = [design] { return std::vector<KernelSource>{turn_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const TurnStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
