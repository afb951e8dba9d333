// Layers on devices: one work-item per cell of the band.
#include <algorithm>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/pass.hpp"
#include "stencil/layers/layers.hpp"

namespace ridge::stencil {
namespace {

constexpr const char* kLayerKernel = R"(
KERNEL WORK_GROUP(ITEMS_X, ITEMS_Y, 1) void {0}(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const CELL* RESTRICT profiles, GLOBAL const CELL* RESTRICT memory, GLOBAL CELL* RESTRICT to,
    GLOBAL const CELL* RESTRICT shared, ulong newer, ulong older, ulong scale, ulong first, ulong pitch, ulong plane,
    int width, int height, int planes, int stored_x, int stored_y, int stored_z) {{
  const int x = (int)GLOBAL_ID(0), y = (int)GLOBAL_ID(1), z = (int)GLOBAL_ID(2);
  if (x >= width || y >= height || z >= planes) return;
  const ulong cell = first + (ulong)z * plane + (ulong)y * pitch + x;
  const ulong stored = ((ulong)(z + MOVE_Z) * stored_y + (y + MOVE_Y)) * stored_x + (x + MOVE_X);
  const ulong block = (ulong)stored_x * stored_y * stored_z;
  const int depth = AXIS_INDEX + RADIUS;
  const long grid_step = GRID_STEP, stored_step = STORED_STEP;
  const int profile = PROFILE;
{1}}}
)";

constexpr const char* kSurfaceKernel = R"(
KERNEL WORK_GROUP(64, 1, 1) void surface_images(GLOBAL CELL* grid, ulong first, ulong step, ulong other, int width,
                                                int rows, int surface) {
  const int x = (int)GLOBAL_ID(0), row = (int)GLOBAL_ID(1);
  if (x >= width || row >= rows) return;
  for (int k = 1; k <= surface; ++k) {
    const ulong cell = first + (ulong)row * other + x;
    grid[cell + (ulong)(surface - k) * step] = -grid[cell + (ulong)(surface + k) * step];
  }
}
)";

// Reads of a layer's update as addresses of the kernel.
template <class T>
std::string read_text(const LoweredLayer<T>& layer, const Operation& op) {
  const int by = op.offset[layer.place.axis];
  if (op.kind == Node::Kind::read) {
    if (op.field == 0) return "grid[newer + cell]";
    if (op.field == layer.previous_field()) return fmt::format("grid[older + cell + ({}) * grid_step]", by);
    return op.field < layer.previous_field()
               ? fmt::format("memory[{} * block + stored + ({}) * stored_step]", op.field - 1, by)
               : fmt::format("shared[{} * block + stored + ({}) * stored_step]", op.field - layer.previous_field() - 1,
                             by);
  }
  if (op.field < layer.profiles) return fmt::format("profiles[{} * profile + depth + ({})]", op.field, by);
  if (op.field == layer.previous()) return fmt::format("grid[older + cell + ({}) * grid_step]", by);
  if (op.field == layer.scaling()) return "media[scale + cell]";
  return fmt::format("memory[{} * block + stored + ({}) * stored_step]", op.field - layer.others(), by);
}

template <class T>
std::string layer_body(const LoweredLayer<T>& layer, const Update<T>& update, const Layout& layout, bool first) {
  const CellText text = cell_text(update.outputs, layout, type_name<T>());
  std::string body = text.statements("  ", "t", [&](const Operation& op) { return read_text(layer, op); });
  for (std::size_t field = 0; field < (first ? layer.shared : layer.previous_field()); ++field) {
    body += !first && field == 0
                ? fmt::format("  grid[newer + cell] = {};\n", text.result(field, "t"))
                : fmt::format("  to[{} * block + stored] = {};\n", first ? field : field - 1, text.result(field, "t"));
  }
  return body;
}

