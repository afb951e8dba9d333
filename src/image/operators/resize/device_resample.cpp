// Variant `resample`: resizing 8-bit images with two or four taps per axis; the taps of a row are gathered and summed
// as integers in registers.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kResampleItems = 128;
constexpr int kMostWords = 64;  // input words per work-item, in registers

struct ResampleDesign {
  Shape in = {}, out = {};
  AxisTaps down = {}, across = {};
  int rows_each = 16, rows_in = 0, words = 2;
  std::vector<std::uint32_t> vec4_table = {};
  int taps() const { return across.taps; }
  double scale() const { return taps() == 2 ? 65535 : 32767; }  // sum of the integer weights across
};

std::size_t vec4_count(const Shape& shape) { return (shape.columns * shape.channels + 3) / 4; }

// Channel of the input row that tap `tap` of output channel `value` reads, clamped to the row.
int place_of_tap(const ResampleDesign& design, std::size_t value, int tap) {
  const auto channels = static_cast<int>(design.in.channels);
  const int last = static_cast<int>(design.out.columns * design.out.channels) - 1;
  const int here = std::min(static_cast<int>(value), last), column = here / channels;
  const int from = design.across.from[static_cast<std::size_t>(column)] + tap;
  return std::clamp(from, 0, static_cast<int>(design.in.columns) - 1) * channels + here % channels;
}

// Weights of a column as integers whose sum is the scale; the largest absorbs the rounding error.
std::vector<int> whole_weights(const ResampleDesign& design, std::size_t column) {
  const auto taps = static_cast<std::size_t>(design.taps());
  std::vector<int> weights;
  int sum = 0;
  for (std::size_t j = 0; j < taps; ++j) {
    const double weight = double{design.across.weights[column * taps + j]} * design.scale();
    weights.push_back(static_cast<int>(std::lrint(weight)));
    sum += weights.back();
  }
  const int scale = static_cast<int>(design.scale());
  int& largest = *std::max_element(weights.begin(), weights.end());
  largest = std::min(largest + scale - sum, scale);  // limit of 16 bits
  return weights;
}

// Table for every vec4 of an output row: first input word, byte selectors and weights. Entry k of all vec4s is
// contiguous.
void make_vec4_table(ResampleDesign& design) {
  const auto taps = static_cast<std::size_t>(design.taps()), count = vec4_count(design.out);
  std::vector<int> first(count);
  for (std::size_t four = 0; four < count; ++four) {
    int low = place_of_tap(design, 4 * four, 0), high = low;
    for (std::size_t value = 4 * four; value < 4 * four + 4; ++value) {
      low = std::min(low, place_of_tap(design, value, 0));
      high = std::max(high, place_of_tap(design, value, design.taps() - 1));
    }
    first[four] = low & ~3;
    design.words = std::max(design.words, (high - first[four]) / 4 + 1);
  }
  const auto words = static_cast<std::size_t>(design.words);
  if (words > 8) return;  // the plan is refused
  design.vec4_table.resize(count * (1 + taps * (words - 1) + 2 * taps));
  for (std::size_t four = 0; four < count; ++four) {
    std::size_t entry = four;
    const auto add = [&](std::uint32_t word) {
      design.vec4_table[entry] = word;
      entry += count;
    };
    add(static_cast<std::uint32_t>(first[four]));
    for (std::size_t q = 0; q < taps; ++q) {  // two channels with two taps, or one channel with four
      std::vector<std::uint32_t> which(words - 1, 0x3210U);
      which[0] = 0;
      for (std::size_t byte = 0; byte < 4; ++byte) {
        const std::size_t channel = taps == 2 ? 2 * q + byte / 2 : q, tap = byte % taps;
        const auto at =
            static_cast<std::size_t>(place_of_tap(design, 4 * four + channel, static_cast<int>(tap)) - first[four]);
        std::uint32_t& word = which[at < 8 ? 0 : at / 4 - 1];
        const auto digit = static_cast<std::uint32_t>(at < 8 ? at : 4 + at % 4);
        word = (word & ~(15U << 4 * byte)) | digit << 4 * byte;
      }
      for (const std::uint32_t word : which) add(word);
    }
    for (std::size_t value = 4 * four; value < 4 * four + 4; ++value) {
      const std::size_t last = design.out.columns * design.out.channels - 1;
      const std::vector<int> weights = whole_weights(design, std::min(value, last) / design.out.channels);
      for (std::size_t j = 0; j < taps; j += 2)
        add((static_cast<std::uint32_t>(weights[j]) & 65535U) | static_cast<std::uint32_t>(weights[j + 1]) << 16);
    }
  }
}

