// Gather variants for any update: one cell per work-item (plain, read-only cache, padded rows), two-wide, blocks of
// vectors, and tiles of several steps in local memory.
#include <cstdint>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "stencil/device/cells/gather.hpp"
#include "stencil/device/pass.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

std::vector<std::size_t> shape_of(const Layout& layout) {
  return {layout.shape.begin() + static_cast<std::ptrdiff_t>(3 - layout.dimensions), layout.shape.end()};
}

template <class GeneratedKernel>
std::shared_ptr<const Pass> one_launch(const Device& device, const GeneratedKernel& kernel, const char* name) {
  return std::make_shared<const LaunchPass>(
      std::vector<LaunchPass::Step>{{device.compile(kernel.source()).kernel(name), kernel.launch(), kernel.scalars(),
                                     kernel.text.layout.coefficients > 0}});
}

template <class T>
GatherKernel gather(const Update<T>& update, const Layout& layout, const GatherOptions& options) {
  return {.text = cell_text(update.outputs, layout, type_name<T>()),
          .place = options.padded ? padded_layout(shape_of(layout), sizeof(T)) : packed_layout(shape_of(layout)),
          .options = options};
}

Extent square(const Layout& layout) {
  if (layout.dimensions == 1) return {256};
  return layout.dimensions == 2 ? Extent{16, 16} : Extent{16, 4, 4};
}
Extent flat(const Layout& layout) {
  if (layout.dimensions == 1) return {256};
  return {32, 8};
}

}  // namespace

template <class T>
void list_device_cells(const Device& device, const Update<T>& update, const Layout& layout,
                       std::vector<Entry<T>>& entries) {
  const auto add = [&](const char* variant, const GatherOptions& options, double efficiency) {
    const GatherKernel kernel = gather(update, layout, options);
    Entry<T> entry;
    entry.candidate = {
        .variant = variant,
        .parameters = {{"items", fmt::format("{}x{}x{}", options.items[0], options.items[1], options.items[2])}},
        .refusal = kernel.refusal(device.limits()),
        .cost = step_cost(update, layout, 2, efficiency)};
    if (options.wide > 1) entry.candidate.parameters.emplace_back("wide", std::to_string(options.wide));
    if (options.tall > 1) entry.candidate.parameters.emplace_back("tall", std::to_string(options.tall));
    entry.kernels = [device, kernel] { return std::vector{kernel.source(), service_source<T>(device)}; };
    entry.build = [device, layout, kernel] {
      return device_variant<T>(device, layout, kernel.place, {1},
                               [=](std::size_t) { return one_launch(device, kernel, "update_cells"); });
    };
    entries.push_back(std::move(entry));
  };
  add("base", {.items = square(layout)}, 0.45);
  add("read_only", {.items = flat(layout), .cached = true}, 0.5);
  add("padded", {.items = flat(layout), .cached = true, .padded = true}, 0.52);
  if constexpr (std::is_same_v<T, std::uint8_t>) return;  // the dialect has no vectors of bytes
  add("two_wide", {.items = flat(layout), .wide = 2, .cached = true, .padded = true}, 0.6);
  const int wide = sizeof(T) == 8 ? 2 : 4;
  for (const int tall : {1, 2, 4}) {
    if (tall > 1 && (layout.dimensions == 1 || update.fields > 2)) continue;
    if (wide * tall <= 2) continue;
    add("blocks", {.items = flat(layout), .wide = wide, .tall = tall, .cached = true, .padded = true},
        0.7 + 0.02 * tall);
  }
}

template <class T>
void list_device_tiles(const Device& device, const Update<T>& update, const Layout& layout,
                       std::vector<Entry<T>>& entries) {
  const DeviceLayout place = padded_layout(shape_of(layout), sizeof(T));
  const auto make = [text = cell_text(update.outputs, layout, type_name<T>()), place](const TileOptions& options) {
    return TileKernel{.text = text, .place = place, .options = options};
  };
  const auto add = [&](const TileOptions& options) {
    const TileKernel kernel = make(options);
    double redundancy = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      redundancy *= 1 + static_cast<double>(options.depth * static_cast<std::size_t>(layout.radius[axis])) /
                            static_cast<double>(options.tile[axis]);
    }
    Entry<T> entry;
    entry.candidate = {
        .variant = "tiles",
        .parameters = {{"depth", std::to_string(options.depth)},
                       {"tile", fmt::format("{}x{}x{}", options.tile[0], options.tile[1], options.tile[2])}},
        .refusal = kernel.refusal(device.limits()),
        .cost = step_cost(update, layout, (1 + redundancy) / static_cast<double>(options.depth), 0.35, redundancy)};
    entry.kernels = [device, kernel] { return std::vector{kernel.source(), service_source<T>(device)}; };
    entry.build = [device, layout, place, make, options] {
      std::vector<std::size_t> depths{options.depth};
      if (options.depth > 1) depths.push_back(1);
      return device_variant<T>(device, layout, place, depths, [=](std::size_t depth) {
        TileOptions wanted = options;
        wanted.depth = depth;
        return one_launch(device, make(wanted), "update_tile");
      });
    };
    entries.push_back(std::move(entry));
  };
  for (const std::size_t depth : {1u, 2u, 3u, 4u}) {
    if (layout.dimensions == 1) {
      add({.depth = 4 * depth, .tile = {1, 1, 1024}, .items = 256});
    } else if (layout.dimensions == 2) {
      add({.depth = depth, .tile = {1, 32, 64}, .items = 256});
    } else if (depth < 4) {
      add({.depth = depth, .tile = {8, 8, 32}, .items = 256});
    }
  }
}

extern const Listers kDeviceCells{list_device_cells<float>, list_device_cells<double>, list_device_cells<std::int32_t>,
                                  list_device_cells<std::uint8_t>};
extern const Listers kDeviceTiles{list_device_tiles<float>, list_device_tiles<double>, list_device_tiles<std::int32_t>,
                                  list_device_tiles<std::uint8_t>};

}  // namespace ridge::stencil
