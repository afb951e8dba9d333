// Variant `bands`: separable filters of 8-bit images; both passes are products of byte matrices.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kBandItems = 32, kBandBlock = 16, kBandRows = 8;
constexpr double kMostOff = 0.02;  // largest error before rounding, in levels
constexpr int kByBytes = 16;       // fraction bits with which results are aligned to bytes, so that no shift is needed

struct WholeLine {  // weights of a row or a column as 16-bit integers
  std::vector<int> weights = {};
  int bits = 0;      // fraction bits of the sums made with them
  double error = 0;  // bound for values up to 255
  int shift() const { return bits == kByBytes ? 0 : 24 - bits; }
};

struct BandsDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  WholeLine down = {}, across = {};
  bool never_beyond = false;
  // Channels on either side; products of 32 channels across, of 16 rows down.
  std::size_t reach = 0, half = 1, half_down = 1;
  std::size_t tiles = 8, sub_groups = 3, batches = 4, rows_each = 56;
  std::size_t resident_sub_groups = 12;  // per compute unit: leaves 168 registers per lane
  // Added to the 16-bit results of the first product, and to the sums of the second.
  std::uint32_t added = 0, rounding = 0;
  double off = 0;
  bool interleaved() const { return reach + 14 <= kBandBlock * half; }  // each lane holds four neighbouring channels
  std::size_t own() const { return kBandBlock * tiles * sub_groups; }
  std::size_t local_bytes() const {
    const std::size_t line = own() + 2 * kBandBlock * half;
    return kBandRows * (batches * (line + kBandBlock) + own() + kBandBlock * sub_groups) + sizeof(int) * line;
  }
  std::size_t resident() const { return std::max<std::size_t>(resident_sub_groups / sub_groups, 1); }
};

// Rounds weights * scale to 16-bit integers; false if one does not fit.
bool whole_line(const std::vector<double>& weights, double scale, WholeLine& line) {
  double above = 0, below = 0;
  line.weights.clear();
  for (const double weight : weights) {
    const double whole = std::nearbyint(weight * scale), error = whole / scale - weight;
    if (!(whole <= 65535)) return false;
    (error > 0 ? above : below) += std::abs(error);
    line.weights.push_back(static_cast<int>(whole));
  }
  line.error = 255 * std::max(above, below);
  return true;
}

// Half of the largest contribution of the omitted product (low bytes of weights times low bytes of values): the bound
// of the error after its mean was added.
double left_out(const WholeLine& down) {
  double sum = 0;
  for (const int weight : down.weights) sum += weight & 255;
  return std::ldexp(127.5 * sum / 256, -down.bits);
}

// Tries scales of the horizontal weights, with the inverse scale of the vertical ones; keeps that of the least error.
void choose_scales(const std::vector<double>& mean, const std::vector<double>& rest, double gain, BandsDesign& design) {
  const auto lost = [&](const BandsDesign& with) {
    return gain * with.across.error + with.down.error + left_out(with.down);
  };
  design.off = INFINITY;
  int most_bits = 23;
  while (most_bits > 1 && 255.5 * gain * std::ldexp(1.0, most_bits) >= 4294967295.0) --most_bits;
  for (const auto& [across_bits, down_bits] : {std::pair{kByBytes, design.never_beyond ? kByBytes : most_bits},
                                               std::pair{kByBytes, most_bits}, std::pair{23, most_bits}}) {
    BandsDesign tried = design;
    tried.across.bits = across_bits;
    while (tried.across.bits > 9 &&
           *std::max_element(mean.begin(), mean.end()) * std::ldexp(0.96, tried.across.bits) > 65535)
      --tried.across.bits;
    tried.down.bits = down_bits;
    while (tried.down.bits > 1 &&
           *std::max_element(rest.begin(), rest.end()) * std::ldexp(1.04, tried.down.bits) > 65535)
      --tried.down.bits;
    for (int trial = 0; trial < 2000; ++trial) {
      const double part = 1 - trial / 50000.0;
      if (!whole_line(mean, std::ldexp(part, tried.across.bits), tried.across) ||
          !whole_line(rest, std::ldexp(1 / part, tried.down.bits), tried.down))
        continue;
      tried.off = lost(tried);
      if (tried.off < design.off - 1e-9) design = tried;
    }
    if (design.off < 0.8 * kMostOff) return;
  }
}

