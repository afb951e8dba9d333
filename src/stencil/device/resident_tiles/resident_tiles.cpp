// Variant resident_tiles: grids that fit into the registers of all compute units. Choice of tiles and patches, and the
// pass that runs any number of steps in one launch.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/resident.hpp"
#include "stencil/device/resident_tiles/resident_tiles_kernel.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kTried = 8;            // candidates offered
constexpr int kMostOperations = 3000;        // of a work-item and step: longer texts take seconds to compile
constexpr std::size_t kMostSteps = 1 << 16;  // per launch, so that it ends within a second
constexpr int kTimedBlocks = 4;              // a trial of 8 calls then hides the launch

// Sides of tiles along an axis worth trying: as few numbers of tiles as give different sides.
std::vector<int> tile_counts(int side, int least, int most) {
  std::vector<int> counts;
  for (int count = 1; count <= most && side / count >= std::max(1, least); ++count) {
    if (counts.empty() || pieces(side, count) < pieces(side, counts.back())) counts.push_back(count);
  }
  return counts;
}

// Patches that cover `cells`: few work-items of many cells to many of few.
std::vector<int> patches(int cells, bool odd) {
  if (cells == 1) return {1};
  std::vector<int> sizes;
  for (int size = odd ? 3 : 1; size <= 7; size += odd ? 2 : 1) {
    if (size <= cells) sizes.push_back(size);
  }
  return sizes.empty() ? std::vector<int>{1} : sizes;
}

// Grids stacked along z that fit the registers: about a third of them holds cells, the rest neighbours, new values and
// addresses. All launches get equally many.
std::size_t planes_per_launch(const Layout& layout, std::size_t values, const Limits& limits) {
  const std::size_t plane = layout.shape[1] * layout.shape[2] * values, unit = limits.unit_registers * 36 / 100;
  const std::size_t most = plane <= unit ? unit / plane * limits.compute_units
                                         : std::max<std::size_t>(1, limits.compute_units / ((plane + unit - 1) / unit));
  if (most >= layout.shape[0]) return layout.shape[0];
  const std::size_t launches = (layout.shape[0] + most - 1) / most;
  return (layout.shape[0] + launches - 1) / launches;
}

class Search {
 public:
  Search(const ResidentKernel& kernel, const Limits& limits)
      : kernel_(kernel), limits_(limits), operations_(static_cast<int>(kernel.text.operations())) {}