template <class T>
KernelSource layer_source(const LoweredLayer<T>& layer, const Layout& layout) {
  const std::size_t axis = layer.place.axis;
  std::string text = fmt::format(kLayerKernel, "layer_cells", layer_body(layer, layer.main, layout, false));
  if (layer.shared > 0) text += fmt::format(kLayerKernel, "layer_shared", layer_body(layer, layer.first, layout, true));
  const auto move = [&](std::size_t k) { return std::string(k == axis ? "RADIUS" : "0"); };
  constexpr std::array<const char*, 3> index{"z", "y", "x"}, grid_step{"(long)plane", "(long)pitch", "1"},
      stored_step{"(long)stored_x * stored_y", "(long)stored_x", "1"};
  return {.name = "stencil layer",
          .text = text,
          .defines = {{"CELL", type_name<T>()},
                      {"ITEMS_X", axis == 2 ? "16" : "64"},
                      {"ITEMS_Y", axis == 2 ? "8" : "2"},
                      {"RADIUS", std::to_string(layer.place.radius)},
                      {"MOVE_X", move(2)},
                      {"MOVE_Y", move(1)},
                      {"MOVE_Z", move(0)},
                      {"AXIS_INDEX", index[axis]},
                      {"GRID_STEP", grid_step[axis]},
                      {"STORED_STEP", stored_step[axis]},
                      {"PROFILE", std::to_string(layer.place.stored[axis])}}};
}

template <class T>
struct DeviceLayer {
  LoweredLayer<T> lowered;
  KernelSource source{};
  Kernel main{}, first{};
};

template <class T>
class DeviceLayersState final : public LayerState<T> {
 public:
  DeviceLayersState(const Device& device, const std::vector<DeviceLayer<T>>& layers, const Layout& layout,
                    const Kernel& surface)
      : layers_(layers), layout_(layout), surface_(surface), queue_(device.queue()) {
    const Buffer none = device.buffer(sizeof(T), {.name = "stencil layer, unused"});
    for (const DeviceLayer<T>& layer : layers) {
      const LoweredLayer<T>& lowered = layer.lowered;
      const std::size_t size = std::max<std::size_t>(1, lowered.place.values() * lowered.memories) * sizeof(T);
      Block block{
          .profiles = device.buffer(lowered.profiles * lowered.values[0].size() * sizeof(T), {.name = "profiles"}),
          .now = device.buffer(size, {.name = "stencil layer"}),
          .next = device.buffer(size, {.name = "stencil layer, next"}),
          .shared = lowered.shared == 0 ? none
                                        : device.buffer(lowered.place.values() * lowered.shared * sizeof(T),
                                                        {.name = "stencil layer, shared"})};
      for (std::size_t k = 0; k < lowered.profiles; ++k) {
        const std::vector<T>& values = lowered.values[k];
        queue_.upload(values.data(), block.profiles, values.size() * sizeof(T), k * values.size() * sizeof(T));
      }
      blocks_.push_back(block);
    }
    clear();
    queue_.finish();
  }

  void before(Running<T>& running) override {
    if (!surface_) return;
    const DeviceGrid grid = *running.device_grid();
    const std::size_t axis = 3 - layout_.dimensions;
    const std::size_t rows = axis == 0 ? layout_.shape[1] : 1, width = axis == 2 ? 1 : layout_.shape[2];
    const std::size_t step = axis == 0 ? grid.plane : axis == 1 ? grid.pitch : 1;
    grid.queue.launch(surface_, {.groups = {(width + 63) / 64, rows}, .items = {64}},
                      {grid.fields, offset(grid, grid.exchanged ? 1 : 0), word(step), word(grid.pitch), count(width),
                       count(rows), count(layout_.begin[axis] - 1)});
  }

