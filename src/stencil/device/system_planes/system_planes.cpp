// Variant system_planes: 3D updates that are sums over neighbours, with several fields and coefficients.
#include "stencil/device/system_pass.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "stencil/device/pass.hpp"
#include "stencil/time_levels.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

template <class T>
SystemPlanesKernel make_planes(const Update<T>& update, const Layout& layout, const SystemPlanesOptions& options,
                               const std::vector<bool>& skipped) {
  return {.sums = plane_sums(flatten(update.outputs)),
          .real = type_name<T>(),
          .coefficients = layout.coefficients,
          .skipped = skipped,
          .keeps = !needs_frame(layout, 1),
          .equal_planes = update.equal_planes && layout.radius[0] == 0,
          .options = options};
}

// Layout whose rows start a cache line at the vector with the first changing cell: stores of tiles fill cache lines.
template <class T>
DeviceLayout place_of(const Layout& layout) {
  constexpr std::size_t vector = 16 / sizeof(T);
  return padded_layout({layout.shape[0], layout.shape[1], layout.shape[2]}, sizeof(T),
                       layout.begin[2] / vector * vector);
}

template <class T>
TimeLevels levels_in_place(const Update<T>& update, const Layout& layout) {
  TimeLevels levels = time_levels(flatten(update.outputs));
  if (levels.refusal.empty() && needs_frame(layout, 1)) levels.refusal = "needs fixed borders on all sides";
  return levels;
}

// Kernel arguments: for each field, the index of the field it is read from and of the field it is written to.
std::vector<Argument> field_places(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to) {
  std::vector<Argument> places;
  for (std::size_t f = 0; f < from.size(); ++f) {
    places.emplace_back(static_cast<std::int32_t>(from[f]));
    places.emplace_back(static_cast<std::int32_t>(to[f]));
  }
  return places;
}

// A vector of bools per field, all false.
std::vector<bool> none_of(const Layout& layout) { return std::vector<bool>(layout.fields); }

