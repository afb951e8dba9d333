// Variant row_march: parameters worth trying, and construction of a pass.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "stencil/device/pass.hpp"
#include "stencil/device/row_march/row_march_kernel.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

struct RowChoice {
  RowMarchOptions interior, frame;
  int waves = 3;  // waves of interior pieces
  double efficiency = 0.5;
  bool joined = false;  // interior and frame in one launch
};

// Up to this size a pass is so short that waiting for the frame after the interior matters.
constexpr std::size_t kSmallGrid = std::size_t{1} << 24;

// Depths are limited by the cells that a strip loses at its ends.
std::vector<RowChoice> choices(const Weights& weights, bool float64, std::size_t grid_cells) {
  const int radius = std::max(weights.radius[1], weights.radius[2]);
  std::vector<RowChoice> list;
  const auto add = [&](int reach, int cells, int prefetch, int sub_groups, int resident, int waves, double efficiency) {
    const int depth = std::max(1, reach / std::max(1, radius));
    RowMarchOptions interior{
        .depth = depth, .cells = cells, .prefetch = prefetch, .sub_groups = sub_groups, .resident = resident};
    RowMarchOptions frame{.depth = depth, .cells = float64 ? 2 : 4, .prefetch = 4, .sub_groups = 2};
    frame.cells = std::max(frame.cells, weights.radius[2] > frame.cells ? 2 * frame.cells : frame.cells);
    interior.cells = std::max(interior.cells, frame.cells);
    list.push_back({.interior = interior, .frame = frame, .waves = waves, .efficiency = efficiency});
  };
  // Best first, measured on an H200 (docs/measurements/h200.md).
  if (grid_cells <= kSmallGrid) {
    for (const int reach : {4, 6, 8}) {
      add(reach, float64 ? 2 : 4, 4, 2, 1, 1, 3.0 / (reach * reach));
      list.back().joined = true;
    }
  }
  const std::size_t small = list.size();
  if (!weights.star()) {
    add(6, float64 ? 4 : 8, 4, 2, 1, 3, 0.55);
    add(8, float64 ? 4 : 8, 4, 2, 1, 2, 0.54);
    add(4, float64 ? 4 : 8, 4, 2, 1, 3, 0.5);
  } else if (float64) {
    add(10, 4, 4, 2, 1, 3, 0.62);
    add(8, 4, 4, 2, 1, 3, 0.60);
    add(8, 2, 4, 4, 4, 3, 0.58);
    add(4, 4, 4, 2, 1, 3, 0.50);
  } else {
    add(11, 8, 4, 2, 1, 1, 0.64);
    add(12, 8, 4, 2, 1, 1, 0.62);
    add(10, 8, 4, 2, 1, 1, 0.62);
    add(8, 8, 4, 2, 1, 3, 0.60);
    add(12, 4, 8, 4, 3, 3, 0.58);
    add(4, 8, 4, 2, 1, 3, 0.50);
  }
  // The frame takes as long as its longest march, however few cells it has, so small grids are less efficient.
  const double size = static_cast<double>(grid_cells) / static_cast<double>(2 * kSmallGrid);
  for (std::size_t i = small; i < list.size(); ++i) list[i].efficiency *= std::min(1.0, size);
  // A wider stencil reaches as far in fewer steps; several depths may coincide.
  const auto same = [](const RowChoice& a, const RowChoice& b) {
    return a.interior.depth == b.interior.depth && a.interior.cells == b.interior.cells &&
           a.interior.prefetch == b.interior.prefetch && a.waves == b.waves && a.joined == b.joined;
  };
  std::vector<RowChoice> different;
  for (const RowChoice& choice : list) {
    const auto known = [&](const RowChoice& other) { return same(choice, other); };
    if (std::none_of(different.begin(), different.end(), known)) different.push_back(choice);
  }
  return different;
}

// Barriers on PoCL need loops of constant length.
void without_sub_groups(RowMarchOptions& options) {
  options.shuffles = false;
  options.sub_groups = 1;
  options.resident = 1;
  options.march_rows = 128;
}

RowMarchPass make_pass(const Device& device, const Weights& weights, const Borders& borders, const char* real,
                       const DeviceLayout& place, RowChoice choice, int depth) {
  choice.interior.depth = choice.frame.depth = depth;
  const std::size_t lanes = device.limits().sub_group;
  for (RowMarchOptions* options : {&choice.interior, &choice.frame}) {
    if (lanes == 0) {
      without_sub_groups(*options);
    } else {
      options->lanes = static_cast<int>(lanes);
    }
  }
  const bool aligned = place.width() % 4 == 0;
  RowMarchPass pass{.interior = {.weights = weights,
                                 .borders = borders,
                                 .real = real,
                                 .aligned = aligned,
                                 .options = choice.interior},
                    .frame = {.weights = weights,
                              .borders = borders,
                              .real = real,
                              .aligned = aligned,
                              .frame = true,
                              .options = choice.frame}};
  if (lanes == 0) pass.interior_rows = pass.frame_rows = 128;
  return pass;
}

