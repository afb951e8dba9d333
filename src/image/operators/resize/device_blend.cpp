// Variant `blend`: enlarging 8-bit images with two taps per axis; both passes are products of byte matrices.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kBlendItems = 32, kBlendBytes = 32, kBlendRows = 8, kBlendResident = 20, kBlendBatches = 4;
constexpr int kBlendScale = 65535;  // sum of a result's two weights
// One half for rounding, plus the mean of what truncation to two bytes and the omitted product of low bytes remove.
constexpr std::uint32_t kBlendAdded = 129 * 65537;

struct BlendDesign {
  Shape in = {}, out = {};
  AxisTaps down = {}, across = {};
  std::size_t tiles = 4, sub_groups = 2, rows_each = 128;
  std::size_t line = 0;  // bytes of a row that a group reads
  std::vector<std::uint32_t> across_factors = {}, down_factors = {};
  // First input byte of every 8 output channels; first block of 8 input rows of every 8 output rows.
  std::vector<int> bases = {}, eights = {};
  std::size_t own() const { return 16 * tiles * sub_groups; }
  std::size_t wide() const { return out.columns * out.channels; }
  std::size_t local_bytes() const { return kBlendRows * (kBlendBatches * (line + 16) + own() + 16 * sub_groups); }
};

struct BlendTap {  // input position and weight
  int from = 0, weight = 0;
};

// The two taps of an output position along an axis of `length`; positions beyond the ends are clamped.
void taps_of(const AxisTaps& axis_taps, std::size_t place, std::size_t length, BlendTap* taps) {
  const int second = static_cast<int>(std::lrint(double{axis_taps.weights[2 * place + 1]} * kBlendScale));
  const int last = static_cast<int>(length) - 1;
  for (int k = 0; k < 2; ++k)
    taps[k] = {std::clamp(axis_taps.from[place] + k, 0, last), k == 0 ? kBlendScale - second : second};
}

// Adds a weight to a lane's two bytes of it: the high byte for results 0 to 7, the low byte for 8 to 15.
void add_weight(std::uint32_t* word, std::size_t byte, int weight) {
  const auto old = static_cast<int>((word[0] >> 8 * byte & 255U) << 8 | (word[1] >> 8 * byte & 255U));
  const auto sum = static_cast<std::uint32_t>(std::min(old + weight, kBlendScale));
  word[0] = (word[0] & ~(255U << 8 * byte)) | sum >> 8 << 8 * byte;
  word[1] = (word[1] & ~(255U << 8 * byte)) | (sum & 255U) << 8 * byte;
}

// False if eight channels need more input bytes than one product reads.
bool make_across(BlendDesign& design) {
  const std::size_t channels = design.out.channels, tiles = groups_for(design.wide(), design.own()) * design.own() / 8;
  design.bases.resize(tiles);
  design.across_factors.assign(tiles * kBlendItems * 4, 0);
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    BlendTap taps[16];
    int low = 1 << 30, high = 0;
    for (std::size_t g = 0; g < 8; ++g) {  // order that gives each lane four neighbouring channels of a row
      const std::size_t value = std::min(16 * (tile / 2) + 4 * (g / 2) + 2 * (tile % 2) + g % 2, design.wide() - 1);
      taps_of(design.across, value / channels, design.in.columns, taps + 2 * g);
      for (std::size_t k = 2 * g; k < 2 * g + 2; ++k) {
        taps[k].from = taps[k].from * static_cast<int>(channels) + static_cast<int>(value % channels);
        low = std::min(low, taps[k].from);
        high = std::max(high, taps[k].from);
      }
    }
    const int base = low & ~3;
    if (high - base >= static_cast<int>(kBlendBytes)) return false;
    design.bases[tile] = base;
    for (std::size_t k = 0; k < 16; ++k) {
      const auto at = static_cast<std::size_t>(taps[k].from - base), lane = 4 * (k / 2) + at % 16 / 4;
      add_weight(&design.across_factors[(tile * kBlendItems + lane) * 4 + 2 * (at / 16)], at % 4, taps[k].weight);
    }
  }
  const std::size_t each = design.own() / 8;
  for (std::size_t first = 0; first < tiles; first += each) {
    const auto reach =
        static_cast<std::size_t>(design.bases[first + each - 1] - (design.bases[first] & ~15)) + kBlendBytes;
    design.line = std::max(design.line, (reach + 15) / 16 * 16);
  }
  return true;
}

