// Variance on a device: lists the designs, computes their launches and runs them.
#include <algorithm>

#include <fmt/format.h>

#include "image/text.hpp"
#include "image/variance/device/design.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::uint64_t kLanesRowBytes = 512;  // per row kept in local memory
constexpr std::uint64_t kLocalLost = 1024;     // bytes reserved per group on NVIDIA devices

// Sub-groups of `lanes` per group: two, because each group reserves some local memory.
std::uint64_t lanes_together(const Device& device) { return device.limits().sub_group == 32 ? 2 : 1; }

int items_of(const VarianceDesign& design) {  // lanes: per sub-group
  if (design.kernel == VarianceKernel::columns) return design.items;
  if (design.kernel == VarianceKernel::lanes) return 32;
  return design.kernel == VarianceKernel::exact ? 128 : 256;
}

// Number of columns that a group writes; it computes the sums of more. At least 1: a window as wide as a work-group
// leaves no column, but such designs are refused.
int columns_written(const VarianceProblem& problem, const VarianceDesign& design) {
  const int left = static_cast<int>(problem.window_columns / 2);
  const int right = static_cast<int>(problem.window_columns) - 1 - left;
  if (design.kernel == VarianceKernel::three_wise) return std::max(256 - 2 * left, 1);
  if (design.kernel == VarianceKernel::lanes) return 16 * 30;
  return std::max(4 * (items_of(design) - (left + 3) / 4 - (right + 3) / 4), 1);
}

// Groups that a compute unit holds: limited by its work-items, at most sixteen.
std::uint64_t resident_groups(const Device& device, std::uint64_t items) {
  const std::size_t each = device.limits().items_per_unit;
  return std::clamp<std::uint64_t>(each / items, 1, 16);
}

// Rows per strip of `lanes` at a side, where a row takes longer: all sub-groups run at once, and the slowest determines
// the time.
int side_rows(int chunk) { return std::max((3 * chunk + 4) / 5, 1); }

std::uint64_t lanes_groups(const VarianceProblem& problem, std::uint64_t across, int chunk) {  // in sub-groups
  const auto strips_down = [&](int each) {
    return (problem.rows + static_cast<std::uint64_t>(each) - 1) / static_cast<std::uint64_t>(each);
  };
  const std::uint64_t sides = std::min<std::uint64_t>(across, 2);
  return sides * strips_down(side_rows(chunk)) + (across - sides) * strips_down(chunk);
}

// Sub-groups of `lanes` that a compute unit holds, limited by registers and by the rows kept in local memory.
std::uint64_t lanes_resident(const Device& device, const VarianceProblem& problem) {
  const std::uint64_t together = lanes_together(device), local = device.limits().unit_local_memory;
  const std::uint64_t groups = local / (together * kLanesRowBytes * problem.window_rows + kLocalLost);
  return together * std::clamp<std::uint64_t>(local == 0 ? kLanesResident : groups, 1, kLanesResident / together);
}

// Rows per group: all groups run at once, but with enough rows to amortize the first window of each group.
int rows_per_group(const Device& device, const VarianceProblem& problem, const VarianceDesign& design) {
  if (design.chunk > 0) return design.chunk;
  const auto wide = static_cast<std::size_t>(columns_written(problem, design));
  const std::uint64_t across = (problem.columns + wide - 1) / wide;
  if (design.kernel == VarianceKernel::lanes) {
    int chunk = static_cast<int>(std::min(3 * problem.window_rows, problem.rows));
    const std::uint64_t room = device.limits().compute_units * lanes_resident(device, problem);
    while (static_cast<std::size_t>(chunk) < problem.rows && lanes_groups(problem, across, chunk) > room) ++chunk;
    return chunk;
  }
  const auto items = static_cast<std::uint64_t>(items_of(design));
  const std::uint64_t resident = design.kernel == VarianceKernel::exact     ? resident_groups(device, items)
                                 : design.kernel == VarianceKernel::columns ? columns_resident(design)
                                                                            : 2;
  const std::uint64_t down = std::max<std::uint64_t>(device.limits().compute_units * resident / across, 1);
  const std::uint64_t least = 4 * problem.window_rows;
  return static_cast<int>(std::max<std::uint64_t>((problem.rows + down - 1) / down, least));
}

