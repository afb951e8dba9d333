// Layers on devices: the choice of their kernels, and one launch for the cells of all layers. Bands of different axes
// overlap at the grid's edges, so the union of all bands is divided into disjoint boxes, and a work-item applies all
// layers that its cell is in.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "device/kernel_template.hpp"
#include "device/kernel_text.hpp"
#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/pass.hpp"
#include "stencil/layers/device_layers.hpp"

namespace ridge::stencil {
namespace {

constexpr std::uint64_t kLayerItems = 128;
constexpr std::size_t kCellsForLines = std::size_t{1} << 20;  // below, launches take longer than the memory traffic
constexpr std::size_t kLayerNumbers = 5, kBoxesFrom = 6 * kLayerNumbers;

// Reads of a layer's update as addresses of the kernel.
template <class T>
std::string read_text(const LoweredLayer<T>& layer, const Operation& op) {
  const int by = op.offset[layer.place.axis];
  const auto stored = [by](const char* array, std::size_t index) {
    return fmt::format("{}[{} * block + stored + ({}) * stored_step]", array, index, by);
  };
  const std::string before = fmt::format("grid[older + cell + ({}) * grid_step]", by);
  if (op.kind == Node::Kind::read) {
    if (op.field == 0) return "value";
    if (op.field == layer.previous_field()) return before;
    return op.field < layer.previous_field() ? stored("memory", op.field - 1)
                                             : stored("shared", op.field - layer.previous_field() - 1);
  }
  if (op.field < layer.profiles) return fmt::format("profile[{} + ({})]", op.field * layer.values[0].size(), by);
  if (op.field == layer.previous()) return before;
  if (op.field == layer.scaling()) return "media[scale + cell]";
  return stored("memory", op.field - layer.others());
}

template <class T>
std::string axis_block(const LoweredLayer<T>& layer, const Layout& layout, bool first) {
  const Update<T>& update = first ? layer.first : layer.main;
  const CellText text = cell_text(update.outputs, layout, type_name<T>());
  std::string body = text.statements("      ", "t", [&](const Operation& op) { return read_text(layer, op); });
  for (std::size_t field = 0; field < (first ? layer.shared : layer.previous_field()); ++field) {
    body += !first && field == 0 ? fmt::format("      value = {};\n", text.result(field, "t"))
                                 : fmt::format("      result[{} * block + stored] = {};\n", first ? field : field - 1,
                                               text.result(field, "t"));
  }
  constexpr std::array<const char*, 3> kNames{"z", "y", "x"}, kGridSteps{"(long)plane", "(long)pitch", "1"},
      kStoredSteps{"(long)height * width", "width", "1"},
      kBlocks{"deep * height * width", "depth * deep * width", "(long)depth * height * deep"};
  const std::array<std::string, 3> stored{"((long)(at + {0}) * height + y) * width + x",
                                          "((long)z * deep + at + {0}) * width + x",
                                          "((long)z * height + y) * deep + at + {0}"};
  const std::size_t axis = layer.place.axis;
  return ridge::detail::fill_kernel_text("stencil/layer_axis",
                                         {{"axis", kNames[axis]},
                                          {"first", std::to_string(2 * kLayerNumbers * axis)},
                                          {"radius", std::to_string(layer.place.radius)},
                                          {"grid_step", kGridSteps[axis]},
                                          {"stored_step", kStoredSteps[axis]},
                                          {"block", kBlocks[axis]},
                                          {"stored", fmt::format(fmt::runtime(stored[axis]), layer.place.radius)},
                                          {"to", first ? "3" : "2"},
                                          {"body", body}});
}

struct CellBox {
  std::array<std::size_t, 3> begin{}, extent{};
  std::size_t cells() const { return extent[0] * extent[1] * extent[2]; }
};

// The union of all bands, from the slowest axis to the fastest, in cells from the first changing one.
template <class T>
std::vector<CellBox> layer_boxes(const std::vector<LoweredLayer<T>>& layers, const Layout& layout) {
  std::vector<CellBox> boxes;
  CellBox rest;
  for (std::size_t k = 0; k < 3; ++k) rest.extent[k] = layout.end[k] - layout.begin[k];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    CellBox inner = rest;
    for (const LoweredLayer<T>& layer : layers) {
      const LayerPlace& place = layer.place;
      if (place.axis != axis) continue;
      CellBox box = rest;
      box.begin[axis] = place.begin[axis] - layout.begin[axis];
      box.extent[axis] = place.extent[axis];
      boxes.push_back(box);
      if (box.begin[axis] == 0) inner.begin[axis] += place.extent[axis];
      inner.extent[axis] -= place.extent[axis];
    }
    rest = inner;
  }
  return boxes;
}

template <class T>
class DeviceLayersState final : public LayerState<T> {
 public:
  DeviceLayersState(const Device& device, const std::vector<LoweredLayer<T>>& layers, const Layout& layout,
                    const Kernel& cells, const Kernel& shared, const Surface& surface)
      : layout_(layout), cells_(cells), share_(shared), surface_(surface), queue_(device.queue()) {
    if (layers.empty()) return;
    std::vector<std::int64_t> table(kBoxesFrom);
    std::vector<T> profiles;
    std::size_t shared_values = 0;
    for (const LoweredLayer<T>& layer : layers) {
      const LayerPlace& place = layer.place;
      const std::size_t begin = place.begin[place.axis] - layout.begin[place.axis];
      const std::size_t numbers[] = {begin, place.extent[place.axis], values_, shared_values, profiles.size()};
      const std::size_t side = 2 * place.axis + (begin == 0 ? 0 : 1);
      for (std::size_t k = 0; k < kLayerNumbers; ++k)
        table[side * kLayerNumbers + k] = static_cast<std::int64_t>(numbers[k]);
      values_ += place.values() * layer.memories;
      shared_values += place.values() * layer.shared;
      for (const std::vector<T>& profile : layer.values)
        profiles.insert(profiles.end(), profile.begin(), profile.end());
    }
    scale_ = layers.front().scale;
    for (const CellBox& box : layer_boxes(layers, layout)) {
      if (box.cells() == 0) continue;
      table.push_back(static_cast<std::int64_t>(groups_));
      for (const auto* numbers : {&box.begin, &box.extent}) table.insert(table.end(), numbers->begin(), numbers->end());
      groups_ += (box.cells() + kLayerItems - 1) / kLayerItems;
      ++boxes_;
    }
    const auto buffer = [&](std::size_t values, const char* name) {
      return device.buffer(std::max<std::size_t>(1, values) * sizeof(T), {.name = name});
    };
    now_ = buffer(values_, "layers");
    next_ = buffer(values_, "layers, next");
    shared_ = buffer(shared_values, "layers, shared");
    profiles_ = buffer(profiles.size(), "profiles of layers");
    table_ = device.buffer(table.size() * sizeof(std::int64_t), {.name = "boxes of layers"});
    queue_.upload(profiles.data(), profiles_, profiles.size() * sizeof(T));
    queue_.upload(table.data(), table_, table.size() * sizeof(std::int64_t));
    clear();
  }