// False if eight output rows need more than two adjacent blocks of eight input rows.
bool make_down(BlendDesign& design) {
  const std::size_t count = groups_for(design.out.rows, kBlendRows);
  design.eights.assign(count + 1, 0);  // the kernel loads one entry more than it uses
  design.down_factors.assign((count + 1) * kBlendItems * 4, 0);
  for (std::size_t eight = 0; eight < count; ++eight) {
    BlendTap taps[16];
    int low = 1 << 30, high = 0;
    for (std::size_t g = 0; g < 8; ++g) {
      taps_of(design.down, std::min(8 * eight + g, design.out.rows - 1), design.in.rows, taps + 2 * g);
      for (std::size_t k = 2 * g; k < 2 * g + 2; ++k) {
        low = std::min(low, taps[k].from);
        high = std::max(high, taps[k].from);
      }
    }
    if (high / 8 > low / 8 + 1) return false;
    design.eights[eight] = low / 8;
    for (std::size_t g = 0; g < 8; ++g) {
      int weights[2][8] = {};  // for the first and the second block
      for (std::size_t k = 2 * g; k < 2 * g + 2; ++k) {
        int& weight = weights[taps[k].from / 8 - low / 8][taps[k].from % 8];
        weight = std::min(weight + taps[k].weight, kBlendScale);
      }
      for (std::size_t part = 0; part < 8; ++part) {
        const std::size_t t = part % 4, second = part / 4;
        std::uint32_t* word = &design.down_factors[(eight * kBlendItems + 4 * g + t) * 4 + 2 * second];
        for (std::size_t e = 0; e < 4; ++e) {  // low and high bytes of a row alternate
          const auto weight = static_cast<std::uint32_t>(weights[second][2 * t + e / 2]);
          word[0] |= (e % 2 == 0 ? 0U : weight >> 8) << 8 * e;
          word[1] |= (e % 2 == 0 ? weight >> 8 : weight & 255U) << 8 * e;
        }
      }
    }
  }
  return true;
}

KernelSource blend_source(const BlendDesign& design) {
  KernelSource source = vec4_source("image_blend", design.in, Border::replicate, 0);
  source.text += detail::kernel_text("image/operator_blend");
  for (const auto& [name, value] :
       {std::pair{"TILES", design.tiles}, std::pair{"SUB_GROUPS", design.sub_groups}, std::pair{"LINE", design.line},
        std::pair{"BATCHES", kBlendBatches},
        std::pair{"RESIDENT", std::max<std::size_t>(kBlendResident / design.sub_groups, 1)}})
    source.defines.emplace_back(name, std::to_string(value));
  source.defines.emplace_back("ADDED", std::to_string(kBlendAdded) + "u");
  return source;
}

class BlendStep final : public Step {
 public:
  BlendStep(const Device& device, const BlendDesign& design)
      : kernel_(device.compile(blend_source(design)).kernel("blend")),
        rows_each_(static_cast<int>(design.rows_each)),
        launch_{.groups = {groups_for(design.wide(), design.own()), groups_for(design.out.rows, design.rows_each)},
                .items = {kBlendItems * design.sub_groups}} {
    Queue queue = device.queue();
    tables_ = {uploaded(device, queue, design.across_factors, "weights across"),
               uploaded(device, queue, design.bases, "first bytes"),
               uploaded(device, queue, design.down_factors, "weights down"),
               uploaded(device, queue, design.eights, "first rows")};
    queue.finish();
  }
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    const auto aligned = [](const Image& image) { return image.offset() % 16 == 0 && image.pitch() % 16 == 0 ? 1 : 0; };
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const std::size_t value :
         {in.rows(), in.columns() * in.channels(), out.rows(), out.columns() * out.channels()})
      arguments.emplace_back(static_cast<int>(value));
    for (const Image* image : {&in, &out}) arguments.emplace_back(aligned(*image));
    for (const Buffer& table : tables_) arguments.emplace_back(table);
    arguments.emplace_back(rows_each_);
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  int rows_each_;
  Launch launch_;
  std::vector<Buffer> tables_;
};

}  // namespace

void list_blend(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  ResizeAxisTaps axes;
  if (link.in.depth != Depth::u8 || !axis_taps_of_resize(chain, link, axes)) return;
  BlendDesign design{.in = link.in, .out = link.out, .down = axes.down, .across = axes.across};
  if (design.across.taps != 2 || design.down.taps != 2) return;
  const bool several = device.limits().sub_group == kBlendItems && device.limits().work_group >= 2 * kBlendItems;
  design.sub_groups = several ? 2 : 1;
  std::string refusal;
  if (!make_across(design) || !make_down(design)) {
    refusal = "needs 8 output channels within 32 input bytes and 8 output rows within 16 input rows";
  } else if (device.limits().work_group < kBlendItems) {
    refusal = fmt::format("needs work-groups of 32 work-items, the device allows {}", device.limits().work_group);
  } else if (device.limits().local_memory < design.local_bytes()) {
    refusal = fmt::format("needs {} KiB of local memory, the device has {}", design.local_bytes() / 1024,
                          device.limits().local_memory / 1024);
  }
  const double in_values = values_of(link.in), out_values = values_of(link.out);
  for (const std::size_t rows : {128, 216}) {
    design.rows_each = rows;
    StepPlan plan{.name = "blend", .parameters = {{"rows", std::to_string(rows)}}, .refusal = refusal};
    const double slower = device.limits().matrix_units ? 1 : 100;  // without matrix instructions the products are loops
    plan.cost = {.flops = slower * 8 * 2 * out_values,
                 .bytes = in_values + out_values,
                 .launches = 1,
                 .efficiency = (link.in.channels == 1 ? 0.62 : 0.75) - (rows == 128 ? 0 : 0.02)};
    plan.kernels = [design] { return std::vector<KernelSource>{blend_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const BlendStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