std::string refusal(const VarianceProblem& problem, const VarianceDesign& design) {
  const VarianceMethod method = method_of(problem);
  const std::size_t cells = problem.window_rows * problem.window_columns;
  if (design.kernel == VarianceKernel::plain) return "";
  if (problem.depth != Depth::u8) return fmt::format("needs 8-bit images, got {}", to_string(problem.depth));
  if (design.kernel == VarianceKernel::exact) {
    if (method != VarianceMethod::exact) return fmt::format("needs the exact method, got {}", to_string(method));
    if (problem.window_rows > 257 || cells > 66051)
      return fmt::format("needs a window of at most 257 rows and 66051 cells, got {} and {}", problem.window_rows,
                         cells);
    if (columns_written(problem, design) < 128)
      return fmt::format("the window of {} columns is wider than three quarters of a work-group's columns",
                         problem.window_columns);
    return "";
  }
  if (design.kernel == VarianceKernel::lanes) {
    if (method != VarianceMethod::exact) return fmt::format("needs the exact method, got {}", to_string(method));
    if (cells > 1023 || problem.window_columns > 33 || problem.window_rows > 31)
      return fmt::format("needs a window of at most 31 rows, 33 columns and 1023 cells, got {} x {}",
                         problem.window_rows, problem.window_columns);
    return "";
  }
  if (design.kernel == VarianceKernel::columns) {
    if (method != VarianceMethod::exact && method != VarianceMethod::three_wise)
      return fmt::format("needs the exact or the three-wise method, got {}", to_string(method));
    if (method == VarianceMethod::three_wise && problem.window_columns != 9 && problem.window_columns != 27)
      return fmt::format("needs a window of 9 or 27 columns, got {}", problem.window_columns);
    if (cells > 1023) return fmt::format("needs a window of at most 1023 cells, got {}", cells);
    if (columns_written(problem, design) < 2 * design.items)
      return fmt::format("the window of {} columns is wider than half of a work-group's columns",
                         problem.window_columns);
    return "";
  }
  if (method != VarianceMethod::three_wise)
    return fmt::format("needs the three-wise method, got {}", to_string(method));
  for (const std::size_t side : {problem.window_rows, problem.window_columns}) {
    if (side != 9 && side != 27) return fmt::format("needs a window of 9 or 27 rows and columns, got {}", side);
  }
  return "";
}

}  // namespace

// A compute unit has registers for 1024 work-items with 64 each, or for 768 with 80 (two rows at once).
std::uint64_t columns_resident(const VarianceDesign& design) {
  return (design.together == 1 ? 1024 : 768) / static_cast<std::uint64_t>(design.items);
}

std::vector<VarianceDesign> variance_designs() {
  std::vector<VarianceDesign> designs;
  for (const int chunk : {0, 128, 256, 512}) designs.push_back({.kernel = VarianceKernel::exact, .chunk = chunk});
  for (const int together : {3, 6}) {
    for (const int chunk : {0, 406, 694}) {
      designs.push_back({.kernel = VarianceKernel::three_wise, .chunk = chunk, .together = together});
    }
  }
  for (const int chunk : {0, 96}) designs.push_back({.kernel = VarianceKernel::lanes, .chunk = chunk});
  for (const int together : {1, 2}) {
    for (const int items : {64, 128}) {
      for (const int chunk : {0, 64, 128}) {
        designs.push_back({.kernel = VarianceKernel::columns, .chunk = chunk, .together = together, .items = items});
      }
    }
  }
  designs.push_back({.kernel = VarianceKernel::plain});
  return designs;
}

planner::Candidate candidate_of(const Device& device, const VarianceProblem& problem, const VarianceDesign& design) {
  planner::Candidate candidate;
  const double pixels = static_cast<double>(problem.rows) * static_cast<double>(problem.columns);
  const double bytes = pixels * (static_cast<double>(bytes_of(problem.depth)) + 4);
  const double cells = static_cast<double>(problem.window_rows * problem.window_columns);
  candidate.refusal = refusal(problem, design);
  if (design.kernel == VarianceKernel::plain) {
    candidate.variant = "device_plain";
    candidate.parameters = {{"method", kVarianceMethods.name(method_of(problem))}};
    candidate.cost = {.flops = pixels * cells * 6, .bytes = bytes, .launches = 1, .efficiency = 0.2};
    return candidate;
  }
  const bool columns = design.kernel == VarianceKernel::columns, lanes = design.kernel == VarianceKernel::lanes;
  const bool exact =
      design.kernel == VarianceKernel::exact || lanes || (columns && method_of(problem) == VarianceMethod::exact);
  candidate.variant = lanes     ? "device_lanes"
                      : columns ? "device_columns"
                      : exact   ? "device_running_sums"
                                : "device_three_wise";
  candidate.parameters = {{"rows", design.chunk == 0 ? "fill" : std::to_string(design.chunk)}};
  if (columns) candidate.parameters.emplace_back("items", std::to_string(design.items));
  if (design.kernel != VarianceKernel::exact && !lanes)
    candidate.parameters.emplace_back("together", std::to_string(design.together));
  const double again = 1 + static_cast<double>(problem.window_rows) / rows_per_group(device, problem, design);
  candidate.cost = {.flops = pixels *
                             (lanes     ? 27
                              : columns ? (exact ? 34 : 44)
                              : exact   ? 41
                                        : 86) *
                             again,
                    .bytes = bytes,
                    .launches = 1,
                    .efficiency = lanes              ? 0.65
                                  : columns && exact ? 0.6
                                  : exact            ? 0.45
                                                     : 0.35};
  return candidate;
}