// Cells that no border reaches within this many steps.
std::array<int, 3> interior_begin(const Layout& layout, int depth) {
  return {depth * layout.radius[0], depth * layout.radius[1], depth * layout.radius[2]};
}
std::array<int, 3> interior_end(const Layout& layout, int depth) {
  std::array<int, 3> end{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    end[axis] = static_cast<int>(layout.shape[axis]) - depth * layout.radius[axis];
  return end;
}

struct Compiled {
  SystemPlanesKernel text;
  Kernel kernel;
  SystemPlanesPlan plan;
};
Compiled compile_planes(const Device& device, const SystemPlanesKernel& kernel, const Layout& layout,
                        const DeviceLayout& place) {
  const Kernel compiled = device.compile(kernel.source()).kernel("system_planes");
  const auto items = static_cast<std::size_t>(kernel.options.lanes * kernel.options.lines);
  const std::size_t groups = resident_groups(device, compiled, items, kernel.local_bytes());
  const int sides = kernel.keeps ? 1 : kernel.options.depth;  // steps whose borders a frame computes
  return {kernel, compiled,
          plan_planes(kernel, place, interior_begin(layout, sides), interior_end(layout, sides), groups)};
}

MarchStep step_of(const Compiled& compiled, const Layout& layout, const DeviceLayout& place,
                  const std::vector<std::size_t>& from, const std::vector<std::size_t>& to) {
  MarchStep made{{compiled.kernel, compiled.plan.launch, compiled.plan.scalars, layout.coefficients > 0}};
  if (compiled.text.options.tiles)
    made.tiles = compiled.text.tile_shape(place, from[compiled.text.sums.neighbour_fields.front()]);
  const std::vector<Argument> places = field_places(from, to);
  made.step.scalars.insert(made.step.scalars.end(), places.begin(), places.end());
  return made;
}

std::vector<std::size_t> in_order(std::size_t fields) {
  std::vector<std::size_t> order(fields);
  for (std::size_t f = 0; f < fields; ++f) order[f] = f;
  return order;
}

struct SystemPlanesChoice {
  SystemPlanesOptions options;
  double efficiency;
};
std::vector<SystemPlanesChoice> planes_choices() {
  return {// Planes fetched by the copy engine: fewer registers, so more items or rows.
          {{.lanes = 32, .lines = 8, .rows = 4, .ahead = 2, .tiles = true}, 0.86},
          {{.lanes = 32, .lines = 16, .rows = 2, .ahead = 2, .tiles = true}, 0.84},
          {{.lanes = 32, .lines = 12, .rows = 2, .ahead = 2, .tiles = true}, 0.74},
          {{.depth = 2, .lanes = 34, .lines = 14, .rows = 3, .ahead = 2, .tiles = true}, 0.8},
          {{.depth = 2, .lanes = 34, .lines = 11, .rows = 3, .ahead = 2, .tiles = true}, 0.79},
          {{.depth = 2, .lanes = 34, .lines = 14, .rows = 2, .ahead = 2, .tiles = true}, 0.78},
          {{.depth = 4, .lanes = 34, .lines = 15, .rows = 2, .ahead = 1, .tiles = true, .narrow = true}, 0.8},
          {{.depth = 4, .lanes = 34, .lines = 14, .rows = 2, .ahead = 1, .tiles = true}, 0.75},
          {{.depth = 3, .lanes = 34, .lines = 14, .rows = 2, .ahead = 2, .tiles = true}, 0.73},
          {{.lanes = 64, .lines = 8, .rows = 2, .ahead = 2}, 0.82},
          {{.lanes = 32, .lines = 16, .rows = 2, .ahead = 2}, 0.8},
          {{.lanes = 32, .lines = 16, .rows = 2, .ahead = 3}, 0.79},
          {{.lanes = 32, .lines = 8, .rows = 4, .ahead = 2}, 0.78},
          {{.lanes = 32, .lines = 8, .rows = 2, .ahead = 2, .resident = 2}, 0.76},
          {{.lanes = 16, .lines = 16, .rows = 4, .ahead = 2}, 0.74},
          {{.lanes = 32, .lines = 16, .rows = 2, .ahead = 1}, 0.7},
          {{.depth = 2, .lanes = 32, .lines = 16, .rows = 2, .ahead = 2}, 0.7},
          {{.depth = 2, .lanes = 32, .lines = 8, .rows = 4, .ahead = 2}, 0.68},
          {{.depth = 2, .lanes = 16, .lines = 16, .rows = 2, .ahead = 2, .resident = 2}, 0.6},
          {{.depth = 3, .lanes = 32, .lines = 16, .rows = 2, .ahead = 2}, 0.55},
          {{.depth = 3, .lanes = 16, .lines = 16, .rows = 2, .ahead = 2}, 0.5},
          // 136 cells, of which 128 are written: most grids are multiples of 128.
          {{.depth = 2, .lanes = 34, .lines = 11, .rows = 4, .ahead = 2}, 0.75},
          {{.depth = 2, .lanes = 34, .lines = 10, .rows = 4, .ahead = 2}, 0.74},
          {{.depth = 2, .lanes = 34, .lines = 14, .rows = 3, .ahead = 2}, 0.76},
          {{.depth = 2, .lanes = 34, .lines = 11, .rows = 3, .ahead = 2}, 0.72},
          {{.depth = 2, .lanes = 34, .lines = 7, .rows = 4, .ahead = 2, .resident = 2}, 0.71},
          {{.depth = 2, .lanes = 34, .lines = 7, .rows = 3, .ahead = 2, .resident = 2}, 0.7},
          // Three steps leave local memory for low tiles only: large groups of few rows per work-item.
          {{.depth = 3, .lanes = 34, .lines = 24, .rows = 1, .ahead = 2}, 0.7},
          {{.depth = 3, .lanes = 34, .lines = 14, .rows = 2, .ahead = 1}, 0.69},
          {{.depth = 3, .lanes = 34, .lines = 10, .rows = 4, .ahead = 2}, 0.66},
          {{.depth = 3, .lanes = 34, .lines = 12, .rows = 3, .ahead = 2}, 0.65},
          {{.depth = 3, .lanes = 34, .lines = 8, .rows = 3, .ahead = 2}, 0.6}};
}

}  // namespace

template <class T>
std::string system_planes_refusal(const Device& device, const Update<T>& update, const Layout& layout,
                                  const SystemPlanesOptions& options) {
  const SystemPlanesKernel kernel = make_planes(update, layout, options, none_of(layout));
  if (const std::string why = kernel.refusal(device.limits()); !why.empty()) return why;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (2 * static_cast<std::size_t>(options.depth * layout.radius[axis]) >= layout.shape[axis])
      return fmt::format("a depth of {} steps and radius {} need more than {} cells, got {}", options.depth,
                         layout.radius[axis], 2 * options.depth * layout.radius[axis], layout.shape[axis]);
    if (layout.shape[axis] > (1u << 30))
      return fmt::format("needs at most 2^30 cells per axis, got {}", layout.shape[axis]);
  }
  const DeviceLayout place = place_of<T>(layout);
  if (place.plane() > (std::size_t{1} << 30))
    return fmt::format("needs planes of at most 2^30 cells, got {}", place.plane());
  return FrameKernel{.text = cell_text(update.outputs, layout, type_name<T>()), .place = place}.refusal();
}