bool make_bands(const Product& product, BandsDesign& design) {
  const auto usable = [](const std::vector<double>& weights) {
    return std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0 && std::isfinite(w); }) &&
           *std::max_element(weights.begin(), weights.end()) > 0;
  };
  if (!usable(product.down) || !usable(product.across)) return false;
  double across = 0, down = 0;
  for (const double weight : product.across) across += weight;
  for (const double weight : product.down) down += weight;
  const double gain = across * down;
  if (!(gain > 1e-3 && gain < 1e5)) return false;
  // Normalizes the row to a sum of 1; the column gets the factor.
  std::vector<double> mean = product.across, rest = product.down;
  for (double& weight : mean) weight /= across;
  for (double& weight : rest) weight *= across;
  choose_scales(mean, rest, gain, design);
  if (!std::isfinite(design.off)) return false;
  // Sum of three corrections: truncation to two bytes after the first product, the omitted product, and one half for
  // rounding. It is added to the first product's results; a remainder above 0.003 is added to the second product's
  // sums.
  int low_bits = 0;
  double sum = 0;
  for (const int weight : design.across.weights) low_bits |= weight;
  for (const int weight : design.down.weights) sum += weight;
  const bool exact = (low_bits & ((1 << (design.across.bits - 8)) - 1)) == 0;
  const double one = std::ldexp(1.0, design.down.bits), each = sum / 256;
  const double wanted = one * (0.5 + left_out(design.down)) + (exact ? 0 : 0.5 * each);
  const double added = std::clamp(std::nearbyint(wanted / each), 0.0, 200.0), rest_wanted = wanted - added * each;
  design.added = static_cast<std::uint32_t>(added) * 65537U;
  design.off += exact ? 0 : 0.5 / 256 * gain;
  if (rest_wanted > 0.003 * one) {
    design.rounding = static_cast<std::uint32_t>(rest_wanted);
  } else {
    design.off += std::abs(rest_wanted) / one;
  }
  return true;
}

// Weights as fragments of the matrix product per lane, first the row's, then the column's. Results 0 to 7 use the high
// bytes of the weights, 8 to 15 the low bytes. The column's fragments match the layout of the first product's results,
// which alternate low and high bytes.
std::vector<std::uint32_t> band_fragments(const BandsDesign& design) {
  std::vector<std::uint32_t> fragments;
  const auto weight_at = [](const WholeLine& line, std::ptrdiff_t away, std::ptrdiff_t each) -> std::uint32_t {
    const std::ptrdiff_t tap = away / each + static_cast<std::ptrdiff_t>(line.weights.size() / 2);
    if (away % each != 0 || tap < 0 || tap >= std::ssize(line.weights)) return 0;
    return static_cast<std::uint32_t>(line.weights[static_cast<std::size_t>(tap)]);
  };
  const auto add = [&](std::size_t products, const auto& byte_of) {
    for (std::size_t product = 0; product < products; ++product) {
      for (std::size_t lane = 0; lane < kBandItems; ++lane) {
        for (std::size_t part = 0; part < 4; ++part) {
          std::uint32_t word = 0;
          for (std::size_t e = 0; e < 4; ++e)
            word |= byte_of(2 * product + part / 2, lane / 4, lane % 4, e, part % 2 == 0) << 8 * e;
          fragments.push_back(word);
        }
      }
    }
  };
  for (std::size_t upper_half = 0; upper_half < 2; ++upper_half) {
    add(design.half, [&](std::size_t block, std::size_t result, std::size_t t, std::size_t e, bool upper) {
      const std::size_t from = kBandBlock * (block + upper_half) + 4 * t + e;
      const std::size_t to =
          kBandBlock * design.half +
          (design.interleaved() ? 4 * (result / 2) + 2 * upper_half + result % 2 : 8 * upper_half + result);
      const std::uint32_t weight =
          weight_at(design.across, static_cast<std::ptrdiff_t>(from) - static_cast<std::ptrdiff_t>(to),
                    static_cast<std::ptrdiff_t>(design.shape.channels));
      return upper ? weight >> 8 : weight & 255U;
    });
  }
  const std::size_t newest = 2 * design.half_down - 1;
  for (const bool odd : {false, true}) {  // after an even step the newest rows are stored before the oldest
    add(design.half_down, [&](std::size_t block, std::size_t result, std::size_t t, std::size_t e, bool upper) {
      const std::size_t age = odd ? block : block + 1 < newest ? block + 1 : block + 1 == newest ? newest : 0;
      const std::size_t from = kBandRows * age + 2 * t + e / 2, to = kBandRows * design.half_down - 4 + result;
      const std::uint32_t weight =
          weight_at(design.down, static_cast<std::ptrdiff_t>(from) - static_cast<std::ptrdiff_t>(to), 1);
      if (e % 2 == 0) return upper ? 0U : weight >> 8;
      return upper ? weight >> 8 : weight & 255U;
    });
  }
  return fragments;
}

