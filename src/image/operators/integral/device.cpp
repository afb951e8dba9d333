// Variant `corner sums`: integral images in three launches (block sums, their prefix sums, final sums).
#include <fmt/format.h>

#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kBlockRows = 8;

KernelSource sums_source(const Link& link) {
  KernelSource source = fetch_source("operator_corner_sums", link);
  source.defines.emplace_back("SUM", element_type(link.out.depth));
  source.defines.emplace_back("BLOCK_ROWS", std::to_string(kBlockRows));
  return source;
}

class CornerSums final : public Step {
 public:
  CornerSums(const Device& device, const Link& link)
      : program_(device.compile(sums_source(link))),
        block_sums_(program_.kernel("block_sums")),
        sum_blocks_(program_.kernel("sum_blocks")),
        corner_sums_(program_.kernel("corner_sums")),
        blocks_(groups_for(link.in.rows, kBlockRows)),
        wide_(link.in.columns * link.out.channels),
        sums_(device.buffer(blocks_ * wide_ * bytes_of(link.out.depth), {.name = "sums of blocks"})) {}

  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    const int rows = static_cast<int>(in.rows()), columns = static_cast<int>(in.columns());
    std::vector<Argument> first = arguments_of(in), last = arguments_of(in);
    for (const Argument& each : {Argument(sums_), Argument(rows), Argument(columns)}) first.push_back(each);
    queue.launch(block_sums_, {.groups = {groups_for(wide_, 128), blocks_}, .items = {128}}, first);
    queue.launch(sum_blocks_, {.groups = {groups_for(wide_, 128)}, .items = {128}},
                 {sums_, static_cast<int>(blocks_), static_cast<int>(wide_)});
    last.emplace_back(sums_);
    for (const Argument& each : arguments_of(out)) last.push_back(each);
    last.emplace_back(rows);
    last.emplace_back(columns);
    queue.launch(corner_sums_, {.groups = {blocks_, out.channels()}, .items = {256}}, last);
  }
  bool has_memory() const override { return true; }

 private:
  Program program_;
  Kernel block_sums_, sum_blocks_, corner_sums_;
  std::uint64_t blocks_;
  std::size_t wide_;
  Buffer sums_;
};

}  // namespace

void list_corner_sums(const Device& device, const Chain&, const Link& link, std::vector<StepPlan>& plans) {
  const Operation* operation = operation_besides_grays(link);
  if (operation == nullptr || !std::holds_alternative<Integral>(*operation)) return;
  StepPlan plan{.name = "corner sums"};
  if (link.out.depth == Depth::f64 && !device.limits().float64) {
    plan.refusal = "needs double precision for the sums, which the device does not support";
  } else if (device.limits().work_group < 256) {
    plan.refusal = fmt::format("needs work-groups of 256 work-items, the device allows {}", device.limits().work_group);
  }
  const double in = static_cast<double>(link.in.rows * link.in.row_bytes()),
               out = static_cast<double>(link.out.rows * link.out.row_bytes());
  plan.cost = {.flops = 0, .bytes = 2 * in + out * (1 + 2.0 / kBlockRows), .launches = 3, .efficiency = 0.5};
  plan.kernels = [link] { return std::vector<KernelSource>{sums_source(link)}; };
  plan.build = [link](const Device& there) { return std::make_shared<const CornerSums>(there, link); };
  plans.push_back(std::move(plan));
}

}  // namespace ridge::image::on_device
