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
  bool bytes = false;  // blocks of 4x4 bytes
};

KernelSource turn_source(const TurnDesign& design) {
  if (design.bytes) {
    return {.name = "image_turn",
            .text = detail::kernel_text("image/operator_turn_bytes"),
            .defines = {{"TURN", std::to_string(design.turn)}}};
  }
  KernelSource source = fetch_source("operator_turn", design.link);
  source.defines.emplace_back("TURN", std::to_string(design.turn));
  return source;
}

class TurnStep final : public Step {
 public:
  TurnStep(const Device& device, const TurnDesign& design)
      : kernel_(device.compile(turn_source(design)).kernel("turn")), bytes_(design.bytes) {
    const Shape &in = design.link.in, &out = design.link.out;
    launch_ = bytes_ ? Launch{.groups = {groups_for(in.columns, 64), groups_for(in.rows, 64)}, .items = {16, 16}}
                     : Launch{.groups = {groups_for(out.columns, 32), groups_for(out.rows, 32)}, .items = {32, 8}};
    if (!bytes_) return;
    TurnDesign any = design;  // for images whose rows do not begin at multiples of four
    any.bytes = false;
    any_ = std::make_shared<const TurnStep>(device, any);
  }
  void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const override {
    if (bytes_ && !(aligned_for_fours(in) && aligned_for_fours(out))) return any_->enqueue(queue, in, guide, out);
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const std::size_t size : {in.rows(), in.columns(), out.rows(), out.columns()})
      arguments.emplace_back(static_cast<int>(size));
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  Launch launch_;
  bool bytes_;
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
  const bool grey_bytes = link.in.pixel_bytes() == 1 && (design.turn == kTranspose || design.turn == 1);
  for (const bool blocks : {true, false}) {
    if (blocks && !grey_bytes) continue;
    design.bytes = blocks;
    StepPlan plan{.name = blocks ? "byte blocks" : "turn"};
    if (device.limits().work_group < 256) plan.refusal = "needs groups of 256 work-items";
    plan.cost = {.flops = 0, .bytes = bytes, .launches = 1, .efficiency = blocks ? 0.8 : 0.5};
    plan.kernels = [design] { return std::vector<KernelSource>{turn_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const TurnStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
