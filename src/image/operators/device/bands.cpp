// A column of weights times a row of them for bytes: both passes are products of matrices of bytes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/operators/device/fours.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kBandItems = 32, kBandBlock = 16;
constexpr double kMostOff = 0.015;  // of a level, before a result is rounded

struct WholeLine {  // a row or a column of weights as whole numbers of one or two bytes
  std::vector<int> weights = {};
  std::size_t planes = 1;
  double scale = 1, sum = 0;  // the sum is of the whole numbers
  double error = 0;           // of a mean of values to 1, at most
};

struct BandsDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  WholeLine down = {}, across = {};
  bool never_beyond = false;
  std::size_t blocks = 2, pairs = 2, tiles = 4, sub_groups = 1;
  int steps = 4;
  // What the first product makes stands in the upper half of a word: `level` of it are one level of the image.
  int shift = 0;
  double level = 1, divisor = 1, off = 0;
  std::size_t resident() const {
    const std::size_t registers = 4 * tiles * pairs + 2 * (tiles + blocks) + 2 * (blocks + 1) * across.planes +
                                  2 * (pairs + 1) * down.planes + 24 * (std::min<std::size_t>(blocks, 4) - 2) + 48;
    return 4 * std::clamp<std::size_t>(512 / ((registers + 7) / 8 * 8), 1, 6);
  }
};

WholeLine whole_line(const std::vector<double>& weights) {
  const double most = *std::max_element(weights.begin(), weights.end());
  WholeLine line{.error = INFINITY};
  for (std::size_t planes = 1; planes <= 2; ++planes) {
    const int top = planes == 1 ? 255 : 65535;
    for (int turn = 0; turn < (planes == 1 ? 255 : 1000); ++turn) {  // of equally good scales the smallest
      const double scale = (top - turn) / most;
      double above = 0, below = 0, sum = 0;
      for (const double weight : weights) {
        const double error = std::nearbyint(weight * scale) / scale - weight;
        (error > 0 ? above : below) += std::abs(error);
        sum += weight;
      }
      const double error = std::max(above, below) / sum;
      if (error > line.error + 1e-12) continue;
      line.error = error;
      line.scale = scale;
      line.planes = planes;
    }
    if (255 * line.error < 1e-4) break;
  }
  for (const double weight : weights) {
    line.weights.push_back(static_cast<int>(std::nearbyint(weight * line.scale)));
    line.sum += line.weights.back();
  }
  return line;
}

bool make_bands(const Product& product, BandsDesign& design) {
  const auto usable = [](const std::vector<double>& weights) {
    return std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0 && std::isfinite(w); }) &&
           *std::max_element(weights.begin(), weights.end()) > 0;
  };
  if (!usable(product.down) || !usable(product.across)) return false;
  design.across = whole_line(product.across);
  design.down = whole_line(product.down);
  while (255.5 * design.across.sum * std::ldexp(1.0, design.shift + 1) < 4294967295.0) ++design.shift;
  const double gain = design.across.sum * design.down.sum / (design.across.scale * design.down.scale);
  design.level = design.across.sum * std::ldexp(1.0, design.shift - 16) / gain;
  design.divisor = design.level * design.down.sum / (design.down.planes == 2 ? 256 : 1);
  double low = 0;
  for (const int weight : design.down.weights) low += weight & 255;
  design.off = 255 * gain * (design.across.error + design.down.error) + (design.shift < 16 ? 0.5 / design.level : 0) +
               (design.down.planes == 2 ? 127.5 * low / 256 / design.divisor : 0);
  return true;
}

double rounding_down(const BandsDesign& design) {
  double low = 0;
  for (const int weight : design.down.weights) low += weight & 255;
  return design.divisor / 2 + (design.down.planes == 2 ? 127.5 * low / 256 : 0);
}

