// Launches brute-force dedispersion on a device: see brute_force.cl.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/kernel_text.hpp"
#include "search/device/device_variant.hpp"

namespace ridge::search {
namespace {

struct BruteDesign {
  std::size_t warps = 8, trials_each = 4, words = 4;  // per work-group; trials and words of four times per work-item
  std::size_t delay_range = 0;                        // largest difference of delays within a group's trials
  bool wide_in_local = false;                         // sums of all channels are in local memory

  std::size_t trials() const { return warps * trials_each; }
  std::size_t times() const { return 128 * words; }
  std::size_t stage() const { return warps; }  // channels, each loaded by one warp
  std::size_t local_bytes() const {
    const std::size_t stages = 2 * stage() * (16 * ((times() + delay_range) / 4 + 2) + 4 * trials());
    return stages + (wide_in_local ? 16 * 32 * warps * trials_each * words : 0);
  }
  KernelSource source() const {
    return {.name = "search brute_force",
            .text = ridge::detail::kernel_text("search/brute_force"),
            .defines = {{"WARPS", std::to_string(warps)},
                        {"TRIALS_EACH", std::to_string(trials_each)},
                        {"WORDS", std::to_string(words)},
                        {"STAGE", std::to_string(stage())},
                        {"DELAY_RANGE", std::to_string(delay_range)},
                        {"WIDE_IN_LOCAL", wide_in_local ? "1" : "0"}}};
  }
};

class DeviceBruteForce final : public DeviceVariant {
 public:
  DeviceBruteForce(const Device& device, const Layout& layout, const BruteDesign& design)
      : DeviceVariant(device, layout), design_(design), kernel_(device.compile(design.source()).kernel("dedisperse")) {
    const std::size_t padded = padded_trials();
    std::vector<std::int32_t> table(layout.channels * padded);
    for (std::size_t c = 0; c < layout.channels; ++c) {
      for (std::size_t d = 0; d < padded; ++d)
        table[c * padded + d] = layout.nearest(std::min(d, layout.trials - 1), c);
    }
    delays_ = device.buffer(table.size() * sizeof table[0], {.name = "search delays"});
    Queue queue = device.queue();
    queue.upload(std::span<const std::int32_t>(table), delays_);
    queue.finish();
  }

  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const override {
    const Launch launch{
        .groups = {(layout_.times + design_.times() - 1) / design_.times(), padded_trials() / design_.trials()},
        .items = {32 * design_.warps},
        .local_bytes = design_.local_bytes()};
    queue.launch(
        kernel_, launch,
        {in, out, delays_, static_cast<std::uint32_t>(layout_.channels), static_cast<std::uint32_t>(layout_.trials),
         static_cast<std::uint32_t>(padded_trials()), std::uint64_t{layout_.times}, std::uint64_t{layout_.row}});
  }
  std::vector<std::int32_t> delays(std::size_t trial) const override { return nearest_delays(layout_, trial); }

 private:
  std::size_t padded_trials() const {
    return (layout_.trials + design_.trials() - 1) / design_.trials() * design_.trials();
  }
  BruteDesign design_;
  Kernel kernel_;
  Buffer delays_;
};

}  // namespace

void list_device_brute_force(const Device& device, const Layout& layout, std::vector<Entry>& entries) {
  const Limits& limits = device.limits();
  const std::size_t most = limits.local_memory;
  for (const std::size_t warps : {16, 8, 2}) {
    BruteDesign design{.warps = warps};
    design.delay_range = layout.delay_range_class(design.trials());
    design.wide_in_local = true;
    if (design.local_bytes() > most) design.wide_in_local = false;
    std::string refusal;
    if (32 * warps > limits.work_group) {
      refusal = fmt::format("needs work-groups of {} work-items, the device has {}", 32 * warps, limits.work_group);
    } else if (design.local_bytes() > most) {
      refusal = fmt::format("needs {} of local memory, the device has {}",
                            base::human_bytes(static_cast<double>(design.local_bytes())),
                            base::human_bytes(static_cast<double>(most)));
    } else if (layout.trials / design.trials() >= 65535) {
      refusal = fmt::format("needs at most {} trials, got {}", 65535 * design.trials(), layout.trials);
    }
    entries.push_back(
        {.candidate =
             planner::Candidate{.variant = "brute_force",
                                .parameters = {{"warps", std::to_string(warps)},
                                               {"wide", design.wide_in_local ? "local" : "registers"}},
                                .refusal = refusal,
                                .cost = {.flops = layout.additions(),
                                         .bytes = static_cast<double>(layout.input_bytes() + layout.output_bytes()),
                                         .launches = 1,
                                         .efficiency = warps == 16  ? 0.5
                                                       : warps == 8 ? 0.45
                                                                    : 0.2}},
         .kernels = [design] { return std::vector{design.source()}; },
         .build = [=] { return std::make_shared<DeviceBruteForce>(device, layout, design); }});
  }
}

}  // namespace ridge::search
