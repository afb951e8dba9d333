// Variant `sums`: box filters of 8-bit images with two 16-bit sums per word; horizontal neighbours come from other
// lanes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kSumItems = 32, kSumValues = 16, kSumStrip = kSumValues * (kSumItems - 2);
constexpr std::size_t kMostCells = 256, kMostRows = 16;

struct SumsDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  std::size_t rows = 1, columns = 1;  // of the window
  std::size_t rows_each = 4, sub_groups = 1;
  std::size_t wide() const { return shape.columns * shape.channels; }
  std::size_t left() const { return columns / 2 * shape.channels; }
  std::size_t right() const { return (columns - 1 - columns / 2) * shape.channels; }
  // True if each value beyond the end of a row equals one of the same lane's values, or a constant.
  bool ends_known() const { return border != Border::wrap && (columns / 2 + 1) * shape.channels <= kSumValues; }
  std::size_t registers() const { return 4 * (rows_each + rows - 1) + 60; }
  // Groups per compute unit.
  std::size_t resident() const { return std::clamp<std::size_t>(2048 / registers() / sub_groups, 1, 8); }
};

KernelSource sums_source(const SumsDesign& design) {
  KernelSource source = vec4_source("image_sums", design.shape, design.border, design.constant);
  source.text += detail::kernel_text("image/operator_sums");
  const std::size_t cells = design.rows * design.columns, reciprocal = ((std::size_t{1} << 24) + cells - 1) / cells;
  for (const auto& [name, value] :
       {std::pair{"WINDOW_ROWS", design.rows}, std::pair{"WINDOW_COLUMNS", design.columns},
        std::pair{"ROWS_EACH", design.rows_each}, std::pair{"SUB_GROUPS", design.sub_groups},
        std::pair{"RESIDENT", design.resident()}, std::pair{"ENDS_KNOWN", std::size_t{design.ends_known() ? 1U : 0U}}})
    source.defines.emplace_back(name, std::to_string(value));
  source.defines.emplace_back("RECIPROCAL", fmt::format("{}u", reciprocal));
  source.defines.emplace_back("ROUNDING", fmt::format("{}u", cells / 2 * reciprocal));
  source.defines.emplace_back("LARGE_RECIPROCAL", literal(std::ldexp(1.0, 127) / static_cast<double>(cells)));
  return source;
}

class SumsStep final : public Step {
 public:
  SumsStep(const Device& device, const SumsDesign& design) : design_(design) {
    const Program program = device.compile(sums_source(design));
    kernel_ = program.kernel("sums");
    if (design.sub_groups == 1) singles_kernel_ = program.kernel("single_sums");
  }
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    const auto aligned = [](const Image& image) { return image.offset() % 16 == 0 && image.pitch() % 16 == 0; };
    const std::size_t wide = design_.wide(), items = kSumItems * design_.sub_groups;
    std::size_t first = 0, end = 0;  // range computed by whole lanes; the other values are computed one per work-item
    if (aligned(in) && aligned(out)) {
      const std::size_t whole = wide / kSumValues * kSumValues;
      if (design_.ends_known() && whole == wide) {
        end = wide;
      } else if (whole > design_.left() + design_.right() + 8) {
        first = (design_.left() + 3) / 4 * 4;
        end = (whole - design_.right()) / 4 * 4;
      }
    }
    const std::uint64_t singles = groups_for(in.rows() * (first + wide - end), items);
    const std::uint64_t singles_here = singles_kernel_ ? 0 : singles;  // groups of `sums` that compute them
    const std::uint64_t strips = groups_for(end, kSumStrip);
    const std::uint64_t blocks = groups_for(in.rows(), design_.rows_each * design_.sub_groups);
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const std::uint64_t value : {std::uint64_t{in.rows()}, std::uint64_t{in.columns()}, std::uint64_t{first},
                                      std::uint64_t{end}, singles_here, std::max<std::uint64_t>(strips, 1)})
      arguments.emplace_back(static_cast<int>(value));
    if (singles > singles_here) queue.launch(singles_kernel_, {.groups = {singles}, .items = {items}}, arguments);
    if (singles_here + strips * blocks > 0)
      queue.launch(kernel_, {.groups = {singles_here + strips * blocks}, .items = {items}}, arguments);
  }

 private:
  SumsDesign design_;
  Kernel kernel_, singles_kernel_;  // of the values at the ends of rows, if each group is one sub-group
};

std::uint64_t rounds_of(const Device& device, const SumsDesign& design) {
  const std::uint64_t room = std::max<std::uint64_t>(device.limits().compute_units * design.resident(), 1);
  return groups_for(
      groups_for(design.wide(), kSumStrip) * groups_for(design.shape.rows, design.rows_each * design.sub_groups), room);
}

// Rows per work-item that minimize rounds of groups times rows per round, among counts that fit the registers.
std::size_t filling_rows(const Device& device, SumsDesign design) {
  std::size_t best = 8, least = SIZE_MAX;
  for (std::size_t rows = 5; rows <= std::max<std::size_t>(18 - design.rows, 6); ++rows) {  // fits the registers
    design.rows_each = rows;
    const std::size_t each = (rows + design.rows) * rounds_of(device, design);
    if (each > least) continue;
    least = each;
    best = rows;
  }
  return best;
}

}  // namespace

void list_sums(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  if (link.in.depth != Depth::u8 || link.operations.size() != 1) return;
  const auto* box = std::get_if<Box>(&link.operations.front());
  if (box == nullptr) return;
  if (!border_fits(chain, Depth::u8)) return;
  SumsDesign design{
      .shape = link.in, .border = chain.border, .constant = chain.constant, .rows = box->rows, .columns = box->columns};
  std::string refusal;
  if (box->rows > kMostRows || box->rows * box->columns > kMostCells || design.left() > kSumValues) {
    refusal = fmt::format(
        "needs a box of at most {} rows, {} pixels and {} values on the left side, got {} rows, {} pixels and {} "
        "values",
        kMostRows, kMostCells, kSumValues, box->rows, box->rows * box->columns, design.left());
  } else if (values_of(link.in) > 2e9) {
    refusal = fmt::format("needs at most 2e9 output values for 32-bit indices, got {:.3g}", values_of(link.in));
  } else if (device.limits().work_group < kSumItems) {
    refusal = fmt::format("needs work-groups of 32 work-items, the device allows {}", device.limits().work_group);
  }
  const bool several = device.limits().sub_group == kSumItems && device.limits().work_group >= 8 * kSumItems;
  for (const std::size_t sub_groups : several ? std::vector<std::size_t>{8, 4} : std::vector<std::size_t>{1}) {
    design.sub_groups = sub_groups;
    design.rows_each = several && refusal.empty() ? filling_rows(device, design) : 4;
    StepPlan plan{.name = "sums", .parameters = {{"sub-groups", std::to_string(sub_groups)}}, .refusal = refusal};
    plan.cost = {.flops = 7 * values_of(link.in),
                 .bytes = 2 * values_of(link.in),
                 .launches = 1,
                 // On the H200, 8 sub-groups are faster if all groups run in one round, otherwise 4.
                 .efficiency = !several                                                ? 0.3
                               : (sub_groups == 8) == (rounds_of(device, design) == 1) ? 0.97
                                                                                       : 0.96};
    plan.kernels = [design] { return std::vector<KernelSource>{sums_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const SumsStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
