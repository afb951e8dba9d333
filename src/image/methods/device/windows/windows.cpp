// Variant `windows`: windows of any weights on 8-bit images as products of byte matrices.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kWindowItems = 32, kStripChannels = 128;
constexpr double kAllowed = 8e-4;        // largest error from rounding the weights, in levels
constexpr double kAllowedOfTwos = 4e-3;  // the same for a power-of-two divisor, which needs no division

// Weights as integers; a result is their sum divided by `divisor`.
struct WholeWeights {
  std::size_t rows = 0, columns = 0, planes = 1;
  std::vector<int> weights = {};
  double divisor = 1;
  bool negative = false, never_beyond = false, power_of_two = false;
};

struct WindowsDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  WholeWeights whole = {};
  int rows_each = 16, ahead = 3;
  std::size_t sub_groups = 1;
  std::size_t reach() const { return whole.columns / 2 * shape.channels; }  // channels to the left
  std::size_t reach_right() const { return (whole.columns - 1 - whole.columns / 2) * shape.channels; }
  std::size_t blocks() const { return (whole.rows + 2) / 4 + 1; }  // blocks of four rows
  std::size_t words() const { return (4 + (whole.columns - 1) * shape.channels + 3) / 4; }
  std::size_t left() const {  // words on either side of a chunk
    const std::size_t most = (std::max(reach(), reach_right()) + 3) / 4;
    return most <= 1 ? 1 : most == 2 ? 2 : 4;
  }
  std::size_t products() const { return (blocks() * words() + 1) / 2; }
  std::size_t registers() const {
    return 4 * products() * whole.planes + blocks() * (words() + 3) +
           static_cast<std::size_t>(ahead) * (4 + 2 * left()) + 4 * whole.planes + 30;
  }
  std::size_t resident() const { return 4 * std::clamp<std::size_t>(512 / ((registers() + 7) / 8 * 8), 1, 8); }
};

struct Weights2D {
  std::size_t rows = 0, columns = 0;
  std::vector<double> weights = {};
};

bool window_of(const Operation& operation, Weights2D& window) {
  if (const auto* kernel = std::get_if<Convolve>(&operation)) {
    window = {kernel->rows, kernel->columns, {kernel->kernel.begin(), kernel->kernel.end()}};
    return true;
  }
  Product product;
  if (!product_of(operation, Depth::u8, product) || product.step != 1) return false;
  window = {product.down.size(), product.across.size(), {}};
  for (const double down : product.down) {
    for (const double across : product.across) window.weights.push_back(down * across);
  }
  return true;
}

// Largest error of a result: all errors of one sign meet the value 255, those of the other sign meet 0.
double worst_error(const std::vector<double>& weights, double scale) {
  double above = 0, below = 0;
  for (const double weight : weights) {
    const double error = std::nearbyint(weight * scale) / scale - weight;
    (error > 0 ? above : below) += std::abs(error);
  }
  const double half = scale / 2;
  return 255 * std::max(above, below) +
         (std::nearbyint(scale) == scale ? 0 : std::abs(half - std::floor(half)) / scale);
}

