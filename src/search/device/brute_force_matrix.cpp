// Launches brute-force dedispersion on the matrix units: see brute_force_matrix.cl.
#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "search/device/device_variant.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kOctet = 8;                        // trials per product
constexpr std::size_t kMostMatrixDelay = 12;             // samples from a base word to a delay; with phase 3 below 16
constexpr std::size_t kMatrixStage = 16;                 // channels
constexpr std::size_t kMatrixCopy = 8;                   // rows of the tile begin at a multiple of this in the input
constexpr std::uint32_t kNoMatrixDelay = 0xffffU << 16;  // entry that adds nothing

struct MatrixDesign {
  std::size_t warps = 8, tiles = 16;  // per group: warps, groups of 32 times
  std::size_t resident = 1;           // work-groups per compute unit
  std::size_t delay_range = 0;        // largest difference of delays within a group's trials
  bool emulated = false;

  std::size_t trials() const { return kOctet * warps; }
  std::size_t times() const { return 32 * tiles; }
  std::size_t local_bytes() const {
    const std::size_t row = (8 * tiles + (delay_range + 7) / 4 + 5) / 2 * 2;  // words
    return 3 * kMatrixStage * (row + trials()) * 4 + (emulated ? 9 * 4 * 32 * warps : 0);
  }
  KernelSource source() const {
    return {.name = "search brute_force_matrix",
            .text = codegen::matrix_macros_text(32 * warps) + ridge::detail::kernel_text("search/brute_force_matrix"),
            .defines = {{"WARPS", std::to_string(warps)},
                        {"TILES", std::to_string(tiles)},
                        {"STAGE", std::to_string(kMatrixStage)},
                        {"RESIDENT", std::to_string(resident)},
                        {"DELAY_RANGE", std::to_string(delay_range)}}};
  }
};

class DeviceBruteForceMatrix final : public DeviceVariant {
 public:
  DeviceBruteForceMatrix(const Device& device, const Layout& layout, const MatrixDesign& design)
      : DeviceVariant(device, layout),
        design_(design),
        kernel_(device.compile(design.source()).kernel("dedisperse_products")) {
    const std::size_t groups = padded_trials() / design.trials();
    std::vector<std::int32_t> starts(layout.channels * groups);
    std::vector<std::uint32_t> entries(padded_channels() * padded_trials(), kNoMatrixDelay);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::size_t c = i / groups, first = i % groups * design.trials();
      starts[i] = layout.nearest(first, c);
      fill_entries(c, first, {entries.data() + c * padded_trials() + first, design.trials()});
    }
    entries_ = device.buffer(entries.size() * sizeof entries[0], {.name = "search delays"});
    starts_ = device.buffer(starts.size() * sizeof starts[0], {.name = "search first delays"});
    Queue queue = device.queue();
    queue.upload(std::span<const std::uint32_t>(entries), entries_);
    queue.upload(std::span<const std::int32_t>(starts), starts_);
    queue.finish();
  }

  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const override {
    const Launch launch{
        .groups = {(layout_.times + design_.times() - 1) / design_.times(), padded_trials() / design_.trials()},
        .items = {32 * design_.warps},
        .local_bytes = design_.local_bytes()};
    const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
    queue.launch(
        kernel_, launch,
        {in, out, entries_, starts_, number(layout_.channels), number(padded_channels()), number(layout_.trials),
         number(padded_trials()), std::uint64_t{layout_.times}, std::uint64_t{layout_.row}});
  }
  std::vector<std::int32_t> delays(std::size_t trial) const override { return nearest_delays(layout_, trial); }

 private:
  std::size_t padded_trials() const {
    return (layout_.trials + design_.trials() - 1) / design_.trials() * design_.trials();
  }
  std::size_t padded_channels() const { return (layout_.channels + kMatrixStage - 1) / kMatrixStage * kMatrixStage; }

  // Table entries of a work-group's trials for one channel.
  void fill_entries(std::size_t channel, std::size_t first, std::span<std::uint32_t> entries) const {
    const auto start = static_cast<std::size_t>(layout_.nearest(first, channel));
    const std::size_t skipped =
        (channel * layout_.row + start) % kMatrixCopy;  // bytes of the tile's row before the first delay
    for (std::size_t d = 0; d < entries.size(); ++d) {
      const auto place_of = [&](std::size_t of) {
        const std::size_t trial = std::min(first + of, layout_.trials - 1);
        return skipped + static_cast<std::size_t>(layout_.nearest(trial, channel)) - start;
      };
      const std::size_t base = place_of(d / kOctet * kOctet) / 4;  // of the first of the 8 trials
      entries[d] = static_cast<std::uint32_t>(base | (4 * (place_of(d) - 4 * base)) << 16);
    }
  }

  MatrixDesign design_;
  Kernel kernel_;
  Buffer entries_, starts_;
};

std::string matrix_refusal(const Limits& limits, const Layout& layout, const MatrixDesign& design) {
  // The 8 trials of a product count their delays from one word. Rounding to samples adds at most 1 to the difference of
  // their delays, and the word begins at most 3 bytes before the first delay.
  const std::size_t octet = layout.delay_range(kOctet);
  if (octet + 1 + 3 > kMostMatrixDelay) {
    return fmt::format("needs delays of 8 neighbouring trials within {} samples, got {}", kMostMatrixDelay - 4, octet);
  }
  if (32 * design.warps > limits.work_group) {
    return fmt::format("needs work-groups of {} work-items, the device has {}", 32 * design.warps, limits.work_group);
  }
  if (design.local_bytes() > limits.local_memory) {
    return fmt::format("needs {} of local memory, the device has {}",
                       base::human_bytes(static_cast<double>(design.local_bytes())),
                       base::human_bytes(static_cast<double>(limits.local_memory)));
  }
  if (layout.trials / design.trials() >= 65535)
    return fmt::format("needs at most {} trials, got {}", 65535 * design.trials(), layout.trials);
  return "";
}

}  // namespace

void list_device_brute_force_matrix(const Device& device, const Layout& layout, std::vector<Entry>& entries) {
  const Limits& limits = device.limits();
  const std::vector<MatrixDesign> designs =
      limits.matrix_units ? std::vector<MatrixDesign>{{.warps = 16, .tiles = 8}, {.warps = 8, .tiles = 16}}
                          : std::vector<MatrixDesign>{{.warps = 4, .tiles = 2, .emulated = true}};
  for (MatrixDesign design : designs) {
    design.delay_range = layout.delay_range_class(design.trials());
    entries.push_back({.candidate = planner::Candidate{.variant = "brute_force_matrix",
                                                       .parameters = {{"warps", std::to_string(design.warps)},
                                                                      {"trials", std::to_string(kOctet)},
                                                                      {"times", std::to_string(design.times())}},
                                                       .refusal = matrix_refusal(limits, layout, design),
                                                       .cost = {.flops = layout.additions(),
                                                                .bytes = static_cast<double>(layout.input_bytes() +
                                                                                             layout.output_bytes()),
                                                                .launches = 1,
                                                                .efficiency = design.emulated      ? 0.001
                                                                              : design.warps == 16 ? 0.8
                                                                                                   : 0.75}},
                       .kernels = [design] { return std::vector{design.source()}; },
                       .build = [=] { return std::make_shared<DeviceBruteForceMatrix>(device, layout, design); }});
  }
}

}  // namespace ridge::search