  void step(Running<T>& running) override {
    surface_.enqueue(*running.device_grid());
    running.single();
    after(running);
  }

  void after(Running<T>& running) {
    if (boxes_ == 0) return;
    const DeviceGrid grid = *running.device_grid();
    queue_ = grid.queue;
    if (share_) launch(grid, share_, shared_);
    launch(grid, cells_, next_);
    std::swap(now_, next_);
  }

  void clear() override {
    if (boxes_ == 0) return;
    for (const Buffer& buffer : {now_, next_, shared_}) queue_.fill(buffer, std::byte{0});
    queue_.finish();
  }
  std::size_t values() const override { return values_; }
  void save(T* values) override {
    if (values_ > 0) queue_.download(now_, values, values_ * sizeof(T));
    queue_.finish();
  }
  void restore(const T* values) override {
    if (values_ > 0) queue_.upload(values, now_, values_ * sizeof(T));
    queue_.finish();
  }
  void copy_state(Queue& queue, const Buffer& state, std::size_t offset, bool back) override {
    if (values_ > 0) copy_values(queue, now_, state, values_ * sizeof(T), offset, back);
  }

 private:
  void launch(const DeviceGrid& grid, const Kernel& kernel, const Buffer& to) {
    const std::size_t first =
        grid.origin + layout_.begin[0] * grid.plane + layout_.begin[1] * grid.pitch + layout_.begin[2];
    grid.queue.launch(
        kernel, {.groups = {groups_}, .items = {kLayerItems}},
        {grid.fields, grid.coefficients, profiles_, now_, to, shared_, table_, word(grid.newer * grid.field + first),
         word(grid.older * grid.field + first), word(scale_ * grid.field + first), word(grid.pitch), word(grid.plane),
         count(boxes_), count(layout_.end[0] - layout_.begin[0]), count(layout_.end[1] - layout_.begin[1]),
         count(layout_.end[2] - layout_.begin[2])});
  }

  const Layout& layout_;
  Kernel cells_, share_;
  const Surface& surface_;
  Queue queue_;  // after the first step the grid's, so that copies wait for the steps before
  Buffer profiles_{}, now_{}, next_{}, shared_{}, table_{};
  std::size_t values_ = 0, boxes_ = 0, groups_ = 0, scale_ = 0;
};

template <class T>
class DeviceLayers final : public Layers<T> {
 public:
  DeviceLayers(const Device& device, const Update<T>& update, const Layout& layout)
      : device_(device),
        layout_(layout),
        layers_(lower_layers(update, layout)),
        sources_(cell_layer_sources(update, layout)),
        surface_(device, surface_sources(update), layout) {
    if (layers_.empty()) return;
    const Program program = device.compile(sources_.back());
    cells_ = program.kernel("layer_cells");
    if (shares(layers_)) shared_ = program.kernel("layer_shared");
  }
  std::unique_ptr<LayerState<T>> start() const override {
    return std::make_unique<DeviceLayersState<T>>(device_, layers_, layout_, cells_, shared_, surface_);
  }
  std::vector<KernelSource> kernels() const override { return sources_; }

