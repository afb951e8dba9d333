// Variant plane_march: parameters worth trying, and construction of a pass.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "stencil/device/pass.hpp"
#include "stencil/device/plane_march/plane_march_kernel.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

struct PlaneChoice {
  PlaneMarchOptions options;
  double efficiency;
};

// Best first, measured on an H200 (docs/measurements/h200.md). Nearly square tiles lose least to their halos; the
// second and the last two fit 48 KiB of local memory.
std::vector<PlaneChoice> choices(bool float64) {
  const int cells = float64 ? 2 : 4;
  const int lanes = float64 ? 32 : 16, lines = float64 ? 8 : 16;
  return {{{.depth = 4, .cells = cells, .rows = 4, .lines = lines, .lanes = lanes}, 0.62},
          {{.depth = 4, .cells = cells, .rows = 4, .lines = 8, .lanes = 16}, 0.60},
          {{.depth = 4, .cells = cells, .rows = 2, .lines = 2 * lines, .lanes = lanes}, 0.58},
          {{.depth = 3, .cells = cells, .rows = 4, .lines = lines, .lanes = lanes}, 0.54},
          {{.depth = 3, .cells = cells, .rows = 4, .lines = 8, .lanes = 16}, 0.53},
          {{.depth = 2, .cells = cells, .rows = 4, .lines = 4, .lanes = 16}, 0.45}};
}

PlaneMarchKernel make(const Device& device, const Weights& weights, const Borders& borders, const char* real,
                      const DeviceLayout& place, PlaneMarchOptions options, int depth) {
  options.depth = depth;
  options.shuffles = device.limits().sub_group != 0;
  if (options.shuffles) options.lanes = std::min(options.lanes, static_cast<int>(device.limits().sub_group));
  return {.weights = weights, .borders = borders, .real = real, .aligned = place.width() % 4 == 0, .options = options};
}

std::shared_ptr<const Pass> build(const Device& device, PlaneMarchKernel kernel, const DeviceLayout& place) {
  const Kernel compiled = device.compile(kernel.source()).kernel("plane_march");
  const auto items = static_cast<std::size_t>(kernel.options.lanes * kernel.options.lines);
  kernel.fill_device(place, resident_groups(device, compiled, items, kernel.local_bytes(), kernel.likely_registers()));
  return std::make_shared<const LaunchPass>(
      std::vector<LaunchPass::Step>{{compiled, kernel.launch(place), kernel.scalars(place)}});
}

}  // namespace

template <class T>
void list_device_plane_march(const Device& device, const Update<T>& update, const Layout& layout,
                             std::vector<Entry<T>>& entries) {
  if (layout.dimensions != 3 || layout.coefficients != 0) return;
  const auto weights = weights_of(3, layout.fields, update.linear);
  if (!weights) return;
  const std::string wider = refusal_of_wider_borders(*weights, layout);
  const DeviceLayout place = padded_layout({layout.shape[0], layout.shape[1], layout.shape[2]}, sizeof(T));
  const Borders borders{.low = layout.low, .high = layout.high};
  for (const PlaneChoice& choice : choices(sizeof(T) == 8)) {
    const PlaneMarchKernel kernel =
        make(device, *weights, borders, type_name<T>(), place, choice.options, choice.options.depth);
    const auto depth = static_cast<std::size_t>(choice.options.depth);
    const double redundancy = (1.0 + 2.0 * kernel.halo_x() / std::max(1, kernel.useful_x())) *
                              (1.0 + 2.0 * kernel.halo_y() / std::max(1, kernel.useful_y()));
    Entry<T> entry;
    entry.candidate = {
        .variant = "plane_march",
        .parameters = {{"depth", std::to_string(depth)},
                       {"tile", fmt::format("{}x{}", choice.options.lines * choice.options.rows,
                                            choice.options.lanes * choice.options.cells)},
                       {"items", std::to_string(choice.options.lines * choice.options.lanes)}},
        .refusal = device.limits().sub_group == 0 ? "needs a device with sub-group shuffles"
                   : !wider.empty()               ? wider
                                                  : kernel.refusal(place, device.limits()),
        .cost = step_cost(update, layout, 2.0 / static_cast<double>(depth), choice.efficiency, redundancy)};
    entry.exact = false;
    entry.kernels = [device, kernel] { return std::vector{kernel.source(), service_source<T>(device)}; };
    entry.build = [device, weights = *weights, borders, place, choice, layout]() {
      std::vector<std::size_t> depths{static_cast<std::size_t>(choice.options.depth)};
      if (depths.front() > 1) depths.push_back(1);
      const MakePass passes = [=](std::size_t wanted) {
        return build(device,
                     make(device, weights, borders, type_name<T>(), place, choice.options, static_cast<int>(wanted)),
                     place);
      };
      return device_variant<T>(device, layout, place, depths, passes);
    };
    entries.push_back(std::move(entry));
  }
}

extern const Listers kDevicePlaneMarch{list_device_plane_march<float>, list_device_plane_march<double>};

}  // namespace ridge::stencil