// Finds the fewest bytes per weight that keep the error small, and among the scales that fill them the one with the
// smallest error.
bool make_whole(const Weights2D& window, WholeWeights& whole) {
  double most = 0, least = 0, total = 0, sum = 0;
  for (const double weight : window.weights) {
    most = std::max(most, std::abs(weight));
    least = std::min(least, weight);
    total += std::abs(weight);
    sum += weight;
  }
  if (!(most > 0) || !std::isfinite(total)) return false;
  whole = {.rows = window.rows,
           .columns = window.columns,
           .negative = least < 0,
           .never_beyond = least >= 0 && sum < 1.0001};
  const double room = 2147483000.0 / (256 * std::max(total, 1.0));  // so that sums fit an int
  for (whole.planes = 1; whole.planes <= 3; ++whole.planes) {
    const double top = std::ldexp(1.0, 8 * static_cast<int>(whole.planes) - (whole.negative ? 1 : 0)) - 1;
    double best = INFINITY;
    for (int trial = 0; trial < (whole.planes == 1 ? 255 : 20000) && trial < top / 2; ++trial) {
      const double scale = std::min((top - trial) / most, room);
      const double error = scale > 1.5 ? worst_error(window.weights, scale) : INFINITY;
      if (error < best) {
        best = error;
        whole.divisor = scale;
      }
      if (best < 1e-6) break;
    }
    if (best > kAllowed) continue;
    // Smallest scale that is exact.
    for (int least_weight = 1; whole.planes == 1 && least_weight <= 8; ++least_weight) {
      if (least_weight / most < 1.5 || worst_error(window.weights, least_weight / most) > 1e-6) continue;
      whole.divisor = least_weight / most;
      break;
    }
    const double twos = std::exp2(std::floor(std::log2(std::min(top / most, room))));
    whole.power_of_two =
        whole.planes == 2 && whole.never_beyond && twos >= 65536 && worst_error(window.weights, twos) < kAllowedOfTwos;
    if (whole.power_of_two) whole.divisor = std::min(twos, 16777216.0);
    for (const double weight : window.weights)
      whole.weights.push_back(static_cast<int>(std::nearbyint(weight * whole.divisor)));
    return true;
  }
  return false;
}

// Weights as fragments of the matrix product per lane: 16 results (4 rows x 4 channels) by two words of four rows.
std::vector<std::uint32_t> fragments_of(const WindowsDesign& design) {
  const WholeWeights& whole = design.whole;
  const std::size_t words = design.words(), slots = design.blocks() * words;
  std::vector<std::uint32_t> fragments(design.products() * whole.planes * kWindowItems * 4);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (std::size_t lane = 0; lane < kWindowItems; ++lane) {
      for (std::size_t side = 0; side < 2; ++side) {  // results g and g + 8 are neighbours in a row
        const std::size_t g = lane / 4, row = 4 * (slot / words) + lane % 4, channel = 2 * (g % 2) + side;
        for (std::size_t byte = 0; byte < 4; ++byte) {
          const auto down = static_cast<std::ptrdiff_t>(row) - static_cast<std::ptrdiff_t>(g / 2);
          const auto away =
              static_cast<std::ptrdiff_t>(4 * (slot % words) + byte) - static_cast<std::ptrdiff_t>(channel);
          const auto channels = static_cast<std::ptrdiff_t>(design.shape.channels);
          if (down < 0 || down >= static_cast<std::ptrdiff_t>(whole.rows) || away < 0 || away % channels != 0 ||
              away / channels >= static_cast<std::ptrdiff_t>(whole.columns))
            continue;
          const int weight =
              whole.weights[static_cast<std::size_t>(down) * whole.columns + static_cast<std::size_t>(away / channels)];
          for (std::size_t plane = 0; plane < whole.planes; ++plane) {
            const auto part = static_cast<std::uint32_t>(weight) >> 8 * (whole.planes - 1 - plane) & 255U;
            const std::size_t fragment = (slot / 2 * whole.planes + plane) * kWindowItems + lane;
            fragments[4 * fragment + 2 * (slot % 2) + side] |= part << 8 * byte;
          }
        }
      }
    }
  }
  return fragments;
}