DeviceVariance::DeviceVariance(const Device& device, const VarianceProblem& problem, const VarianceDesign& design)
    : problem_(problem),
      design_(design),
      kernel_(device.compile(variance_source(problem, design)).kernel("variance")),
      own_queue_(device.queue()),
      image_(
          Image::on(device, {.rows = problem.rows, .columns = problem.columns, .depth = problem.depth}, "variance of")),
      variance_(
          Image::on(device, {.rows = problem.rows, .columns = problem.columns, .depth = Depth::f32}, "variance")) {
  const auto groups = [](std::size_t n, std::size_t each) { return static_cast<std::uint64_t>((n + each - 1) / each); };
  if (design.kernel == VarianceKernel::plain) {
    launch_ = {.groups = {groups(problem.columns, 32), groups(problem.rows, 8)}, .items = {32, 8}};
    return;
  }
  chunk_ = rows_per_group(device, problem, design);
  const std::uint64_t across = groups(problem.columns, static_cast<std::size_t>(columns_written(problem, design)));
  const std::uint64_t down = groups(problem.rows, static_cast<std::size_t>(chunk_));
  launch_ = {.groups = {across, down}, .items = {static_cast<std::uint32_t>(items_of(design))}};
  if (design.kernel != VarianceKernel::lanes) return;
  side_chunk_ = side_rows(chunk_);
  const std::uint64_t sides = std::min<std::uint64_t>(across, 2), together = lanes_together(device);
  strips_ = static_cast<int>(across);
  side_groups_ = static_cast<int>(sides * groups(problem.rows, static_cast<std::size_t>(side_chunk_)));
  launch_ = {.groups = Extent(groups(lanes_groups(problem, across, chunk_), together)),
             .items = {static_cast<std::uint32_t>(32 * together)}};
}

void DeviceVariance::enqueue(Queue& queue, std::span<const Image> in, const Image& out) const {
  const Image& image = in[0];
  const std::size_t each = bytes_of(image.depth());
  std::vector<Argument> arguments{image.buffer(),
                                  std::uint64_t{image.offset() / each},
                                  std::uint64_t{image.pitch() / each},
                                  out.buffer(),
                                  std::uint64_t{out.offset() / 4},
                                  std::uint64_t{out.pitch() / 4},
                                  static_cast<int>(problem_.rows),
                                  static_cast<int>(problem_.columns)};
  if (design_.kernel != VarianceKernel::plain) {
    arguments.emplace_back(chunk_);
    const std::size_t misaligned = image.offset() | image.pitch();
    arguments.emplace_back(misaligned % 16 == 0 ? 2 : misaligned % 4 == 0 ? 1 : 0);
    arguments.emplace_back(out.offset() % 16 == 0 && out.pitch() % 16 == 0 ? 1 : 0);
  }
  if (design_.kernel == VarianceKernel::lanes) {
    for (const int value : {strips_, side_groups_, side_chunk_}) arguments.emplace_back(value);
  }
  queue.launch(kernel_, launch_, arguments);
}

void DeviceVariance::run(std::span<const Image> in, Image& out) const {
  std::lock_guard lock(running_);
  Queue queue = own_queue_;
  upload(queue, in[0], image_);
  enqueue(queue, std::span(&image_, 1), variance_);
  download(queue, variance_, out);
  queue.finish();
}

}  // namespace ridge::image::on_device

namespace ridge::image {

void list_device_variance(const Device& device, const VarianceProblem& problem, std::vector<Entry>& entries) {
  using namespace on_device;
  for (const VarianceDesign& design : variance_designs()) {
    entries.push_back(
        {.candidate = candidate_of(device, problem, design),
         .kernels = [problem, design] { return std::vector<KernelSource>{variance_source(problem, design)}; },
         .build = [device, problem,
                   design] { return std::make_shared<const DeviceVariance>(device, problem, design); }});
  }
}

}  // namespace ridge::image
