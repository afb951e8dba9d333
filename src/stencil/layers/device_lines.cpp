// Layers on devices, line by line: one launch per axis.
#include <algorithm>
#include <cstdint>

#include "stencil/device/pass.hpp"
#include "stencil/layers/device_layers.hpp"
#include "stencil/layers/line_kernels.hpp"

namespace ridge::stencil {
namespace {

// The layers of one axis.
struct LineAxis {
  Kernel kernel{};
  LayerPlace place{};
  Buffer table{};
  std::size_t items = kLineItems;    // of a group
  std::size_t sides = 0, lines = 0;  // lines per side
};

// First and last cell of the band, plus one, at which a profile is not zero: elsewhere the memory variables stay zero.
template <class T>
std::pair<std::size_t, std::size_t> live_cells(const LoweredLayer<T>& layer) {
  const std::size_t band = layer.place.extent[layer.place.axis];
  std::size_t begin = band, end = 0;
  for (const std::vector<T>& profile : layer.values) {
    for (std::size_t at = 0; at < band; ++at) {
      if (profile[at + layer.place.radius] == T{0}) continue;
      begin = std::min(begin, at);
      end = std::max(end, at + 1);
    }
  }
  return {begin, end};
}

// One profile after another, or the values of each cell together.
template <class T>
void add_profiles(const LoweredLayer<T>& layer, std::vector<T>& all) {
  if (!line_profile_quads<T>(layer.profiles)) {
    for (const std::vector<T>& profile : layer.values) all.insert(all.end(), profile.begin(), profile.end());
    return;
  }
  for (std::size_t at = 0; at < layer.values[0].size(); ++at) {
    for (const std::vector<T>& profile : layer.values) all.push_back(profile[at]);
  }
}

template <class T>
class LineLayersState final : public LayerState<T> {
 public:
  LineLayersState(const Device& device, const std::vector<LoweredLayer<T>>& layers, const Layout& layout,
                  const std::array<Kernel, 3>& kernels, const Surface& surface)
      : layout_(layout), surface_(surface), queue_(device.queue()), scale_(layers.front().scale) {
    std::vector<T> profiles;
    std::vector<std::vector<std::int64_t>> tables;
    for (const LoweredLayer<T>& layer : layers) {
      const LayerPlace& place = layer.place;
      auto axis =
          std::find_if(axes_.begin(), axes_.end(), [&](const auto& one) { return one.place.axis == place.axis; });
      if (axis == axes_.end()) {
        const std::size_t cells = place.extent[0] * place.extent[1] * place.extent[2];
        axis = axes_.insert(axes_.end(), {.kernel = kernels[place.axis],
                                          .place = place,
                                          .items = place.axis == 2 ? row_items(place) : kLineItems,
                                          .lines = cells / place.extent[place.axis]});
        tables.emplace_back();
      }
      const auto [live_begin, live_end] = live_cells(layer);
      const std::size_t begin = place.begin[place.axis] - layout.begin[place.axis];
      std::vector<std::int64_t>& table = tables[static_cast<std::size_t>(axis - axes_.begin())];
      for (const std::size_t number : {begin, values_, profiles.size(), live_begin, live_end})
        table.push_back(static_cast<std::int64_t>(number));
      ++axis->sides;
      values_ += axis->lines * place.extent[place.axis] * layer.memories;
      add_profiles(layer, profiles);
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      axes_[i].table = device.buffer(tables[i].size() * sizeof(std::int64_t), {.name = "sides of layers"});
      queue_.upload(tables[i].data(), axes_[i].table, tables[i].size() * sizeof(std::int64_t));
    }
    memories_ = device.buffer(std::max<std::size_t>(1, values_) * sizeof(T), {.name = "layers"});
    profiles_ = device.buffer(profiles.size() * sizeof(T), {.name = "profiles of layers"});
    queue_.upload(profiles.data(), profiles_, profiles.size() * sizeof(T));
    clear();
  }

  void step(Running<T>& running) override {
    surface_.enqueue(*running.device_grid());
    running.single();
    const DeviceGrid grid = *running.device_grid();
    queue_ = grid.queue;
    for (const LineAxis& axis : axes_) launch(grid, axis);
  }
  void clear() override {
    queue_.fill(memories_, std::byte{0});
    queue_.finish();
  }
  std::size_t values() const override { return values_; }
  void save(T* values) override {
    queue_.download(memories_, values, values_ * sizeof(T));
    queue_.finish();
  }
  void restore(const T* values) override {
    queue_.upload(values, memories_, values_ * sizeof(T));
    queue_.finish();
  }
  std::size_t held_values() const override { return values_; }
  void copy_state(Queue& queue, const Buffer& state, std::size_t offset, bool back) override {
    copy_values(queue, memories_, state, values_ * sizeof(T), offset, back);
  }