KernelSource windows_source(const WindowsDesign& design) {
  KernelSource source = vec4_source("image_windows", design.shape, design.border, design.constant);
  const WholeWeights& whole = design.whole;
  // Divides by multiplication with a reciprocal; the quotient is in the highest byte that leaves room for it.
  const bool below = !whole.power_of_two && whole.never_beyond && !whole.negative && whole.divisor < 150;
  int byte = 2;
  while (byte > 0 && std::ldexp(1.0, 32 + 8 * byte) / whole.divisor >= 4294967295.0) --byte;
  const auto reciprocal =
      static_cast<std::uint64_t>(std::ceil(std::ldexp(1.0, below ? 24 : 32 + 8 * byte) / whole.divisor));
  if (whole.power_of_two || below) byte = 3;
  const std::size_t left = design.left();
  for (const auto& [name, value] :
       {std::pair{"WINDOW_ROWS", whole.rows}, std::pair{"WINDOW_COLUMNS", whole.columns},
        std::pair{"BLOCKS", design.blocks()}, std::pair{"WORDS", design.words()},
        std::pair{"PRODUCTS", design.products()}, std::pair{"PLANES", whole.planes}, std::pair{"LEFT", left},
        std::pair{"SKIP", 4 * left - design.reach()},
        std::pair{"ROWS_EACH", static_cast<std::size_t>(design.rows_each)},
        std::pair{"AHEAD", static_cast<std::size_t>(design.ahead)}, std::pair{"SUB_GROUPS", design.sub_groups},
        std::pair{"RESIDENT", design.resident() / design.sub_groups},
        std::pair{"SIGNED", static_cast<std::size_t>(whole.negative ? 1 : 0)},
        std::pair{"RESULT_BYTE", static_cast<std::size_t>(byte)},
        std::pair{"ROUNDING", static_cast<std::size_t>(whole.divisor / 2)},
        std::pair{"MOST_SUM", static_cast<std::size_t>(255.49 * whole.divisor)}}) {
    source.defines.emplace_back(name, std::to_string(value));
  }
  source.defines.emplace_back("RECIPROCAL", std::to_string(reciprocal) + "u");
  if (whole.power_of_two)
    source.defines.emplace_back("DIVIDED_BY_SHIFT", std::to_string(24 - std::ilogb(whole.divisor)));
  if (below) source.defines.emplace_back("DIVIDED_BELOW", "1");
  if (design.border == Border::constant) source.defines.emplace_back("FILLED", "1");
  if (whole.never_beyond) source.defines.emplace_back("NEVER_BEYOND", "1");
  source.text += detail::kernel_text("image/operator_windows");
  return source;
}

class WindowsStep final : public Step {
 public:
  WindowsStep(const Device& device, const WindowsDesign& design)
      : design_(design), kernel_(device.compile(windows_source(design)).kernel("windows")) {
    const std::vector<std::uint32_t> fragments = fragments_of(design);
    fragments_ = device.buffer(fragments.size() * sizeof(std::uint32_t), {.name = "fragments of weights"});
    weights_ = device.buffer(design.whole.weights.size() * sizeof(int), {.name = "weights"});
    Queue queue = device.queue();
    queue.upload(std::span<const std::uint32_t>(fragments), fragments_);
    queue.upload(std::span<const int>(design.whole.weights), weights_);
    queue.finish();
  }
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    const auto aligned = [](const Image& image) { return image.offset() % 16 == 0 && image.pitch() % 16 == 0; };
    const std::size_t wide = in.columns() * in.channels(), beside = 4 * design_.left();
    // Covers chunks whose words are all inside the row, and the part of the next chunk that its own words suffice for.
    std::size_t first = design_.reach(), end = 0;
    if (aligned(in) && aligned(out) && wide >= 16 + beside) {
      end = (wide - beside) / 16 * 16;
      if (end + 16 <= wide) end += 16 - design_.reach_right();
    }
    if (end <= first) first = end = 0;  // one work-item per result
    const std::size_t strips = end == 0 ? 0 : (end + kStripChannels - 1) / kStripChannels;
    const std::size_t items = kWindowItems * design_.sub_groups;
    const std::uint64_t end_groups = groups_for(in.rows() * (first + wide - end), items);
    const std::uint64_t tasks = strips * groups_for(in.rows(), static_cast<std::size_t>(design_.rows_each));
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    arguments.emplace_back(static_cast<int>(in.rows()));
    arguments.emplace_back(static_cast<int>(in.columns()));
    arguments.emplace_back(fragments_);
    arguments.emplace_back(weights_);
    for (const std::size_t value : {first, end, static_cast<std::size_t>(end_groups), std::max<std::size_t>(strips, 1),
                                    static_cast<std::size_t>(tasks)})
      arguments.emplace_back(static_cast<int>(value));
    queue.launch(kernel_, {.groups = {end_groups + groups_for(tasks, design_.sub_groups)}, .items = {items}},
                 arguments);
  }

 private:
  WindowsDesign design_;
  Kernel kernel_;
  Buffer fragments_, weights_;
};

