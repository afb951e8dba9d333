// Variant resident_rows: 2D grids that fit into the registers of all compute units, rows per sub-group. Choice of
// tiles, and the pass that runs any number of steps in one launch.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "stencil/device/mail_pass.hpp"
#include "stencil/device/resident.hpp"
#include "stencil/device/resident_rows/resident_rows_kernel.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kRowDesigns = 6;    // candidates offered
constexpr int kMostRowOperations = 3000;  // of a work-item and step: longer texts take seconds to compile
constexpr int kTimedRowBlocks = 4;        // a trial of 8 calls then hides the launch

// Old and new values, edges and addresses fit the registers.
bool fits_registers(const ResidentRowsKernel& kernel, const Limits& limits) {
  const int words = static_cast<int>(kernel.text.layout.element_bytes / 4) * kernel.vector();
  const int items = kernel.options.per_unit * pieces(static_cast<int>(kernel.work_items()), 128) * 128;
  const int registers = std::min(255, static_cast<int>(limits.unit_registers) / items / 8 * 8);
  return kernel.options.rows * words * 9 / 4 + 40 <= registers;
}

// The fastest designs by cycles(), at most one per depth and number of groups per unit.
std::vector<ResidentRowsOptions> best_row_designs(ResidentRowsKernel kernel, const Limits& limits) {
  std::vector<std::pair<double, ResidentRowsOptions>> designs;
  for (const int per_unit : {1, 2}) {
    for (const int depth : {2, 4, 6, 8, 10, 12, 16}) {
      std::pair<double, ResidentRowsOptions> found{0, {}};
      for (int sub_groups = 4; sub_groups <= 16; ++sub_groups) {
        for (int rows = 2 * kernel.text.layout.radius[1]; rows <= 16; ++rows) {
          kernel.options = {.depth = depth, .rows = rows, .sub_groups = sub_groups, .per_unit = per_unit};
          if (rows * kernel.vector() * static_cast<int>(kernel.text.operations()) > kMostRowOperations) break;
          if (!fits_registers(kernel, limits)) break;
          if (!kernel.refusal(limits).empty()) continue;
          const double cycles = kernel.cycles();
          if (found.first == 0 || cycles < found.first) found = {cycles, kernel.options};
        }
      }
      if (found.first > 0) designs.push_back(found);
    }
  }
  std::ranges::sort(designs, {}, [](const auto& design) { return design.first; });
  std::vector<ResidentRowsOptions> options;
  for (std::size_t i = 0; i < std::min(kRowDesigns, designs.size()); ++i) options.push_back(designs[i].second);
  return options;
}

}  // namespace

std::shared_ptr<const Pass> make_resident_rows_pass(const Device& device, const ResidentRowsKernel& kernel) {
  return std::make_shared<const MailPass<ResidentRowsKernel>>(device, kernel, "resident_rows",
                                                              static_cast<std::size_t>(kernel.options.depth));
}

template <class T>
void list_device_resident_rows(const Device& device, const Update<T>& update, const Layout& layout,
                               std::vector<Entry<T>>& entries) {
  const std::vector<std::size_t> shape(layout.shape.end() - static_cast<std::ptrdiff_t>(layout.dimensions),
                                       layout.shape.end());
  const Limits& limits = device.limits();
  const double words = static_cast<double>(layout.cells() * sizeof(T) / 4);
  const double room = 0.4 * static_cast<double>(limits.unit_registers * limits.compute_units);
  ResidentRowsKernel kernel{.text = cell_text(update.outputs, layout, type_name<T>()),
                            .place = padded_layout(shape, sizeof(T)),
                            .options = {}};
  std::vector<ResidentRowsOptions> designs;
  std::string refusal = kernel.refusal(limits);
  if (device.info().backend != Backend::cuda || limits.architecture < 90) {
    refusal = "needs CUDA on Hopper or later: its work-groups wait for each other";
  } else if (words > room) {
    refusal = fmt::format("needs a grid in registers: at most {:.0f} values, got {:.0f}", room, words);
  } else {
    designs = best_row_designs(kernel, limits);
    if (refusal.empty()) refusal = "needs tiles that fit the registers of a compute unit and a grid of several tiles";
  }
  const auto entry_of = [&](const ResidentRowsKernel& one) {
    const ResidentRowsOptions& options = one.options;
    return resident_entry("resident_rows", device, update, layout, one,
                          {{"depth", std::to_string(options.depth)},
                           {"tiles", fmt::format("{}x{}", one.tiles_y(), one.tiles_x())},
                           {"rows", std::to_string(options.rows)},
                           {"sub_groups", std::to_string(options.sub_groups)},
                           {"resident", std::to_string(options.per_unit)}},
                          one.cycles(), static_cast<std::size_t>(kTimedRowBlocks * options.depth),
                          make_resident_rows_pass);
  };
  append_designs("resident_rows", update, layout, kernel, designs, refusal, entry_of, entries);
}

extern const Listers kDeviceResidentRows{list_device_resident_rows<float>, list_device_resident_rows<double>};

}  // namespace ridge::stencil
