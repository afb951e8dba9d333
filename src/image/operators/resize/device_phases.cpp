// Variant `phases`: enlarging 8-bit images by a ratio of small integers. Positions and weights repeat, so they are
// compile-time constants.
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kPhaseItems = 128, kMostPhases = 8, kLeastValues = 16, kMostValues = 24;

struct Ratio {
  std::size_t in = 1, out = 1;
};

struct PhasesDesign {
  Shape in = {}, out = {};
  Ratio down = {}, across = {};
  int taps = 2;
  std::vector<double> down_weights = {}, across_weights = {};
  std::size_t groups = 0, periods = 1;  // per work-item: periods across, periods down
  bool bytewise = false;                // for rows that are not aligned to words
  std::size_t values() const { return groups * across.out * out.channels; }
};

// Finds the ratio of an axis and the weights of one period; false if they do not repeat.
bool find_period(const AxisTaps& axis_taps, std::size_t length, Ratio& ratio, std::vector<double>& weights) {
  const std::size_t places = axis_taps.from.size(), common = std::gcd(length, places);
  ratio = {length / common, places / common};
  if (ratio.out > kMostPhases || ratio.out <= ratio.in) return false;
  const auto taps = static_cast<std::size_t>(axis_taps.taps);
  weights.assign(axis_taps.weights.begin(), axis_taps.weights.begin() + static_cast<std::ptrdiff_t>(ratio.out * taps));
  for (std::size_t i = 0; i < places; ++i) {
    const double at = std::floor(
        (static_cast<double>(i) + 0.5) * static_cast<double>(ratio.in) / static_cast<double>(ratio.out) - 0.5);
    if (axis_taps.from[i] != static_cast<int>(at) - (axis_taps.taps / 2 - 1)) return false;
    for (std::size_t k = 0; k < taps; ++k) {
      if (!(std::abs(axis_taps.weights[i * taps + k] - weights[i % ratio.out * taps + k]) < 1e-6)) return false;
    }
  }
  return true;
}

// Periods across per work-item such that it writes whole words, preferably 16 bytes at once; 0 if there are none.
std::size_t groups_of(const PhasesDesign& design) {
  const std::size_t each = design.across.out * design.out.channels;
  for (const std::size_t whole : {16, 8, 4}) {
    for (std::size_t groups = 1; groups * each <= kMostValues; ++groups) {
      if (groups * each >= kLeastValues && groups * each % whole == 0 &&
          design.in.columns % (groups * design.across.in) == 0)
        return groups;
    }
  }
  return 0;
}

KernelSource phases_source(const PhasesDesign& design) {
  KernelSource source = vec4_source("image_phases", design.in, Border::replicate, 0);
  source.text += float_table("down_weights", design.down_weights) +
                 float_table("across_weights", design.across_weights) + detail::kernel_text("image/operator_phases");
  for (const auto& [name, value] :
       {std::pair{"TAPS", static_cast<std::size_t>(design.taps)}, std::pair{"ACROSS_IN", design.across.in},
        std::pair{"ACROSS_OUT", design.across.out}, std::pair{"DOWN_IN", design.down.in},
        std::pair{"DOWN_OUT", design.down.out}, std::pair{"GROUPS_ACROSS", design.groups},
        std::pair{"PERIODS", design.periods}})
    source.defines.emplace_back(name, std::to_string(value));
  if (design.taps == 2) source.defines.emplace_back("NEVER_BEYOND", "1");
  if (design.bytewise) source.defines.emplace_back("BYTEWISE", "1");
  return source;
}

class PhasesStep final : public Step {
 public:
  PhasesStep(const Device& device, const PhasesDesign& design)
      : kernel_(device.compile(phases_source(design)).kernel("phases")),
        words_(design.values() % 16 == 0  ? 16
               : design.values() % 8 == 0 ? 8
                                          : 4),
        launch_{.groups = {groups_for(design.in.columns / (design.groups * design.across.in), kPhaseItems),
                           groups_for(design.out.rows, design.periods * design.down.out)},
                .items = {kPhaseItems}},
        device_(device),
        design_(design) {}
  void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const override {
    const auto aligned = [](const Image& image, std::size_t to) {
      return image.offset() % to == 0 && image.pitch() % to == 0;
    };
    if (!design_.bytewise && !(aligned(in, 4) && aligned(out, words_))) {
      std::call_once(compiled_, [&] {
        PhasesDesign any = design_;
        any.bytewise = true;
        any.periods = 1;
        any_ = std::make_shared<const PhasesStep>(device_, any);
      });
      return any_->enqueue(queue, in, guide, out);
    }
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const std::size_t value : {in.rows(), in.columns(), out.rows()})
      arguments.emplace_back(static_cast<int>(value));
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  std::size_t words_;  // bytes per store
  Launch launch_;
  Device device_;
  PhasesDesign design_;
  mutable std::once_flag compiled_;  // guards the kernel for unaligned images, which are rare
  mutable std::shared_ptr<const PhasesStep> any_;
};

}  // namespace

void list_phases(const Device&, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  ResizeAxisTaps axes;
  if (link.in.depth != Depth::u8 || !axis_taps_of_resize(chain, link, axes)) return;
  PhasesDesign design{.in = link.in, .out = link.out, .taps = axes.across.taps};
  if ((design.taps != 2 && design.taps != 4) || axes.down.taps != design.taps) return;
  if (!find_period(axes.down, link.in.rows, design.down, design.down_weights) ||
      !find_period(axes.across, link.in.columns, design.across, design.across_weights))
    return;
  design.groups = groups_of(design);
  std::string refusal;
  if (design.groups == 0 || link.in.columns * link.in.channels % 4 != 0)
    refusal = fmt::format(
        "needs rows that divide into whole 4-byte words per work-item, got {} input columns of {} channels at a "
        "ratio of {}:{}",
        link.in.columns, link.in.channels, design.across.out, design.across.in);
  const double in_values = values_of(link.in), out_values = values_of(link.out);
  // Two periods share more rows but need more registers; the faster one on the H200 is first.
  const bool two = design.taps == 2 && link.in.channels == 1;
  for (const std::size_t periods : two ? std::array<std::size_t, 2>{2, 1} : std::array<std::size_t, 2>{1, 2}) {
    design.periods = periods;
    StepPlan plan{.name = "phases", .parameters = {{"periods", std::to_string(periods)}}, .refusal = refusal};
    plan.cost = {.flops = 2 * design.taps *
                          (out_values + 1.3 * out_values * static_cast<double>(design.down.in) /
                                            static_cast<double>(design.down.out)),
                 .bytes = in_values + out_values,
                 .launches = 1,
                 .efficiency = 0.85};
    plan.kernels = [design] { return std::vector<KernelSource>{phases_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const PhasesStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
