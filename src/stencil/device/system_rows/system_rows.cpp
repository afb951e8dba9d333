// Variant system_rows: any 2D update, several fields and coefficients, one or several steps, each shared value once.
#include "stencil/device/system_pass.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "stencil/device/pass.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

// Distance from the sides beyond which the march computes the update's inner form; 0 if it computes the whole update.
template <class T>
std::size_t inner_margin(const Update<T>& update, const Layout& layout) {
  const std::size_t margin = update.inner.margin;
  return update.inner.outputs.empty() || 4 * margin >= std::min(layout.shape[1], layout.shape[2]) ? 0 : margin;
}
template <class T>
const std::vector<Expression>& march_outputs(const Update<T>& update, const Layout& layout) {
  return inner_margin(update, layout) > 0 ? update.inner.outputs : update.outputs;
}

template <class T>
SystemRowsKernel make_rows(const Update<T>& update, const Layout& layout, SystemRowsOptions options) {
  return {.values = shared_values(flatten(march_outputs(update, layout)), static_cast<std::size_t>(options.depth), 1),
          .real = type_name<T>(),
          .fields = layout.fields,
          .coefficients = layout.coefficients,
          .options = options};
}

struct SystemRowsChoice {
  SystemRowsOptions options;
  double efficiency;
};

// Many operations per cell: one step, and registers limit the cells per lane. Few: as many steps as registers allow.
std::vector<SystemRowsChoice> rows_choices(std::size_t operations, bool float64) {
  const int wide = float64 ? 2 : 4;
  constexpr std::size_t kMany = 80;
  std::vector<SystemRowsChoice> list;
  if (operations > kMany) {
    for (const bool quick : {true, false}) {
      for (const int cells : {2, 1}) {
        list.push_back(
            {{.depth = 1, .cells = cells, .prefetch = 2, .sub_groups = 2, .quick = quick}, quick ? 0.5 : 0.35});
      }
    }
    list.push_back({{.depth = 1, .cells = 2, .prefetch = 2, .sub_groups = 2, .resident = 8, .quick = true}, 0.48});
    list.push_back({{.depth = 1, .cells = 1, .prefetch = 4, .sub_groups = 4, .resident = 4, .quick = true}, 0.45});
    return list;
  }
  list.push_back({{.depth = 16, .cells = wide, .prefetch = 3, .sub_groups = 4}, 0.6});
  list.push_back({{.depth = 12, .cells = wide, .prefetch = 4, .sub_groups = 4}, 0.6});
  list.push_back({{.depth = 12, .cells = wide, .prefetch = 2, .sub_groups = 4, .resident = 3}, 0.6});
  list.push_back({{.depth = 8, .cells = wide, .prefetch = 2, .sub_groups = 4, .resident = 4}, 0.58});
  list.push_back({{.depth = 8, .cells = wide, .prefetch = 4, .sub_groups = 4}, 0.58});
  list.push_back({{.depth = 8, .cells = wide, .prefetch = 4, .sub_groups = 2}, 0.56});
  list.push_back({{.depth = 8, .cells = wide, .prefetch = 2, .sub_groups = 2, .resident = 8}, 0.56});
  list.push_back({{.depth = 4, .cells = wide, .prefetch = 4, .sub_groups = 4}, 0.55});
  list.push_back({{.depth = 2, .cells = wide, .prefetch = 4, .sub_groups = 4}, 0.6});
  list.push_back({{.depth = 1, .cells = wide, .prefetch = 4, .sub_groups = 4}, 0.7});
  return list;
}

}  // namespace

template <class T>
std::string system_rows_refusal(const Device& device, const Update<T>& update, const Layout& layout,
                                const SystemRowsOptions& options) {
  const SystemRowsKernel kernel = make_rows(update, layout, options);
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
    const auto sides = 2 * static_cast<std::size_t>(options.depth * layout.radius[axis]);
    if (sides >= layout.shape[axis])
      return fmt::format("a depth of {} steps and radius {} need more than {} cells, got {}", options.depth,
                         layout.radius[axis], sides, layout.shape[axis]);
  }
  if (layout.shape[1] > (1u << 30) || layout.shape[2] > (1u << 30))
    return fmt::format("needs at most 2^30 cells per axis, got {} x {}", layout.shape[1], layout.shape[2]);
  return kernel.refusal(device.limits());
}