  static bool shares(const std::vector<LoweredLayer<T>>& layers) {
    return std::any_of(layers.begin(), layers.end(), [](const auto& layer) { return layer.shared > 0; });
  }

 private:
  Device device_;
  Layout layout_;
  std::vector<LoweredLayer<T>> layers_;
  std::vector<KernelSource> sources_;
  Kernel cells_{}, shared_{};
  Surface surface_;
};

// Lines read every value once, but take one launch per axis.
template <class T>
bool lines_pay(const Device& device, const Update<T>& update, const Layout& layout) {
  if (!device.limits().private_arrays_in_registers) return false;
  std::size_t cells = 0;
  for (const CellBox& box : layer_boxes(lower_layers(update, layout), layout)) cells += box.cells();
  return cells >= kCellsForLines && !line_layer_sources(update, layout).empty();
}

}  // namespace

template <class T>
std::vector<KernelSource> surface_sources(const Update<T>& update) {
  if (!update.free_surface) return {};
  return {{.name = "stencil free surface",
           .text = ridge::detail::kernel_text("stencil/surface_images"),
           .defines = {{"CELL", type_name<T>()}}}};
}

Surface::Surface(const Device& device, const std::vector<KernelSource>& sources, const Layout& layout)
    : layout_(layout) {
  if (!sources.empty()) kernel_ = device.compile(sources.front()).kernel("surface_images");
}

void Surface::enqueue(const DeviceGrid& grid) const {
  if (!kernel_) return;
  const std::size_t axis = surface_axis(layout_);
  // Rows across the surface's other axis: along y if the surface is normal to z, along z otherwise.
  const std::size_t rows = layout_.shape[axis == 0 ? 1 : 0], width = axis == 2 ? 1 : layout_.shape[2];
  const std::size_t step = axis == 0 ? grid.plane : axis == 1 ? grid.pitch : 1;
  grid.queue.launch(
      kernel_, {.groups = {(width + 63) / 64, rows}, .items = {64}},
      {grid.fields, word(grid.newer * grid.field + grid.origin), word(step), word(axis == 0 ? grid.pitch : grid.plane),
       count(width), count(rows), count(layout_.begin[axis] - 1)});
}

template <class T>
std::vector<KernelSource> cell_layer_sources(const Update<T>& update, const Layout& layout) {
  std::vector<KernelSource> sources = surface_sources(update);
  const std::vector<LoweredLayer<T>> layers = lower_layers(update, layout);
  if (layers.empty()) return sources;
  std::string text;
  for (const bool first : {false, true}) {
    if (first && !DeviceLayers<T>::shares(layers)) continue;
    std::string blocks = first ? "" : "  CELL value = grid[newer + cell];\n";
    std::array<bool, 3> done{};  // both sides of an axis have the same text
    for (const LoweredLayer<T>& layer : layers) {
      if (done[layer.place.axis] || (first && layer.shared == 0)) continue;
      done[layer.place.axis] = true;
      blocks += axis_block(layer, layout, first);
    }
    if (!first) blocks += "  grid[newer + cell] = value;\n";
    // ptxas would limit the forward kernel of floats to 40 registers and spill one: 48 suffice.
    const bool limited = sizeof(T) == sizeof(float) && !DeviceLayers<T>::shares(layers);
    text += "\n" + ridge::detail::fill_kernel_text(
                       "stencil/layer_cells",
                       {{"name", first ? "layer_shared" : "layer_cells"},
                        {"blocks", blocks},
                        {"work_group", limited ? "WORK_GROUP_RESIDENT(128, 1, 1, 10)" : "WORK_GROUP(128, 1, 1)"}});
  }
  sources.push_back({.name = "stencil layers", .text = text, .defines = {{"CELL", type_name<T>()}}});
  return sources;
}

template <class T>
std::shared_ptr<const Layers<T>> layers_by_cells(const Device& device, const Update<T>& update, const Layout& layout) {
  return std::make_shared<DeviceLayers<T>>(device, update, layout);
}

template <class T>
std::shared_ptr<const Layers<T>> device_layers(const Device& device, const Update<T>& update, const Layout& layout,
                                               bool aligned) {
  return lines_pay(device, update, layout) ? layers_by_lines(device, update, layout, aligned)
                                           : layers_by_cells(device, update, layout);
}

template std::vector<KernelSource> surface_sources(const Update<float>&);
template std::vector<KernelSource> surface_sources(const Update<double>&);
template std::vector<KernelSource> cell_layer_sources(const Update<float>&, const Layout&);
template std::vector<KernelSource> cell_layer_sources(const Update<double>&, const Layout&);
template std::shared_ptr<const Layers<float>> layers_by_cells(const Device&, const Update<float>&, const Layout&);
template std::shared_ptr<const Layers<double>> layers_by_cells(const Device&, const Update<double>&, const Layout&);
template std::shared_ptr<const Layers<float>> device_layers(const Device&, const Update<float>&, const Layout&, bool);
template std::shared_ptr<const Layers<double>> device_layers(const Device&, const Update<double>&, const Layout&, bool);

}  // namespace ridge::stencil