// First factors as lanes hold them, the row's before the column's. Channels are dealt out so that a lane has four
// neighbours in the end, rows as the first product leaves them.
std::vector<std::uint32_t> band_fragments(const BandsDesign& design) {
  std::vector<std::uint32_t> fragments;
  const auto add = [&](const WholeLine& line, std::size_t blocks, bool across) {
    for (std::size_t plane = 0; plane < line.planes; ++plane) {
      for (std::size_t product = 0; product < (blocks + 1) / 2; ++product) {
        for (std::size_t lane = 0; lane < kBandItems; ++lane) {
          for (std::size_t part = 0; part < 4; ++part) {  // results g and g + 8 of one block, then of the next
            const std::size_t result = lane / 4 + 8 * (part % 2), block = 2 * product + part / 2, t = lane % 4;
            std::uint32_t word = 0;
            for (std::size_t e = 0; e < 4 && block < blocks; ++e) {
              const std::size_t from = kBandBlock * block + (across ? 4 * t + e : 8 * (e / 2) + 2 * t + e % 2);
              const std::size_t to = across ? 4 * (result % 8 / 2) + 2 * (result / 8) + result % 2 : result;
              const auto each = static_cast<std::ptrdiff_t>(across ? design.shape.channels : 1);
              const auto away = static_cast<std::ptrdiff_t>(from) - static_cast<std::ptrdiff_t>(8 * (blocks - 1) + to) +
                                static_cast<std::ptrdiff_t>(line.weights.size() / 2) * each;
              if (away < 0 || away % each != 0 || away / each >= std::ssize(line.weights)) continue;
              const auto weight = static_cast<std::uint32_t>(line.weights[static_cast<std::size_t>(away / each)]);
              word |= (weight >> 8 * (line.planes - 1 - plane) & 255U) << 8 * e;
            }
            fragments.push_back(word);
          }
        }
      }
    }
  };
  add(design.across, design.blocks, true);
  add(design.down, design.pairs, false);
  return fragments;
}

KernelSource bands_source(const BandsDesign& design) {
  KernelSource source = fours_source("image_bands", design.shape, design.border, design.constant);
  source.text += detail::kernel_text("image/byte_places") + detail::kernel_text("image/operator_bands");
  int byte = 2;  // of a result: the highest with room
  while (byte > 0 && std::ldexp(1.0, 32 + 8 * byte) / design.divisor >= 4294967295.0) --byte;
  const auto reciprocal = static_cast<std::uint64_t>(std::ceil(std::ldexp(1.0, 32 + 8 * byte) / design.divisor));
  for (const auto& [name, value] :
       {std::pair{"BLOCKS", design.blocks}, std::pair{"PAIRS", design.pairs}, std::pair{"TILES", design.tiles},
        std::pair{"STEPS", static_cast<std::size_t>(design.steps)}, std::pair{"PLANES_ACROSS", design.across.planes},
        std::pair{"PLANES_DOWN", design.down.planes}, std::pair{"SHIFT", static_cast<std::size_t>(design.shift)},
        std::pair{"ROUNDING_ACROSS", std::size_t{design.shift < 16 ? 1U << (15 - design.shift) : 0U}},
        std::pair{"ROUNDING_DOWN", static_cast<std::size_t>(rounding_down(design))},
        std::pair{"RESULT_BYTE", static_cast<std::size_t>(byte)}, std::pair{"SUB_GROUPS", design.sub_groups},
        std::pair{"RESIDENT", design.resident() / design.sub_groups}}) {
    source.defines.emplace_back(name, std::to_string(value));
  }
  source.defines.emplace_back("RECIPROCAL", std::to_string(reciprocal) + "u");
  source.defines.emplace_back("MOST_SUM", std::to_string(static_cast<std::uint64_t>(255.49 * design.divisor)) + "u");
  if (design.border == Border::constant) source.defines.emplace_back("FILLED", "1");
  if (design.never_beyond) source.defines.emplace_back("NEVER_BEYOND", "1");
  return source;
}

class BandsStep final : public Step {
 public:
  BandsStep(const Device& device, const BandsDesign& design)
      : kernel_(device.compile(bands_source(design)).kernel("bands")),
        launch_{.groups = {groups_for(design.shape.columns * design.shape.channels,
                                      kBandBlock * design.tiles * design.sub_groups),
                           groups_for(design.shape.rows, kBandBlock * static_cast<std::size_t>(design.steps))},
                .items = {kBandItems * design.sub_groups}} {
    const std::vector<std::uint32_t> fragments = band_fragments(design);
    fragments_ = device.buffer(fragments.size() * sizeof(std::uint32_t), {.name = "bands of weights"});
    Queue queue = device.queue();
    queue.upload(std::span<const std::uint32_t>(fragments), fragments_);
    queue.finish();
  }
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const int value : {static_cast<int>(in.rows()), static_cast<int>(in.columns()), aligned_for_fours(in) ? 1 : 0,
                            aligned_for_fours(out) ? 1 : 0})
      arguments.emplace_back(value);
    arguments.emplace_back(fragments_);
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  Launch launch_;
  Buffer fragments_;
};