  // The fastest designs by ResidentKernel::cycles(), at most one per depth and number of groups per unit.
  std::vector<ResidentOptions> best() {
    const Layout& layout = kernel_.text.layout;
    for (const int per_unit : {2, 1}) {
      const int slots = per_unit * static_cast<int>(limits_.compute_units);
      for (const int depth : {1, 2, 3, 4, 6, 8, 10, 12, 16, 32}) {
        if (layout.radius[0] > 0 && depth > 4) break;
        kernel_.options.depth = depth;
        kernel_.options.per_unit = per_unit;
        std::array<std::vector<int>, 3> counts;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const int radius = layout.radius[axis];
          counts[axis] =
              tile_counts(static_cast<int>(layout.shape[axis]), radius == 0 ? 1 : std::max(4, depth * radius), slots);
          if (counts[axis].empty()) counts[axis] = {1};
        }
        Design found;
        for (const int z : counts[0]) {
          for (const int y : counts[1]) {
            // As many tiles along x as fit: with fewer, each tile would be larger.
            const auto end = std::upper_bound(counts[2].begin(), counts[2].end(), slots / (z * y));
            if (end == counts[2].begin()) continue;
            kernel_.options.tiles = {z, y, *(end - 1)};
            try_patches(found);
          }
        }
        if (found.cycles > 0) designs_.push_back(found);
      }
    }
    std::sort(designs_.begin(), designs_.end(), [](const Design& a, const Design& b) { return a.cycles < b.cycles; });
    std::vector<ResidentOptions> options;
    for (std::size_t i = 0; i < std::min(kTried, designs_.size()); ++i) options.push_back(designs_[i].options);
    return options;
  }

 private:
  struct Design {
    ResidentOptions options;
    double cycles = 0;
  };

  // Most cells per work-item that leave registers for neighbours and new values.
  int most_cells(int items) const {
    // Registers are allocated to four warps at once, eight per work-item.
    const int all = kernel_.options.per_unit * pieces(items, 128) * 128;
    const int registers = std::min(255, static_cast<int>(limits_.unit_registers) / all / 8 * 8);
    const int words = static_cast<int>(kernel_.text.layout.fields * kernel_.text.layout.element_bytes / 4);
    return static_cast<int>((registers - 40) / (2.1 * words));
  }

  void try_patches(Design& found) {
    ResidentOptions& options = kernel_.options;
    std::array<int, 3> needed{};
    for (std::size_t axis = 0; axis < 3; ++axis) needed[axis] = kernel_.core(axis) + 2 * kernel_.halo(axis);
    const int region = needed[0] * needed[1] * needed[2];
    if (region > 65536) return;
    const double least = options.per_unit * region * static_cast<double>(operations_) / 128;
    if (found.cycles > 0 && least > found.cycles) return;
    for (const int z : patches(needed[0], false)) {
      for (const int y : patches(needed[1], false)) {
        for (const int x : patches(needed[2], true)) {  // odd: lanes then use different banks of local memory
          options.patch = {z, y, x};
          for (std::size_t axis = 0; axis < 3; ++axis) options.items[axis] = pieces(needed[axis], options.patch[axis]);
          const int items = pieces(kernel_.work_items(), 32) * 32;
          if (items < 64 || items > 512 || z * y * x > most_cells(items)) continue;
          if (z * y * x * operations_ > kMostOperations) continue;
          keep_better(found);
        }
      }
    }
  }

  void keep_better(Design& found) {
    const double cycles = kernel_.cycles();
    if (found.cycles > 0 && cycles >= found.cycles) return;
    kernel_.options.buffers = 2;
    // CUDA reserves 1 KiB of shared memory per work-group.
    const std::size_t room = limits_.unit_local_memory / static_cast<std::size_t>(kernel_.options.per_unit) - 1024;
    if (kernel_.local_bytes() > room) kernel_.options.buffers = 1;
    if (kernel_.local_bytes() > room || !kernel_.refusal(limits_).empty()) return;
    found = {kernel_.options, cycles};
  }

  ResidentKernel kernel_;
  const Limits& limits_;
  const int operations_;
  std::vector<Design> designs_{};
};

class ResidentPass : public Pass {
 public:
  ResidentPass(const Device& device, const ResidentKernel& kernel)
      : kernel_(kernel),
        compiled_(device.compile(kernel.source()).kernel("resident_tiles")),
        together_(device.info().backend == Backend::cuda) {
    if (!together_) return;
    const auto items = static_cast<std::size_t>(kernel.work_items());
    const std::size_t resident = resident_groups(device, compiled_, items, kernel.local_bytes());
    if (resident < kernel.groups())
      throw Error(ErrorKind::unavailable,
                  fmt::format("needs {} work-groups at the same time, the device runs {}", kernel.groups(), resident));
  }
  void enqueue(Queue&, const Buffer&, const Buffer&, const Buffer&) const override {}
  std::size_t scratch() const override { return sends() ? 1 : 0; }
  std::size_t scratch_bytes(std::size_t) const override { return kernel_.mail_bytes(); }
  bool any_steps() const override { return true; }
  bool enqueue_steps(Queue& queue, const Buffer& in, const Buffer& out, const std::vector<Buffer>& scratch,
                     std::size_t steps) const override {
    bool in_out = false;
    for (std::size_t some; steps > 0; steps -= some) {
      some = std::min(steps, kMostSteps);
      const int blocks = pieces(static_cast<int>(some), kernel_.options.depth), each = waits() ? 1 : blocks;
      for (int block = 0; block < blocks; block += each, in_out = !in_out) {
        for (std::size_t i = 0; i < kernel_.launches(); ++i) {
          if (sends()) queue.fill(scratch[0], std::byte{0});  // no tags
          const ResidentKernel::Part part = kernel_.part(i);
          std::vector<Argument> arguments{in_out ? out : in, in_out ? in : out,     sends() ? scratch[0] : in, block,
                                          block + each,      static_cast<int>(some)};
          for (const Argument& scalar : part.scalars) arguments.push_back(scalar);
          queue.launch(compiled_, part.launch, arguments);
        }
      }
    }
    return in_out;
  }