template <class T>
std::shared_ptr<const Variant<T>> system_planes_variant(const Device& device, const Update<T>& update,
                                                        const Layout& layout, const SystemPlanesOptions& options) {
  const DeviceLayout place = place_of<T>(layout);
  const FrameKernel frame{.text = cell_text(update.outputs, layout, type_name<T>()), .place = place};
  const TimeLevels levels = levels_in_place(update, layout);
  const bool in_place = levels.refusal.empty() && options.depth == 1;
  const MakePass make = [=](std::size_t depth) -> std::shared_ptr<const Pass> {
    const std::vector<std::size_t> order = in_order(layout.fields);
    if (depth == 1 || !in_place) {
      SystemPlanesOptions wanted = options;
      wanted.depth = static_cast<int>(depth);
      const Compiled made = compile_planes(device, make_planes(update, layout, wanted, none_of(layout)), layout, place);
      return std::make_shared<const FramedPass>(device, frame, depth, needs_frame(layout, 1),
                                                step_of(made, layout, place, order, order));
    }
    const Compiled made = compile_planes(device, make_planes(update, layout, options, levels.is_older), layout, place);
    std::vector<std::size_t> changed = order;
    for (const auto& [newer, older] : levels.pairs) std::swap(changed[newer], changed[older]);
    // First from the fields' own buffers to the older levels', then back.
    std::vector<MarchStep> steps{step_of(made, layout, place, order, changed),
                                 step_of(made, layout, place, changed, order)};
    const auto with_levels = [=, pair = levels.pairs.front()](std::size_t newer, std::size_t older,
                                                              std::size_t target) {
      std::vector<std::size_t> from(2), to(2);
      from[pair.newer] = newer;
      from[pair.older] = older;
      to[pair.newer] = to[pair.older] = target;  // the older level is not written
      return step_of(made, layout, place, from, to);
    };
    return std::make_shared<const InPlacePass>(device, frame, levels.pairs, std::move(steps), with_levels);
  };
  std::vector<std::size_t> depths{1};
  if (in_place) depths.insert(depths.begin(), 2);
  if (options.depth > 1) depths.insert(depths.begin(), static_cast<std::size_t>(options.depth));
  return device_variant<T>(device, layout, place, depths, make);
}

template <class T>
void list_device_system_planes(const Device& device, const Update<T>& update, const Layout& layout,
                               std::vector<Entry<T>>& entries) {
  if (layout.dimensions != 3 || layout.radius[0] + layout.radius[1] == 0) return;
  const TimeLevels levels = levels_in_place(update, layout);
  for (const SystemPlanesChoice& choice : planes_choices()) {
    SystemPlanesOptions options = choice.options;
    if (sizeof(T) == 8 && options.lanes == 34) continue;       // vectors of two: no gain
    if (layout.radius[0] == 0 && options.depth > 1) continue;  // planes that do not depend on each other
    if (sizeof(T) == 8 && options.lines > 8) options.lines /= 2;
    const bool in_place = levels.refusal.empty() && options.depth == 1;
    const SystemPlanesKernel kernel =
        make_planes(update, layout, options, in_place ? levels.is_older : none_of(layout));
    const double steps = options.depth;
    const double redundancy = static_cast<double>(kernel.tile_x() * kernel.tile_y()) /
                              std::max(1, std::max(0, kernel.useful_x()) * std::max(0, kernel.useful_y()));
    Entry<T> entry;
    entry.candidate = {
        .variant = "system_planes",
        .parameters = {{"tile", fmt::format("{}x{}", kernel.tile_y(), kernel.tile_x())},
                       {"rows", std::to_string(options.rows)},
                       {"ahead", std::to_string(options.ahead)}},
        .refusal = device.limits().sub_group == 0 ? "needs a GPU: this device keeps local memory in host memory"
                                                  : system_planes_refusal(device, update, layout, options),
        .cost = step_cost(update, layout, in_place ? 1.5 : (1 + redundancy) / steps, choice.efficiency, redundancy)};
    if (options.depth > 1) entry.candidate.parameters.emplace_back("depth", std::to_string(options.depth));
    if (options.tiles) entry.candidate.parameters.emplace_back("copies", "tiles");
    if (options.narrow) entry.candidate.parameters.emplace_back("last", "narrow");
    entry.exact = false;
    // Distinguishes two choices that have equal parameters in double.
    if (options.resident > 1) entry.candidate.parameters.emplace_back("resident", std::to_string(options.resident));
    entry.kernels = [device, kernel] { return std::vector{kernel.source(), service_source<T>(device)}; };
    entry.build = [device, update, layout, options] {
      return system_planes_variant<T>(device, update, layout, options);
    };
    entries.push_back(std::move(entry));
  }
}

template std::string system_planes_refusal(const Device&, const Update<float>&, const Layout&,
                                           const SystemPlanesOptions&);
template std::string system_planes_refusal(const Device&, const Update<double>&, const Layout&,
                                           const SystemPlanesOptions&);
template std::shared_ptr<const Variant<float>> system_planes_variant(const Device&, const Update<float>&, const Layout&,
                                                                     const SystemPlanesOptions&);
template std::shared_ptr<const Variant<double>> system_planes_variant(const Device&, const Update<double>&,
                                                                      const Layout&, const SystemPlanesOptions&);

extern const Listers kDeviceSystemPlanes{list_device_system_planes<float>, list_device_system_planes<double>};

}  // namespace ridge::stencil