  void after(Running<T>& running) override {
    const DeviceGrid grid = *running.device_grid();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].lowered.shared > 0) launch(grid, layers_[i], layers_[i].first, blocks_[i], blocks_[i].shared);
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      launch(grid, layers_[i], layers_[i].main, blocks_[i], blocks_[i].next);
      std::swap(blocks_[i].now, blocks_[i].next);
    }
  }

  void clear() override {
    for (const Block& block : blocks_) {
      queue_.fill(block.now, std::byte{0});
      queue_.fill(block.next, std::byte{0});
      queue_.fill(block.shared, std::byte{0});
    }
    queue_.finish();
  }
  std::size_t values() const override {
    std::size_t values = 0;
    for (const DeviceLayer<T>& layer : layers_) values += size_of(layer);
    return values;
  }
  void save(T* values) override {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      queue_.download(blocks_[i].now, values, size_of(layers_[i]) * sizeof(T));
      values += size_of(layers_[i]);
    }
    queue_.finish();
  }
  void restore(const T* values) override {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      queue_.upload(values, blocks_[i].now, size_of(layers_[i]) * sizeof(T));
      values += size_of(layers_[i]);
    }
    queue_.finish();
  }

 private:
  struct Block {
    Buffer profiles{}, now{}, next{}, shared{};
  };
  static std::size_t size_of(const DeviceLayer<T>& layer) {
    return layer.lowered.place.values() * layer.lowered.memories;
  }
  static Argument word(std::size_t value) { return Argument(static_cast<std::uint64_t>(value)); }
  static Argument count(std::size_t value) { return Argument(static_cast<std::int32_t>(value)); }
  static Argument offset(const DeviceGrid& grid, std::size_t field) { return word(field * grid.field + grid.origin); }

  void launch(const DeviceGrid& grid, const DeviceLayer<T>& layer, const Kernel& kernel, const Block& block,
              const Buffer& to) {
    const LayerPlace& place = layer.lowered.place;
    const std::uint64_t wide = place.axis == 2 ? 16 : 64, tall = place.axis == 2 ? 8 : 2;
    const std::size_t first = place.begin[0] * grid.plane + place.begin[1] * grid.pitch + place.begin[2];
    grid.queue.launch(
        kernel,
        {.groups = {(place.extent[2] + wide - 1) / wide, (place.extent[1] + tall - 1) / tall, place.extent[0]},
         .items = {wide, tall}},
        {grid.fields, grid.coefficients, block.profiles, block.now, to, block.shared,
         offset(grid, grid.exchanged ? 1 : 0), offset(grid, grid.exchanged ? 0 : 1), offset(grid, layer.lowered.scale),
         word(first), word(grid.pitch), word(grid.plane), count(place.extent[2]), count(place.extent[1]),
         count(place.extent[0]), count(place.stored[2]), count(place.stored[1]), count(place.stored[0])});
  }

  const std::vector<DeviceLayer<T>>& layers_;
  const Layout& layout_;
  Kernel surface_;
  Queue queue_;
  std::vector<Block> blocks_{};
};

template <class T>
class DeviceLayers final : public Layers<T> {
 public:
  DeviceLayers(const Device& device, const Update<T>& update, const Layout& layout) : device_(device), layout_(layout) {
    if (update.free_surface) surface_ = device.compile(surface_source()).kernel("surface_images");
    std::map<std::size_t, std::pair<Kernel, Kernel>> compiled;  // both sides of an axis have the same kernels
    for (LoweredLayer<T>& lowered : lower_layers(update, layout)) {
      DeviceLayer<T> layer{.lowered = std::move(lowered)};
      layer.source = layer_source(layer.lowered, layout);
      auto [at, fresh] = compiled.try_emplace(layer.lowered.place.axis);
      if (fresh) {
        const Program program = device.compile(layer.source);
        at->second = {program.kernel("layer_cells"),
                      layer.lowered.shared > 0 ? program.kernel("layer_shared") : Kernel()};
      }
      layer.main = at->second.first;
      layer.first = at->second.second;
      layers_.push_back(std::move(layer));
    }
  }
  std::unique_ptr<LayerState<T>> start() const override {
    return std::make_unique<DeviceLayersState<T>>(device_, layers_, layout_, surface_);
  }
  std::vector<KernelSource> kernels() const override {
    std::vector<KernelSource> sources;
    if (surface_) sources.push_back(surface_source());
    for (const DeviceLayer<T>& layer : layers_) {
      const auto same = [&](const KernelSource& other) {
        return other.text == layer.source.text && other.defines == layer.source.defines;
      };
      if (std::none_of(sources.begin(), sources.end(), same)) sources.push_back(layer.source);
    }
    return sources;
  }

 private:
  static KernelSource surface_source() {
    return {.name = "stencil free surface", .text = kSurfaceKernel, .defines = {{"CELL", type_name<T>()}}};
  }
  Device device_;
  Layout layout_;
  Kernel surface_{};
  std::vector<DeviceLayer<T>> layers_{};
};

}  // namespace

template <class T>
std::shared_ptr<const Layers<T>> device_layers(const Device& device, const Update<T>& update, const Layout& layout) {
  return std::make_shared<DeviceLayers<T>>(device, update, layout);
}

template std::shared_ptr<const Layers<float>> device_layers(const Device&, const Update<float>&, const Layout&);
template std::shared_ptr<const Layers<double>> device_layers(const Device&, const Update<double>&, const Layout&);

}  // namespace ridge::stencil