int rows_needed(const ResampleDesign& design) {
  const auto each = static_cast<std::size_t>(design.rows_each);
  int most = design.taps();
  for (std::size_t top = 0; top < design.out.rows; top += each) {
    const std::size_t last = std::min(top + each, design.out.rows) - 1;
    most = std::max(most, design.down.from[last] - design.down.from[top] + design.taps());
  }
  return most;
}

KernelSource resample_source(const ResampleDesign& design) {
  KernelSource source = vec4_source("image_resample", design.in, Border::replicate, 0);
  source.text += detail::kernel_text("codegen/pair_products") + detail::kernel_text("image/operator_resample");
  for (const auto& [name, value] : {std::pair{"TAPS", design.taps()}, std::pair{"WORDS", design.words},
                                    std::pair{"ROWS_EACH", design.rows_each}, std::pair{"ROWS_IN", design.rows_in}})
    source.defines.emplace_back(name, std::to_string(value));
  source.defines.emplace_back("ONE_OF_SCALE", literal(1 / design.scale()));
  return source;
}

class ResampleStep final : public TableStep {
 public:
  ResampleStep(const Device& device, const ResampleDesign& design)
      : TableStep(device.compile(resample_source(design)).kernel("resample")) {
    std::vector<float> shares;  // two taps: the second row's weight, applied to the difference; four taps: all weights
    for (std::size_t i = 0; i < design.down.weights.size(); ++i) {
      if (design.taps() == 4 || i % 2 == 1)
        shares.push_back(static_cast<float>(double{design.down.weights[i]} / design.scale()));
    }
    Queue queue = device.queue();
    tables_ = {uploaded(device, queue, design.vec4_table, "vec4 table"),
               uploaded(device, queue, design.down.from, "row places"), uploaded(device, queue, shares, "row weights")};
    queue.finish();
    launch_ = {.groups = {groups_for(vec4_count(design.out), kResampleItems),
                          groups_for(design.out.rows, static_cast<std::size_t>(design.rows_each))},
               .items = {kResampleItems}};
  }

 private:
  std::vector<std::size_t> numbers(const Image& in, const Image& out) const override {
    return {in.rows(),
            in.columns() * in.channels(),
            out.rows(),
            out.columns() * out.channels(),
            aligned_for_vec4(in) ? 1U : 0U,
            aligned_for_vec4(out) ? 1U : 0U};
  }
};

}  // namespace

void list_resample(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  ResizeAxisTaps axes;
  if (link.in.depth != Depth::u8 || !axis_taps_of_resize(chain, link, axes)) return;
  ResampleDesign design{.in = link.in, .out = link.out, .down = axes.down, .across = axes.across};
  const int taps = design.taps();
  if (taps != design.down.taps || (taps != 2 && taps != 4)) return;
  make_vec4_table(design);
  const double in_values = values_of(link.in), out_values = values_of(link.out);
  const double made = out_values / static_cast<double>(link.out.rows) * static_cast<double>(link.in.rows);
  for (const int rows_each : {16, 8}) {
    design.rows_each = rows_each;
    design.rows_in = rows_needed(design);
    StepPlan plan{.name = "resample", .parameters = {{"rows", std::to_string(rows_each)}}};
    if (design.words > 8 || design.words * design.rows_in > kMostWords) {
      plan.refusal =
          fmt::format("4 channels of {} rows need {} words of {} input rows; registers hold at most {} words",
                      rows_each, design.words, design.rows_in, kMostWords);
    } else if (device.limits().work_group < kResampleItems) {
      plan.refusal = fmt::format("needs work-groups of {} work-items, the device allows {}", kResampleItems,
                                 device.limits().work_group);
    }
    plan.cost = {.flops = made * (3 + 2 * taps) + out_values * (2 + taps),
                 .bytes = in_values + out_values,
                 .launches = 1,
                 .efficiency = rows_each == 16 ? 0.7 : 0.68};
    plan.kernels = [design] { return std::vector<KernelSource>{resample_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const ResampleStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