// Steps with which all sub-groups are on the device at once, or as near to eight as rounds allow.
int filling_steps(const Device& device, const BandsDesign& design) {
  const std::size_t strips = groups_for(design.shape.columns * design.shape.channels, kBandBlock * design.tiles);
  const std::size_t room = std::max<std::size_t>(device.limits().compute_units * design.resident(), 1);
  const std::size_t rounds = (strips * groups_for(design.shape.rows, 8 * kBandBlock) + room - 1) / room;
  const std::size_t down = std::max<std::size_t>(rounds * room / strips, 1);
  return static_cast<int>(std::clamp<std::size_t>(groups_for(groups_for(design.shape.rows, down), kBandBlock), 1, 12));
}

}  // namespace

void list_bands(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  Product product;
  if (link.in.depth != Depth::u8 || link.operations.size() != 1 ||
      !product_of(link.operations.front(), Depth::u8, product) || product.step != 1)
    return;
  if (chain.border == Border::constant &&
      !(chain.constant >= 0 && chain.constant <= 255 && chain.constant == std::floor(chain.constant)))
    return;
  BandsDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant};
  design.never_beyond = never_beyond(product);
  // What stands beside 16 results on either side, in halves of 16.
  const std::size_t across = product.across.size() / 2 * link.in.channels, down = product.down.size() / 2;
  design.blocks = std::max<std::size_t>((across + 7) / 8 + 1, 2);
  design.pairs = std::max<std::size_t>((down + 7) / 8 + 1, 2);
  std::string refusal;
  if (design.blocks > 7 || design.pairs > 4 || design.blocks + design.pairs > 10) {
    refusal = "24 rows and 48 channels to either side fit the registers at most";
  } else if (!make_bands(product, design)) {
    refusal = "weights below zero";
  } else if (design.off > kMostOff || design.divisor < 2) {
    refusal = fmt::format("two bytes a weight would be off by {:.3f} of a level", design.off);
  } else if (device.limits().work_group < kBandItems) {
    refusal = "needs 32 work-items a group";
  }
  if (design.pairs > 3 || design.blocks > 4) design.tiles = 2;
  const double values = static_cast<double>(link.in.rows * link.in.columns * link.in.channels);
  const double bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes());
  const double products = static_cast<double>((design.blocks + 1) / 2 * design.across.planes +
                                              (design.pairs + 1) / 2 * (design.down.planes + 1));
  const bool few = product.down.size() * product.across.size() <= 81;  // windows are made in less
  // Groups of one sub-group are given out slowly, groups of four end together.
  const bool several = device.limits().sub_group == kBandItems && device.limits().work_group >= 4 * kBandItems;
  for (const auto& [steps, sub_groups] : {std::pair{0, 4}, std::pair{0, 1}, std::pair{4, 4}, std::pair{8, 4}}) {
    if (sub_groups > 1 && steps == 0 && !several) continue;  // the same as the next
    design.sub_groups = several ? static_cast<std::size_t>(sub_groups) : 1;
    design.steps = steps == 0 ? filling_steps(device, design) : steps;
    StepPlan plan{.name = "bands",
                  .parameters = {{"steps", steps == 0 ? "fill" : std::to_string(steps)},
                                 {"sub-groups", std::to_string(design.sub_groups)},
                                 {"bytes", fmt::format("{}+{}", design.across.planes, design.down.planes)}},
                  .refusal = refusal};
    const double again = static_cast<double>(design.pairs - 1) / design.steps;
    const double slower = device.limits().matrix_units ? 1 : 100;  // products one by one
    plan.cost = {.flops = slower * 4.5 * values * products * (1 + 0.5 * again),
                 .bytes = bytes / 2 * (1 + 0.15 * again) + bytes / 2,
                 .launches = 1,
                 .efficiency = (sub_groups > 1 ? 0.945 : 0.9) - 0.002 * steps - (few ? 0.1 : 0)};
    plan.kernels = [design] { return std::vector<KernelSource>{bands_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const BandsStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