KernelSource bands_source(const BandsDesign& design) {
  KernelSource source = vec4_source("image_bands", design.shape, design.border, design.constant);
  source.text += detail::kernel_text("image/border_words") + detail::kernel_text("image/operator_bands");
  for (const auto& [name, value] :
       {std::pair{"HALF", design.half}, std::pair{"HALF_DOWN", design.half_down}, std::pair{"REACH", design.reach},
        std::pair{"TILES", design.tiles}, std::pair{"SUB_GROUPS", design.sub_groups},
        std::pair{"BATCHES", design.batches}, std::pair{"RESIDENT", design.resident()},
        std::pair{"SHIFT_ACROSS", static_cast<std::size_t>(design.across.shift())},
        std::pair{"SHIFT_DOWN", static_cast<std::size_t>(design.down.shift())}}) {
    source.defines.emplace_back(name, std::to_string(value));
  }
  source.defines.emplace_back("MOST_SUM",
                              std::to_string(static_cast<std::uint64_t>(std::ldexp(255.49, design.down.bits))) + "u");
  source.defines.emplace_back("ADDED", std::to_string(design.added) + "u");
  source.defines.emplace_back("ROUNDING", std::to_string(design.rounding) + "u");
  if (design.interleaved()) source.defines.emplace_back("INTERLEAVED", "1");
  if (design.never_beyond) source.defines.emplace_back("NEVER_BEYOND", "1");
  return source;
}

class BandsStep final : public Step {
 public:
  BandsStep(const Device& device, const BandsDesign& design)
      : kernel_(device.compile(bands_source(design)).kernel("bands")),
        rows_each_(static_cast<int>(design.rows_each)),
        launch_{.groups = {groups_for(design.shape.columns * design.shape.channels, design.own()),
                           groups_for(design.shape.rows, design.rows_each)},
                .items = {kBandItems * design.sub_groups}} {
    const std::vector<std::uint32_t> fragments = band_fragments(design);
    Queue queue = device.queue();
    fragments_ = uploaded(device, queue, fragments, "bands of weights");
    queue.finish();
  }
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    const auto aligned = [](const Image& image) { return image.offset() % 16 == 0 && image.pitch() % 16 == 0 ? 1 : 0; };
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const int value : {static_cast<int>(in.rows()), static_cast<int>(in.columns()), aligned(in), aligned(out)})
      arguments.emplace_back(value);
    arguments.emplace_back(fragments_);
    arguments.emplace_back(rows_each_);
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  int rows_each_;
  Launch launch_;
  Buffer fragments_;
};

// Rows per group that keep all compute units busy. The model charges an incomplete last round more than its share of
// the groups.
std::size_t filling_rows(const Device& device, const BandsDesign& design) {
  const std::size_t strips = groups_for(design.shape.columns * design.shape.channels, design.own());
  const std::size_t units = std::max<std::size_t>(device.limits().compute_units, 1), resident = design.resident();
  const std::size_t again = kBandRows * (2 * design.half_down - 1) + 4;
  std::size_t best = 0;
  double least = INFINITY;
  const std::size_t most =
      design.shape.channels == 1 && design.half_down == 1 ? 112 : 232;  // larger values are slower on the H200
  for (std::size_t rows = 16; rows <= most; rows += kBandRows) {
    const std::size_t groups = groups_for(strips * groups_for(design.shape.rows, rows), units),
                      last = groups % resident;
    const double share = static_cast<double>(last) / static_cast<double>(resident);
    const double full = static_cast<double>(groups - last) + static_cast<double>(resident) * std::pow(share, 0.6);
    const double time = full * static_cast<double>(rows + again);
    if (time > least) continue;
    least = time;
    best = rows;
  }
  return best;
}