template <class T>
std::shared_ptr<const Variant<T>> system_rows_variant(const Device& device, const Update<T>& update,
                                                      const Layout& layout, const SystemRowsOptions& options) {
  const DeviceLayout place = padded_layout({layout.shape[1], layout.shape[2]}, sizeof(T));
  const std::size_t margin = inner_margin(update, layout);
  const FrameKernel frame{
      .text = cell_text(update.outputs, layout, type_name<T>()), .place = place, .least = {0, margin, margin}};
  const MakePass make = [=](std::size_t depth) -> std::shared_ptr<const Pass> {
    SystemRowsOptions wanted = options;
    wanted.depth = static_cast<int>(depth);
    const SystemRowsKernel kernel = make_rows(update, layout, wanted);
    const Kernel compiled = device.compile(kernel.source()).kernel("system_rows");
    const auto items = static_cast<std::size_t>(wanted.lanes * wanted.sub_groups);
    const auto at = [&](std::size_t axis) {
      return margin > 0 ? static_cast<int>(margin) : wanted.depth * layout.radius[axis];
    };
    const SystemRowsPlan plan = plan_rows(kernel, place, at(2), static_cast<int>(layout.shape[2]) - at(2), at(1),
                                          static_cast<int>(layout.shape[1]) - at(1),
                                          resident_groups(device, compiled, items, kernel.local_bytes()));
    return std::make_shared<const FramedPass>(
        device, frame, depth, margin > 0 || needs_frame(layout, depth),
        MarchStep{{compiled, plan.launch, plan.scalars, layout.coefficients > 0}});
  };
  return device_variant<T>(device, layout, place, pass_depths(options.depth), make);
}

template <class T>
void list_device_system_rows(const Device& device, const Update<T>& update, const Layout& layout,
                             std::vector<Entry<T>>& entries) {
  if (layout.dimensions != 2) return;
  if (update.linear && layout.fields == 1 && layout.coefficients == 0) return;  // row_march handles these
  const Tape tape = flatten(march_outputs(update, layout));
  const std::size_t operations = shared_values(tape, 1, 1).operations();
  for (SystemRowsChoice choice : rows_choices(operations, sizeof(T) == 8)) {
    SystemRowsOptions& options = choice.options;
    // Around the inner form the frame kernel advances one step only.
    if (inner_margin(update, layout) > 0 && options.depth > 1) continue;
    if (device.limits().sub_group != 0) options.lanes = static_cast<int>(device.limits().sub_group);
    const SystemRowsKernel kernel = make_rows(update, layout, options);
    const double steps = options.depth;
    const double redundancy = 1.0 + 2.0 * kernel.halo() / std::max(1, kernel.useful());
    Entry<T> entry;
    entry.candidate = {.variant = "system_rows",
                       .parameters = {{"depth", std::to_string(options.depth)},
                                      {"cells", std::to_string(options.cells)},
                                      {"groups", std::to_string(options.sub_groups)}},
                       .refusal = device.limits().sub_group == 0 ? "needs a device with sub-group shuffles"
                                                                 : system_rows_refusal(device, update, layout, options),
                       .cost = step_cost(update, layout, 2 / steps, choice.efficiency, redundancy)};
    if (inner_margin(update, layout) > 0) {  // the frame has few cells
      const std::size_t read = layout.coefficients - update.inner.zero_coefficients.size();
      entry.candidate.cost.bytes *= static_cast<double>(2 * update.inner.outputs.size() + read) /
                                    static_cast<double>(2 * layout.fields + layout.coefficients);
    }
    if (options.resident > 1) entry.candidate.parameters.emplace_back("resident", std::to_string(options.resident));
    if (options.quick) entry.candidate.parameters.emplace_back("division", "quick");
    entry.candidate.cost.flops =
        static_cast<double>(kernel.values.operations() * layout.changing()) / steps * redundancy;
    entry.exact = !options.quick;
    entry.kernels = [device, kernel, layout, outputs = update.outputs, inner = inner_margin(update, layout)] {
      std::vector<KernelSource> sources{kernel.source(), service_source<T>(device)};
      if (inner > 0 || needs_frame(layout, static_cast<std::size_t>(kernel.options.depth)))
        sources.push_back(frame_source(device, {.text = cell_text(outputs, layout, type_name<T>()), .place = {}},
                                       static_cast<std::size_t>(kernel.options.depth)));
      return sources;
    };
    entry.build = [device, update, layout, options] { return system_rows_variant<T>(device, update, layout, options); };
    entries.push_back(std::move(entry));
  }
}

template std::string system_rows_refusal(const Device&, const Update<float>&, const Layout&, const SystemRowsOptions&);
template std::string system_rows_refusal(const Device&, const Update<double>&, const Layout&, const SystemRowsOptions&);
template std::shared_ptr<const Variant<float>> system_rows_variant(const Device&, const Update<float>&, const Layout&,
                                                                   const SystemRowsOptions&);
template std::shared_ptr<const Variant<double>> system_rows_variant(const Device&, const Update<double>&, const Layout&,
                                                                    const SystemRowsOptions&);

extern const Listers kDeviceSystemRows{list_device_system_rows<float>, list_device_system_rows<double>};

}  // namespace ridge::stencil