 private:
  void launch(const DeviceGrid& grid, const LineAxis& axis) const {
    const std::size_t first =
        grid.origin + layout_.begin[0] * grid.plane + layout_.begin[1] * grid.pitch + layout_.begin[2];
    const std::size_t newer = grid.newer * grid.field + first, older = grid.older * grid.field + first;
    std::vector<Argument> arguments{grid.fields, grid.coefficients, profiles_,   memories_,
                                    axis.table,  word(newer),       word(older), word(scale_ * grid.field + first)};
    const auto add = [&](std::size_t step, std::size_t other_step, std::size_t one, std::size_t other) {
      arguments.insert(arguments.end(), {word(step), word(other_step), Argument(static_cast<std::uint32_t>(one)),
                                         Argument(static_cast<std::uint32_t>(other))});
    };
    const auto& extent = axis.place.extent;
    Launch launch{.groups = {(axis.lines + axis.items - 1) / axis.items, axis.sides}, .items = {axis.items}};
    if (axis.place.axis == 0) add(grid.plane, grid.pitch, extent[2], extent[1]);
    if (axis.place.axis == 1) add(grid.pitch, grid.plane, extent[2], extent[0]);
    if (axis.place.axis == 2) {
      // Both ends of a row at the same time: the end of a row is next to the beginning of the next one.
      add(grid.pitch, grid.plane, extent[1], axis.lines);
      launch.groups = {axis.sides, (extent[1] + tile_rows(axis.place) - 1) / tile_rows(axis.place), extent[0]};
    }
    grid.queue.launch(axis.kernel, launch, arguments);
  }

  const Layout& layout_;
  const Surface& surface_;
  Queue queue_;  // after the first step the grid's, so that copies wait for the steps before
  std::vector<LineAxis> axes_{};
  Buffer profiles_{}, memories_{};
  std::size_t values_ = 0, scale_ = 0;
};

template <class T>
class LineLayers final : public Layers<T> {
 public:
  LineLayers(const Device& device, const Update<T>& update, const Layout& layout, bool aligned)
      : device_(device),
        layout_(layout),
        layers_(lower_layers(update, layout)),
        sources_(line_layer_sources(update, layout, aligned)),
        surface_(device, surface_sources(update), layout) {
    const Program program = device.compile(sources_.back());
    for (const LoweredLayer<T>& layer : layers_)
      kernels_[layer.place.axis] = program.kernel(line_kernel_name(layer.place.axis));
  }
  std::unique_ptr<LayerState<T>> start() const override {
    return std::make_unique<LineLayersState<T>>(device_, layers_, layout_, kernels_, surface_);
  }
  std::vector<KernelSource> kernels() const override { return sources_; }

 private:
  Device device_;
  Layout layout_;
  std::vector<LoweredLayer<T>> layers_;
  std::vector<KernelSource> sources_;
  std::array<Kernel, 3> kernels_{};
  Surface surface_;
};

}  // namespace

template <class T>
std::vector<KernelSource> line_layer_sources(const Update<T>& update, const Layout& layout, bool aligned) {
  const std::vector<LoweredLayer<T>> layers = lower_layers(update, layout);
  std::array<const LoweredLayer<T>*, 3> first{};
  std::string text;
  for (const LoweredLayer<T>& layer : layers) {
    const LoweredLayer<T>*& same = first[layer.place.axis];
    if (line_cells(layer.place) > kWidestLine ||
        (same != nullptr && line_cells(same->place) != line_cells(layer.place)))
      return {};
    if (same == nullptr) text += line_kernel_text(layer, layout, aligned);
    same = &layer;
  }
  if (text.empty()) return {};
  std::vector<KernelSource> sources = surface_sources(update);
  sources.push_back({.name = "stencil layers by lines", .text = text, .defines = {{"CELL", type_name<T>()}}});
  return sources;
}

template <class T>
std::shared_ptr<const Layers<T>> layers_by_lines(const Device& device, const Update<T>& update, const Layout& layout,
                                                 bool aligned) {
  return std::make_shared<LineLayers<T>>(device, update, layout, aligned);
}

template std::vector<KernelSource> line_layer_sources(const Update<float>&, const Layout&, bool);
template std::vector<KernelSource> line_layer_sources(const Update<double>&, const Layout&, bool);
template std::shared_ptr<const Layers<float>> layers_by_lines(const Device&, const Update<float>&, const Layout&, bool);
template std::shared_ptr<const Layers<double>> layers_by_lines(const Device&, const Update<double>&, const Layout&,
                                                               bool);

}  // namespace ridge::stencil