 private:
  ResidentKernel kernel_;
  Kernel compiled_;
  bool together_;

  // Without a launch that runs all groups at the same time, each block of steps that tiles wait for is a launch.
  bool waits() const { return !together_ && kernel_.exchanges() && kernel_.groups() > 1; }
  bool sends() const { return kernel_.exchanges() && !waits(); }
};

}  // namespace

std::shared_ptr<const Pass> make_resident_pass(const Device& device, const ResidentKernel& kernel) {
  return std::make_shared<const ResidentPass>(device, kernel);
}

template <class T>
void list_device_resident_tiles(const Device& device, const Update<T>& update, const Layout& layout,
                                std::vector<Entry<T>>& entries) {
  if (layout.coefficients > 0) return;
  const std::vector<std::size_t> shape(layout.shape.end() - static_cast<std::ptrdiff_t>(layout.dimensions),
                                       layout.shape.end());
  const Limits& limits = device.limits();
  const std::size_t values = layout.fields * sizeof(T) / 4;  // registers of a cell
  Layout planes = layout;                                    // of one launch
  if (layout.dimensions == 3 && layout.radius[0] == 0 && limits.unit_registers > 0)
    planes.shape[0] = planes.end[0] = planes_per_launch(layout, values, limits);
  const double words = static_cast<double>(planes.cells() * values);
  const double room = 0.5 * static_cast<double>(limits.unit_registers * limits.compute_units);
  ResidentKernel kernel{.text = cell_text(update.outputs, planes, type_name<T>()),
                        .place = padded_layout(shape, sizeof(T)),
                        .options = {}};
  std::vector<ResidentOptions> designs;
  std::string refusal =
      "needs a larger grid or an update of fewer operations: no patch of cells fits the registers of a work-item";
  if (device.info().backend != Backend::cuda) {
    refusal = "needs CUDA: its work-groups wait for each other";
  } else if (words > room) {
    refusal = fmt::format("needs a grid in registers: at most {:.0f} values, got {:.0f}", room, words);
  } else {
    designs = Search(kernel, limits).best();
  }
  const auto entry_of = [&](const ResidentKernel& one) {
    const ResidentOptions& options = one.options;
    const auto by = [](const std::array<int, 3>& sides) {
      return fmt::format("{}x{}x{}", sides[0], sides[1], sides[2]);
    };
    Entry<T> entry = resident_entry("resident_tiles", device, update, layout, one,
                                    {{"depth", std::to_string(options.depth)},
                                     {"tiles", by(options.tiles)},
                                     {"patch", by(options.patch)},
                                     {"items", std::to_string(one.work_items())},
                                     {"resident", std::to_string(options.per_unit)},
                                     {"launches", std::to_string(one.launches())}},
                                    one.cycles() * static_cast<double>(one.launches()),
                                    static_cast<std::size_t>(kTimedBlocks * options.depth), make_resident_pass);
    // In 3D other variants are often faster (docs/measurements/h200.md): chosen only after measuring.
    entry.candidate.cost.launches = layout.radius[0] > 0 ? 1 : 0;
    return entry;
  };
  append_designs("resident_tiles", update, layout, kernel, designs, refusal, entry_of, entries);
}

extern const Listers kDeviceResidentTiles{list_device_resident_tiles<float>, list_device_resident_tiles<double>};

}  // namespace ridge::stencil
