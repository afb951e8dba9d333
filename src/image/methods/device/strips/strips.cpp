// Variant `strips`: separable filters of 8-bit images; sub-groups walk down strips, and the horizontal pass is a
// product of 16-bit float matrices.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ridge/half.hpp>
#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kStripItems = 32, kStripValues = 128, kPieceValues = 8, kBlockValues = 16;

struct StripsDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  std::vector<double> down = {}, across = {};  // the largest weight across is in [0.5, 1); `down` has the scale factor
  std::size_t pad = 0, blocks = 1, planes = 2;
  int batch = 4, ends_batch = 2, rows_each = 16;
  std::size_t registers() const {  // estimate per lane: stored values plus 18 to 42 more
    const std::size_t parts = shape.channels == 3 ? 3 : 2, words = 2 * blocks, bands = 2 * blocks * planes;
    const std::size_t inside = static_cast<std::size_t>(batch) * words;
    const std::size_t at_ends = static_cast<std::size_t>(ends_batch) * words * parts + words * (parts + 3);
    const bool far = shape.channels > 1 && blocks > 1;  // pixels beyond the border are located one by one
    const std::size_t constant_ends = far && border == Border::constant ? 8 * blocks : 0;
    return 4 * down.size() + bands + std::max(inside, at_ends) + constant_ends + (far ? 42 : 18);
  }
  // Sub-groups per compute unit: each of its four partitions has 512 registers per lane to divide among its sub-groups.
  std::size_t resident() const { return 4 * std::clamp<std::size_t>(512 / ((registers() + 7) / 8 * 8), 1, 8); }
  bool never_beyond = false;
};

float nearest_float16(double value) { return from_float16(to_float16(static_cast<float>(value))); }

// Band matrix of the weights as fragments per lane (operand b of mma). A lane's four bytes of a block are two pairs,
// `pair` 0 and 1.
std::vector<std::uint32_t> bands_of(const StripsDesign& design) {
  std::vector<std::uint32_t> bands(design.blocks * design.planes * 2 * kStripItems);
  const auto channels = static_cast<std::ptrdiff_t>(design.shape.channels);
  const auto middle = static_cast<std::ptrdiff_t>(design.across.size() / 2);
  for (std::size_t block = 0; block < design.blocks; ++block) {
    for (std::size_t pair = 0; pair < 2; ++pair) {
      for (std::size_t lane = 0; lane < kStripItems; ++lane) {
        for (std::size_t i = 0; i < 2; ++i) {
          const auto away = static_cast<std::ptrdiff_t>(kBlockValues * block + 4 * (lane % 4) + 2 * pair + i) -
                            static_cast<std::ptrdiff_t>(design.pad + lane / 4);
          const std::ptrdiff_t tap = away / channels + middle;
          if (away % channels != 0 || tap < 0 || tap >= std::ssize(design.across)) continue;
          double rest = design.across[static_cast<std::size_t>(tap)];
          for (std::size_t plane = 0; plane < design.planes; ++plane) {
            const float part = nearest_float16(rest);
            bands[((block * design.planes + plane) * 2 + pair) * kStripItems + lane] |= std::uint32_t{to_float16(part)}
                                                                                        << 16 * i;
            rest -= double{part};
          }
        }
      }
    }
  }
  return bands;
}

// Offset of a sum, because the conversion of bytes to 16-bit floats adds 1024 to each value.
double bias_of(const StripsDesign& design) {
  double sum = 0;
  for (const double weight : design.across) {
    const double first = double{nearest_float16(weight)};
    sum += first + (design.planes == 2 ? double{nearest_float16(weight - first)} : 0);
  }
  return 1024 * sum;
}

KernelSource strips_source(const StripsDesign& design) {
  KernelSource source = vec4_source("image_strips", design.shape, design.border, design.constant);
  source.text += float_table("down_weights", design.down) + detail::kernel_text("image/border_words") +
                 detail::kernel_text("image/operator_strips");
  for (const auto& [name, value] :
       {std::pair{"DOWN", design.down.size()}, std::pair{"BLOCKS", design.blocks}, std::pair{"PLANES", design.planes},
        std::pair{"PAD", design.pad}, std::pair{"BATCH", static_cast<std::size_t>(design.batch)},
        std::pair{"ENDS_BATCH", static_cast<std::size_t>(design.ends_batch)},
        std::pair{"RESIDENT", design.resident()}}) {
    source.defines.emplace_back(name, std::to_string(value));
  }
  source.defines.emplace_back("BIAS", literal(-bias_of(design)));
  if (design.border == Border::constant) source.defines.emplace_back("FILLED", "1");
  if (design.never_beyond) source.defines.emplace_back("NEVER_BEYOND", "1");
  return source;
}