// Most row blocks that can be prefetched without reducing the number of resident sub-groups.
int rows_ahead(WindowsDesign design) {
  design.ahead = 3;
  const std::size_t resident = design.resident();
  while (design.ahead < 8) {
    ++design.ahead;
    if (design.resident() < resident) return design.ahead - 1;
  }
  return design.ahead;
}

// Rows per sub-group such that all sub-groups are resident at once, or need no more rounds than with 32 rows each.
int filling_rows(const Device& device, const WindowsDesign& design) {
  const std::size_t wide = design.shape.columns * design.shape.channels, rows = design.shape.rows;
  const std::uint64_t strips = groups_for(wide, kStripChannels);
  const std::uint64_t room = std::max<std::uint64_t>(device.limits().compute_units * design.resident(), 1);
  const std::uint64_t ends = groups_for(rows * (design.reach() + design.reach_right()), kWindowItems);
  const std::uint64_t rounds = (strips * groups_for(rows, 32) + ends + room - 1) / room;
  const std::uint64_t down = std::max<std::uint64_t>((rounds * room - std::min(ends, room / 2)) / strips, 1);
  return static_cast<int>(std::clamp<std::uint64_t>((groups_for(rows, down) + 3) / 4 * 4, 8, 48));
}

}  // namespace

void list_windows(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  Weights2D window;
  if (link.in.depth != Depth::u8 || link.operations.size() != 1 || !window_of(link.operations.front(), window)) return;
  if (!border_fits(chain, Depth::u8)) return;
  WindowsDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant};
  design.whole.rows = window.rows;
  design.whole.columns = window.columns;
  const double values = values_of(link.in);
  const double bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes());
  std::string refusal;
  if (window.rows > 17 || std::max(design.reach(), design.reach_right()) > 16) {
    refusal = fmt::format("registers hold at most 17 rows and 16 channels on either side, got {} rows and {} channels",
                          window.rows, std::max(design.reach(), design.reach_right()));
  } else if (!make_whole(window, design.whole)) {
    refusal = "needs weights that 3 bytes represent with an error of at most 8e-4 of a level";
  } else if (design.products() * design.whole.planes > 20) {
    refusal = fmt::format("needs at most 20 matrix products per step, got {}", design.products() * design.whole.planes);
  } else if (values * 4 > 2e9) {
    refusal = fmt::format("needs at most 5e8 output values for 32-bit indices, got {:.3g}", values);
  } else if (device.limits().work_group < kWindowItems) {
    refusal = fmt::format("needs work-groups of 32 work-items, the device allows {}", device.limits().work_group);
  }
  const double products = static_cast<double>(design.products() * design.whole.planes);
  // Groups of one sub-group are scheduled slowly; groups of four finish together.
  const bool several = device.limits().sub_group == kWindowItems && device.limits().work_group >= 4 * kWindowItems;
  for (const auto& [rows, sub_groups] : {std::pair{0, 4}, std::pair{0, 1}, std::pair{16, 4}, std::pair{32, 4}}) {
    if (sub_groups > 1 && rows == 0 && !several) continue;  // same as the next pair
    design.sub_groups = several ? static_cast<std::size_t>(sub_groups) : 1;
    design.ahead = std::min(rows_ahead(design), rows == 32 ? 4 : 8);
    design.rows_each = rows == 0 ? filling_rows(device, design) : rows;
    StepPlan plan{.name = "windows",
                  .parameters = {{"rows", rows == 0 ? "fill" : std::to_string(rows)},
                                 {"sub-groups", std::to_string(design.sub_groups)},
                                 {"bytes", std::to_string(design.whole.planes)}},
                  .refusal = refusal};
    const double again = (static_cast<double>(window.rows) - 1) / design.rows_each;
    const double slower = device.limits().matrix_units ? 1 : 100;  // without matrix instructions the products are loops
    plan.cost = {.flops = slower * 4.5 * values * products,
                 .bytes = bytes / 2 * (1 + 0.15 * again) + bytes / 2,
                 .launches = 1,
                 .efficiency = (sub_groups > 1 ? 0.95 : 0.88) - 0.01 * rows / 16};
    plan.kernels = [design] { return std::vector<KernelSource>{windows_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const WindowsStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