bool is_joined(const RowMarchPass& pass, const DeviceLayout& place, bool joined) {
  return joined && pass.has_interior(place) && pass.interior.options.shuffles;
}

std::vector<KernelSource> kernels_of(const RowMarchPass& pass, const DeviceLayout& place, bool joined) {
  if (is_joined(pass, place, joined)) return {pass.joined_source()};
  if (!pass.has_interior(place)) return {pass.frame.source()};
  return {pass.frame.source(), pass.interior.source()};
}

std::shared_ptr<const Pass> build(const Device& device, RowMarchPass pass, const DeviceLayout& place, int waves,
                                  bool joined) {
  std::vector<LaunchPass::Step> steps;
  if (is_joined(pass, place, joined)) {
    const Kernel kernel = device.compile(pass.joined_source()).kernel("strip_joined");
    const auto items = static_cast<std::size_t>(pass.interior.options.lanes * pass.interior.options.sub_groups);
    pass.fill_joined(place, resident_groups(device, kernel, items));
    steps.push_back({kernel, pass.joined_launch(place), pass.joined_scalars(place)});
    return std::make_shared<const LaunchPass>(std::move(steps));
  }
  const Kernel frame = device.compile(pass.frame.source()).kernel(pass.frame.name());
  steps.push_back({frame, pass.frame_launch(place), pass.frame_scalars(place)});
  if (pass.has_interior(place)) {
    const Kernel interior = device.compile(pass.interior.source()).kernel(pass.interior.name());
    if (pass.interior.options.shuffles) {
      const auto items = static_cast<std::size_t>(pass.interior.options.lanes * pass.interior.options.sub_groups);
      pass.fill_waves(place, resident_groups(device, interior, items), waves);
    }
    steps.push_back({interior, pass.interior_launch(place), pass.interior_scalars(place)});
  }
  return std::make_shared<const LaunchPass>(std::move(steps));
}

}  // namespace

template <class T>
void list_device_row_march(const Device& device, const Update<T>& update, const Layout& layout,
                           std::vector<Entry<T>>& entries) {
  if (layout.dimensions != 2 || layout.coefficients != 0) return;
  const auto weights = weights_of(2, layout.fields, update.linear);
  if (!weights) return;
  const std::string wider = refusal_of_wider_borders(*weights, layout);
  const DeviceLayout place = padded_layout({layout.shape[1], layout.shape[2]}, sizeof(T));
  const Borders borders{.low = {layout.low[1], layout.low[2], Border::fixed},
                        .high = {layout.high[1], layout.high[2], Border::fixed}};
  for (const RowChoice& choice : choices(*weights, sizeof(T) == 8, place.cells())) {
    const RowMarchPass pass =
        make_pass(device, *weights, borders, type_name<T>(), place, choice, choice.interior.depth);
    const auto depth = static_cast<std::size_t>(choice.interior.depth);
    const double redundancy = 1.0 + 2.0 * pass.interior.halo() / std::max(1, pass.interior.useful());
    Entry<T> entry;
    entry.candidate = {
        .variant = "row_march",
        .parameters = {{"depth", std::to_string(depth)},
                       {"cells", std::to_string(choice.interior.cells)},
                       {"prefetch", std::to_string(choice.interior.prefetch)},
                       {"waves", choice.joined ? "joined" : std::to_string(choice.waves)}},
        .refusal = device.limits().sub_group == 0 ? "needs a device with sub-group shuffles"
                   : !wider.empty()               ? wider
                                                  : pass.refusal(place),
        .cost = step_cost(update, layout, 2.0 / static_cast<double>(depth), choice.efficiency, redundancy)};
    entry.exact = false;
    entry.kernels = [device, pass, place, joined = choice.joined] {
      std::vector<KernelSource> sources = kernels_of(pass, place, joined);
      sources.push_back(service_source<T>(device));
      return sources;
    };
    entry.build = [device, weights = *weights, borders, place, choice, layout]() {
      const MakePass make = [=](std::size_t wanted) {
        return build(device,
                     make_pass(device, weights, borders, type_name<T>(), place, choice, static_cast<int>(wanted)),
                     place, choice.waves, choice.joined);
      };
      return device_variant<T>(device, layout, place, pass_depths(choice.interior.depth), make);
    };
    entries.push_back(std::move(entry));
  }
}

extern const Listers kDeviceRowMarch{list_device_row_march<float>, list_device_row_march<double>};

}  // namespace ridge::stencil