class StripsStep final : public Step {
 public:
  StripsStep(const Device& device, const StripsDesign& design)
      : kernel_(device.compile(strips_source(design)).kernel("strips")), rows_each_(design.rows_each) {
    const std::vector<std::uint32_t> bands = bands_of(design);
    bands_ = device.buffer(bands.size() * sizeof(std::uint32_t), {.name = "bands of weights"});
    Queue queue = device.queue();
    queue.upload(std::span<const std::uint32_t>(bands), bands_);
    queue.finish();
    launch_ = {.groups = {groups_for(design.shape.columns * design.shape.channels, kStripValues),
                          groups_for(design.shape.rows, static_cast<std::size_t>(rows_each_))},
               .items = {kStripItems}};
  }
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    const auto aligned = [](const Image& image, std::size_t bytes) {
      return image.offset() % bytes == 0 && image.pitch() % bytes == 0 ? 1 : 0;
    };
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const int value :
         {static_cast<int>(in.rows()), static_cast<int>(in.columns()), aligned(in, 4), aligned(out, 2)})
      arguments.emplace_back(value);
    arguments.emplace_back(bands_);
    arguments.emplace_back(rows_each_);
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  Launch launch_;
  Buffer bands_;
  int rows_each_;
};

double total(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += std::abs(weight);
  return sum;
}

// Scales the horizontal weights to below 1 for 16-bit floats and the vertical weights by the inverse. The factor is a
// power of two, so both are exact.
bool split(const Product& product, StripsDesign& design) {
  double most = 0;
  for (const double weight : product.across) most = std::max(most, std::abs(weight));
  if (!(most > 0) || !std::isfinite(most)) return false;
  const int exponent = std::ilogb(most) + 1;
  if (std::abs(exponent) > 60) return false;
  for (const double weight : product.across) design.across.push_back(std::ldexp(weight, -exponent));
  for (const double weight : product.down) design.down.push_back(std::ldexp(weight, exponent));
  design.planes = 1;
  for (const double weight : design.across) {
    if (double{nearest_float16(weight)} != weight) design.planes = 2;
  }
  return true;
}

// True if the sums are precise enough. Each sum includes an offset of 1024 per value, so its error is a few units of
// 2^-23 of that, multiplied by the weights down. Sums that fit 24 bits are exact.
bool precise(const StripsDesign& design) {
  const double unit = 1.0 / 1024, across = total(design.across);
  bool whole = design.planes == 1 && 1279 * across / unit < 16777216;
  for (const double weight : design.across) whole = whole && std::fmod(weight, unit) == 0;
  return whole || across * total(design.down) < 2.5;
}

}  // namespace

void list_strips(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  Product product;
  if (link.in.depth != Depth::u8 || link.operations.size() != 1 ||
      !product_of(link.operations.front(), Depth::u8, product) || product.step != 1)
    return;
  if (!border_fits(chain, Depth::u8)) return;
  StripsDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant};
  const std::size_t channels = link.in.channels, down = product.down.size(), across = product.across.size();
  design.pad = (across / 2 * channels + 3) / 4 * 4;
  design.blocks = (design.pad + kPieceValues + (across - 1 - across / 2) * channels + kBlockValues - 1) / kBlockValues;
  design.batch = down > 20 ? 1 : design.blocks <= 2 ? 4 : 2;
  design.ends_batch = design.blocks == 1 ? std::min(design.batch, 2) : 1;
  design.never_beyond = never_beyond(product);
  std::string refusal;
  if (!split(product, design)) {
    refusal = "needs horizontal weights that fit 16-bit floats: a finite largest weight above 0, from 2^-61 to 2^60";
  } else if (down > 33 || design.blocks > 4) {
    refusal = fmt::format("needs a window of at most 33 rows and {} channels on either side, got {} rows and {}",
                          4 * kBlockValues - kPieceValues, down, design.pad + (across - 1 - across / 2) * channels);
  } else if (!precise(design)) {
    refusal = fmt::format("float sums are too inexact: the weights' absolute sum is {:.3g}, at most 2.5 is allowed",
                          total(design.across) * total(design.down));
  } else if (device.limits().work_group < kStripItems) {
    refusal = fmt::format("needs work-groups of 32 work-items, the device allows {}", device.limits().work_group);
  }
  const double values = static_cast<double>(link.in.rows * link.in.columns * channels);
  const double bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes());
  for (const int rows_each : {16, 32, 64}) {
    // Together with the rows around them these are whole batches.
    const int whole = (rows_each + static_cast<int>(down) - 1 + design.batch - 1) / design.batch * design.batch;
    design.rows_each = whole - static_cast<int>(down) + 1;
    StepPlan plan{.name = "strips", .parameters = {{"rows", std::to_string(rows_each)}}, .refusal = refusal};
    const double again = (static_cast<double>(down) - 1) / rows_each;
    // Without matrix instructions the products are loops.
    const double slower = device.limits().matrix_units ? 1 : 100;
    plan.cost = {.flops = slower * 2 * values * (static_cast<double>(down) + 2) * (1 + again),
                 .bytes = bytes / 2 * (1 + 0.15 * again) + bytes / 2,
                 .launches = 1,
                 .efficiency = 0.9 - 0.01 * rows_each / 16};
    plan.kernels = [design] { return std::vector<KernelSource>{strips_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const StripsStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
