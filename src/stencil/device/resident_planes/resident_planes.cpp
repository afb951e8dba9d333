// Variant resident_planes: 3D grids of short rows that fit into the registers of all compute units. Choice of patches.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "stencil/device/mail_pass.hpp"
#include "stencil/device/resident.hpp"
#include "stencil/device/resident_planes/resident_planes_kernel.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kPlaneDesigns = 3;      // candidates offered
constexpr int kMostPlaneOperations = 3000;    // of a work-item and step: longer texts take seconds to compile
constexpr std::size_t kTimedPlaneSteps = 64;  // a trial of 8 calls then hides the launch

// Old and new values, the neighbours' rows and addresses fit the registers.
bool planes_fit_registers(const ResidentPlanesKernel& kernel, const Limits& limits) {
  const ResidentPlanesOptions& patch = kernel.options;
  const int kept = 2 * patch.rows * patch.planes + 2 * (patch.rows + patch.planes);
  const int items = pieces(static_cast<int>(kernel.work_items()), 128) * 128;
  const int registers = std::min(255, static_cast<int>(limits.unit_registers) / items / 8 * 8);
  return 4 * kept + 48 <= registers;  // a row has 16 bytes per work-item
}

// The fastest designs by cycles().
std::vector<ResidentPlanesOptions> best_plane_designs(ResidentPlanesKernel kernel, const Limits& limits) {
  std::vector<std::pair<double, ResidentPlanesOptions>> designs;
  for (const int rows : {2, 3, 4, 5, 6, 8}) {
    for (const int planes : {2, 3, 4, 5, 6, 8}) {
      for (int across = 1; across <= 16; ++across) {
        for (int down = 1; across * down <= 16; ++down) {
          kernel.options = {.rows = rows, .planes = planes, .across = across, .down = down};
          const int operations = rows * planes * kernel.vector() * static_cast<int>(kernel.text.operations());
          if (operations > kMostPlaneOperations || !planes_fit_registers(kernel, limits)) continue;
          if (kernel.refusal(limits).empty()) designs.emplace_back(kernel.cycles(), kernel.options);
        }
      }
    }
  }
  std::ranges::stable_sort(designs, {}, [](const auto& design) { return design.first; });
  std::vector<ResidentPlanesOptions> options;
  for (std::size_t i = 0; i < std::min(kPlaneDesigns, designs.size()); ++i) options.push_back(designs[i].second);
  return options;
}

}  // namespace

std::shared_ptr<const Pass> make_resident_planes_pass(const Device& device, const ResidentPlanesKernel& kernel) {
  return std::make_shared<const MailPass<ResidentPlanesKernel>>(device, kernel, "resident_planes", 0);
}

template <class T>
void list_device_resident_planes(const Device& device, const Update<T>& update, const Layout& layout,
                                 std::vector<Entry<T>>& entries) {
  const std::vector<std::size_t> shape(layout.shape.end() - static_cast<std::ptrdiff_t>(layout.dimensions),
                                       layout.shape.end());
  ResidentPlanesKernel kernel{.text = cell_text(update.outputs, layout, type_name<T>()),
                              .place = padded_layout(shape, sizeof(T)),
                              .options = {}};
  std::vector<ResidentPlanesOptions> designs;
  std::string refusal = kernel.refusal(device.limits());
  if (device.info().backend != Backend::cuda || device.limits().architecture < 90) {
    refusal = "needs CUDA on Hopper or later: its work-groups wait for each other";
  } else {
    designs = best_plane_designs(kernel, device.limits());
    if (refusal.empty()) refusal = "needs patches that fit the registers of a compute unit";
  }
  const auto entry_of = [&](const ResidentPlanesKernel& one) {
    const ResidentPlanesOptions& options = one.options;
    return resident_entry("resident_planes", device, update, layout, one,
                          {{"patch", fmt::format("{}x{}", options.planes, options.rows)},
                           {"sub_groups", fmt::format("{}x{}", options.down, options.across)}},
                          one.cycles(), kTimedPlaneSteps, make_resident_planes_pass);
  };
  append_designs("resident_planes", update, layout, kernel, designs, refusal, entry_of, entries);
}

extern const Listers kDeviceResidentPlanes{list_device_resident_planes<float>, list_device_resident_planes<double>};

}  // namespace ridge::stencil