// Sub-groups per group that compute the fewest channels beyond the end of a row.
std::size_t fitting_sub_groups(const BandsDesign& design) {
  BandsDesign other = design;
  std::size_t best = 3, least = static_cast<std::size_t>(-1);
  for (const std::size_t sub_groups : {3, 4, 2}) {
    other.sub_groups = sub_groups;
    const std::size_t made = groups_for(design.shape.columns * design.shape.channels, other.own()) * other.own();
    if (made >= least) continue;
    least = made;
    best = sub_groups;
  }
  return best;
}

}  // namespace

void list_bands(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  Product product;
  if (link.in.depth != Depth::u8 || link.operations.size() != 1 ||
      !product_of(link.operations.front(), Depth::u8, product) || product.step != 1)
    return;
  if (!border_fits(chain, Depth::u8)) return;
  BandsDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant};
  design.never_beyond = never_beyond(product);
  design.reach = product.across.size() / 2 * link.in.channels;
  design.half = (design.reach + 23) / 16;
  design.half_down = (product.down.size() / 2 + 11) / 8;
  design.tiles = design.half_down > 2 || design.half + design.half_down > 4 ? 4 : 8;
  std::string refusal;
  if (design.half > 4 || design.half_down > 4 || design.half + design.half_down > 7) {
    refusal = fmt::format("registers hold at most 28 rows and 56 channels on either side, and not both, got {} and {}",
                          product.down.size() / 2, design.reach);
  } else if (!make_bands(product, design)) {
    refusal = "needs weights of at least 0 with a sum from 0.001 to 100000";
  } else if (design.off > kMostOff) {
    refusal = fmt::format("16-bit weights give an error of {:.3f} of a level, at most 0.02 is allowed", design.off);
  } else if (device.limits().work_group < kBandItems) {
    refusal = fmt::format("needs work-groups of 32 work-items, the device allows {}", device.limits().work_group);
  }
  const double values = values_of(link.in);
  const double bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes());
  const bool several = device.limits().sub_group == kBandItems && device.limits().work_group >= 4 * kBandItems;
  design.sub_groups = several ? fitting_sub_groups(design) : 1;
  for (const std::size_t rows : {0, 64, 32}) {
    design.rows_each = rows == 0 ? filling_rows(device, design) : rows;
    if (rows == 32 && several && design.half + design.half_down == 2) {  // fits 128 registers
      design.sub_groups = 2;
      design.resident_sub_groups = 16;
    }
    StepPlan plan{.name = "bands",
                  .parameters = {{"rows", rows == 0 ? "fill" : std::to_string(rows)},
                                 {"sub-groups", std::to_string(design.sub_groups)}},
                  .refusal = refusal};
    if (plan.refusal.empty() && device.limits().local_memory < design.local_bytes())
      plan.refusal = fmt::format("needs {} KiB of local memory, the device has {}", design.local_bytes() / 1024,
                                 device.limits().local_memory / 1024);
    const double again =
        static_cast<double>(kBandRows * (2 * design.half_down - 1)) / static_cast<double>(design.rows_each);
    const double slower = device.limits().matrix_units ? 1 : 100;  // without matrix instructions the products are loops
    plan.cost = {.flops = slower * 8 * values *
                          (static_cast<double>(design.half) * (1 + again) + static_cast<double>(design.half_down)),
                 .bytes = bytes / 2 * (1 + 0.15 * again) + bytes / 2,
                 .launches = 1,
                 .efficiency = rows == 0    ? 0.948
                               : rows == 64 ? 0.9
                                            : 0.88};
    plan.kernels = [design] { return std::vector<KernelSource>{bands_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const BandsStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
