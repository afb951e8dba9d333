// Shots on devices: points, snapshots and images stay on the device; states are kept in host memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "device/kernel_text.hpp"
#include "device/staging.hpp"
#include "stencil/device/pass.hpp"
#include "stencil/shots/shot_run.hpp"
#include "stencil/shots/snapshot_store.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kPointItems = 64;  // work-items of a group of move_points
constexpr std::size_t kSmallCells = 4;   // cells per work-item of the kernels of small snapshots

// Kernels of one kind of snapshots, which the run that reads them launches too.
template <class T>
struct DeviceSnapshots final : Snapshots<T> {
  SnapshotBits bits = SnapshotBits::whole;
  Kernel close{}, correlate{};
  Buffer whole{}, small{}, scales{};  // with small integers, `whole` is one snapshot, of the step that is under way
  bool third = false;                 // small integers: a third level of the grid holds the level before the step
  // The time levels of the forward run are its snapshots: slot k needs levels k to k + 2.
  Buffer levels{};
  std::array<std::size_t, 2> first{};      // fields of levels 0 and 1
  std::unique_ptr<SnapshotStore> store{};  // if streamed: `small` and `scales` then hold kSnapshotPlaces
};

template <class T>
struct DeviceFrames final : Frames<T> {
  Kernel move{};
  std::size_t cells = 0;
  Buffer place{}, values{};
};

template <class T>
class DeviceShot final : public ShotRun<T> {
 public:
  DeviceShot(const Device& device, const Chosen<T>& chosen, const Grid<T>& coefficients,
             std::shared_ptr<SpareMemory> spare)
      : device_(device),
        spare_(spare ? std::move(spare) : std::make_shared<SpareMemory>()),
        chosen_(chosen),
        running_(chosen.variant->start(Grid<T>(coefficients.shape(), chosen.layout.fields), &coefficients)),
        layers_(chosen.layers ? chosen.layers->start() : nullptr),
        move_(device.compile(shot_sources<T>().front()).kernel("move_points")),
        grid_(*running_->device_grid()),
        transfer_(device),
        in_place_(running_->release()) {}

  void clear() override {
    flush();
    const DeviceGrid grid = *running_->device_grid();
    grid.queue.fill(grid.fields, std::byte{0});
    grid.queue.finish();
    running_->reset_levels();
    if (layers_) layers_->clear();
  }
  void step() override {
    if (pending_ && pending_->older) flush();
    if (together_ > 1) running_->aim((running_->device_grid()->newer + 1) % together_);
    step_with_layers(*running_, layers_.get());
    if (pending_) pending_->older = true;
  }
  void wait() override {
    flush();
    flush_image();
    running_->wait();
  }

  std::size_t attach(const PointTable& table, std::size_t rows) override {
    Attached attached{.points = table.points, .cells = table.cells.size(), .lanes = lanes_of(table)};
    const auto places = [&](const std::vector<std::uint32_t>& cells) {
      std::vector<std::uint32_t> result;
      for (const std::uint32_t cell : cells) result.push_back(static_cast<std::uint32_t>(place_of(cell)));
      return result;
    };
    const auto weights = [](const std::vector<double>& from) { return std::vector<T>(from.begin(), from.end()); };
    attached.place = upload(places(table.cell));
    attached.first = upload(table.first);
    attached.weight = upload(weights(table.weight));
    attached.cell_place = upload(places(table.cells));
    attached.cell_first = upload(table.cell_first);
    attached.point = upload(table.point);
    attached.point_weight = upload(weights(table.point_weight));
    attached.values = device_.buffer(std::max<std::size_t>(1, rows * table.points) * sizeof(T), {.name = "traces"});
    points_.push_back(attached);
    return points_.size() - 1;
  }
  void put_rows(std::size_t points, std::size_t begin, std::size_t count, const T* values) override {
    const Attached& attached = points_[points];
    const DeviceGrid grid = *running_->device_grid();
    grid.queue.upload(values, attached.values, count * attached.points * sizeof(T),
                      begin * attached.points * sizeof(T));
    grid.queue.finish();
  }
  void get_rows(std::size_t points, std::size_t begin, std::size_t count, T* values) override {
    flush();
    const Attached& attached = points_[points];
    const DeviceGrid grid = *running_->device_grid();
    grid.queue.download(attached.values, values, count * attached.points * sizeof(T),
                        begin * attached.points * sizeof(T));
    grid.queue.finish();
  }
  void add(std::size_t points, std::size_t row) override {
    if (pending_ && !pending_->older) flush();
    move(&points_[points], row);
  }
  // Deferred until the next add(), whose launch takes these values too: a step does not change the level they are read
  // from.
  void take(std::size_t points, std::size_t row) override {
    flush();
    pending_ = Pending{points, row, false};
  }

  std::shared_ptr<Snapshots<T>> snapshots(std::size_t slots, SnapshotBits bits, bool streamed) override {
    auto made = std::make_shared<DeviceSnapshots<T>>();
    const bool whole = bits == SnapshotBits::whole;
    const Program program = device_.compile(shot_sources<T>()[bits == SnapshotBits::eight ? 2 : 1]);
    made->bits = bits;
    made->third = !whole && running_->open_levels(3);
    made->close = program.kernel(whole ? "close_snapshot" : "close_small");
    made->correlate = program.kernel(whole ? "correlate" : "correlate_small");
    const std::size_t field = field_values();
    if (!made->third) made->whole = device_.buffer(field * (whole ? slots : 1) * sizeof(T), {.name = "snapshots"});
    if (!whole) {
      const std::size_t places = streamed ? kSnapshotPlaces : slots;
      made->small = device_.buffer(field * places * bytes_of(bits), {.name = "small snapshots"});
      made->scales = device_.buffer(blocks() * places * sizeof(float), {.name = "scales of snapshots"});
      if (streamed)
        made->store =
            std::make_unique<SnapshotStore>(device_, slots,
                                            std::vector<SnapshotStore::Part>{{made->small, field * bytes_of(bits)},
                                                                             {made->scales, blocks() * sizeof(float)}},
                                            spare_);
    }
    return made;
  }
  bool has_levels() const override { return running_->has_levels(); }
  std::shared_ptr<Snapshots<T>> levels(std::size_t slots) override {
    auto made = std::make_shared<DeviceSnapshots<T>>();
    running_->open_levels(slots + 2);
    made->levels = running_->device_grid()->fields;
    made->correlate = device_.compile(shot_sources<T>()[1]).kernel("correlate_levels");
    return made;
  }
  void correlate_together(std::size_t steps) override {
    together_ = std::min(steps, kTogether);  // as many as the kernel adds
    running_->open_levels(together_);
  }
  void open(Snapshots<T>& snapshots, std::size_t slot) override {
    auto& all = static_cast<DeviceSnapshots<T>&>(snapshots);
    const DeviceGrid grid = *running_->device_grid();
    if (all.third) return running_->aim(3 - grid.newer - grid.older);
    if (all.levels) {
      if (slot == 0) all.first = {grid.older, grid.newer};
      return running_->aim(slot + 2);
    }
    const std::size_t bytes = field_values() * sizeof(T);
    grid.queue.copy(grid.fields, all.whole, bytes, grid.older * bytes,
                    all.bits == SnapshotBits::whole ? slot * bytes : 0);
  }
  void close(Snapshots<T>& snapshots, std::size_t slot) override {
    auto& all = static_cast<DeviceSnapshots<T>&>(snapshots);
    const DeviceGrid grid = *running_->device_grid();
    const std::size_t field = field_values();
    if (all.levels) return;
    if (all.bits == SnapshotBits::whole) {
      launch(all.close, field,
             {grid.fields, all.whole, start(grid, false), start(grid, true), word(slot * field), word(field)});
    } else {
      const std::size_t place = all.store ? all.store->place_to_write(slot) : slot;
      launch(all.close, (field + kSmallCells - 1) / kSmallCells,
             {grid.fields, all.third ? grid.fields : all.whole, all.small, all.scales, start(grid, false),
              start(grid, true), word(all.third ? (3 - grid.newer - grid.older) * field : 0), word(place), word(field),
              word(blocks())});
      if (all.store) all.store->written(slot, grid.queue.record());
    }
  }
  void correlate(Snapshots<T>& snapshots, std::size_t slot, double weight) override {
    auto& all = static_cast<DeviceSnapshots<T>&>(snapshots);
    const DeviceGrid grid = *running_->device_grid();
    const std::size_t field = field_values();
    make_image(all.bits != SnapshotBits::whole);
    if (all.levels) {
      if (collected_.count > 0 && (collected_.from != &all || slot + collected_.count != collected_.slot))
        flush_image();
      if (collected_.count == 0) collected_ = {&all, slot, grid.newer, 0, weight};
      if (++collected_.count >= together_) flush_image();
      return;
    }
    if (all.bits == SnapshotBits::whole) {
      launch(all.correlate, field,
             {grid.fields, all.whole, image_, start(grid, false), word(slot * field), word(field),
              Argument(static_cast<T>(weight))});
    } else {
      const std::size_t place = all.store ? all.store->place_to_read(slot) : slot;
      launch(all.correlate, (field + kSmallCells - 1) / kSmallCells,
             {grid.fields, all.small, all.scales, image_, rounding_, start(grid, false), word(place), word(field),
              word(blocks()), Argument(static_cast<T>(weight))});
      if (all.store) all.store->used(slot, grid.queue.record());
    }
  }
  std::shared_ptr<Frames<T>> frames(const std::vector<std::uint32_t>& cells, std::size_t slots) override {
    auto made = std::make_shared<DeviceFrames<T>>();
    made->move = device_.compile(shot_sources<T>()[1]).kernel("move_frame");
    made->cells = cells.size();
    std::vector<std::uint32_t> places;
    for (const std::uint32_t cell : cells) places.push_back(static_cast<std::uint32_t>(grid_.origin + place_of(cell)));
    made->place = upload(places);
    made->values = device_.buffer(std::max<std::size_t>(1, cells.size() * slots) * sizeof(T), {.name = "frames"});
    return made;
  }
  void keep_frame(Frames<T>& frames, std::size_t slot) override { move_frame(frames, slot, false); }
  void put_frame(Frames<T>& frames, std::size_t slot) override { move_frame(frames, slot, true); }
  void read_image(Grid<T>& image) override {
    flush_image();
    read_values(image_, field_values(), 1, image);
  }
  void read_rounding(Grid<T>& rounding) override { read_values(rounding_, blocks(), kSnapshotBlock, rounding); }

  void save_image(T* values) override {
    flush_image();
    make_image(true);
    const DeviceGrid grid = *running_->device_grid();
    transfer_.download(grid.queue, image_, values, grid.field * sizeof(T));
    transfer_.download(grid.queue, rounding_, values + grid.field, blocks() * sizeof(T));
  }
  void restore_image(const T* values) override {
    make_image(true);
    const DeviceGrid grid = *running_->device_grid();
    transfer_.upload(grid.queue, values, image_, grid.field * sizeof(T));
    transfer_.upload(grid.queue, values + grid.field, rounding_, blocks() * sizeof(T));
  }

  std::size_t field_values() const override { return running_->device_grid()->field; }
  std::size_t held_fields() const override { return in_place_ ? 3 : 5; }
  std::size_t held_layers() const override { return layers_ ? layers_->held_values() : 0; }
  std::size_t state_values() const override { return 2 * field_values() + (layers_ ? layers_->values() : 0); }
  void save(T* state) override {
    flush();
    const DeviceGrid grid = *running_->device_grid();
    const std::size_t field = field_values(), bytes = field * sizeof(T);
    transfer_.download(grid.queue, grid.fields, state, bytes, grid.newer * bytes);
    transfer_.download(grid.queue, grid.fields, state + field, bytes, grid.older * bytes);
    if (layers_) layers_->save(state + 2 * field);
  }
  void restore(const T* state) override {
    flush();
    running_->reset_levels();
    const DeviceGrid grid = *running_->device_grid();
    const std::size_t field = field_values(), bytes = field * sizeof(T);
    transfer_.upload(grid.queue, state, grid.fields, bytes, grid.newer * bytes);
    transfer_.upload(grid.queue, state + field, grid.fields, bytes, grid.older * bytes);
    if (layers_) layers_->restore(state + 2 * field);
  }
  bool open_states(std::size_t slots) override {
    const std::size_t levels = 2 * field_values() * sizeof(T), layers = layers_ ? layers_->values() * sizeof(T) : 0;
    state_levels_ = device_.buffer(kSnapshotPlaces * levels, {.name = "states"});
    std::vector<SnapshotStore::Part> parts{{state_levels_, levels}};
    if (layers > 0) {
      state_layers_ = device_.buffer(kSnapshotPlaces * layers, {.name = "states of layers"});
      parts.push_back({state_layers_, layers});
    }
    states_ = std::make_unique<SnapshotStore>(device_, slots, parts, spare_);
    return true;
  }
  void keep_state(std::size_t slot) override {
    copy_state(states_->place_to_write(slot), false);
    states_->written(slot, running_->device_grid()->queue.record());
  }
  void put_state(std::size_t slot) override {
    copy_state(states_->place_to_read(slot), true);
    states_->used(slot, running_->device_grid()->queue.record());
  }
  void read(Grid<T>& fields) override {
    flush();
    running_->read(fields);
  }

 private:
  struct Attached {
    std::size_t points = 0, cells = 0;
    std::size_t lanes = kPointItems;  // work-items per point
    Buffer place{}, first{}, weight{}, cell_place{}, cell_first{}, point{}, point_weight{}, values{};
  };
  struct Pending {  // values to be taken from the new level, or from the level before the last step
    std::size_t points = 0, row = 0;
    bool older = false;
  };
  struct Collected {  // steps of levels() that are not yet in the image, from the last one down
    const DeviceSnapshots<T>* from = nullptr;
    std::size_t slot = 0, level = 0, count = 0;  // of the last step: its slot, and the field of the adjoint level
    double weight = 1;
  };
  // Cells of a grid from an array with one value per `cells` elements of a field; zeros without an array.
  void read_values(const Buffer& from, std::size_t count, std::size_t cells, Grid<T>& to) {
    if (!from) return std::fill(to.all().begin(), to.all().end(), T{});
    const DeviceGrid grid = *running_->device_grid();
    base::AlignedArray<T> values(count);
    transfer_.download(grid.queue, from, values.data(), values.size() * sizeof(T));
    const std::size_t width = chosen_.layout.shape[2];
    base::parallel(0, [&](std::size_t thread, std::size_t threads) {
      const base::Share rows = base::share(chosen_.layout.rows(), thread, threads);
      for (std::size_t row = rows.begin; row < rows.end; ++row) {
        const std::size_t begin = grid_.origin + row * grid_.pitch;
        for (std::size_t x = 0; x < width; ++x) to.data()[row * width + x] = values[(begin + x) / cells];
      }
    });
  }
  static Argument word(std::size_t value) { return Argument(static_cast<std::uint64_t>(value)); }
  static Argument count(std::size_t value) { return Argument(static_cast<std::int32_t>(value)); }
  // First element of a time level; its cells follow after the padding.
  static Argument start(const DeviceGrid& grid, bool older) {
    return word((older ? grid.older : grid.newer) * grid.field);
  }
  std::size_t blocks() const { return (field_values() + kSnapshotBlock - 1) / kSnapshotBlock; }

  std::size_t place_of(std::size_t cell) const {  // elements after the first cell
    const Layout& layout = chosen_.layout;
    return (cell / layout.shape[2]) * grid_.pitch + cell % layout.shape[2];
  }
  // About eight entries per work-item: one item for a cell, 8 for points between cells in 2D, 64 in 3D.
  static std::size_t lanes_of(const PointTable& table) {
    std::size_t most = 0, lanes = 1;
    for (std::size_t k = 0; k < table.points; ++k)
      most = std::max<std::size_t>(most, table.first[k + 1] - table.first[k]);
    while (8 * lanes < most && lanes < kPointItems) lanes *= 2;
    return lanes;
  }
  template <class Value>
  Buffer upload(const std::vector<Value>& values) {
    const Buffer buffer = device_.buffer(std::max<std::size_t>(1, values.size()) * sizeof(Value), {.name = "points"});
    const DeviceGrid grid = *running_->device_grid();
    grid.queue.upload(values.data(), buffer, values.size() * sizeof(Value));
    grid.queue.finish();
    return buffer;
  }
  void launch(const Kernel& kernel, std::size_t items, const std::vector<Argument>& arguments) {
    running_->device_grid()->queue.launch(kernel, {.groups = {(items + 255) / 256}, .items = {256}}, arguments);
  }
  void move_frame(Frames<T>& frames, std::size_t slot, bool back) {
    auto& all = static_cast<DeviceFrames<T>&>(frames);
    if (all.cells == 0) return;
    const DeviceGrid grid = *running_->device_grid();
    launch(all.move, all.cells,
           {grid.fields, all.values, all.place, start(grid, false), word(slot), word(all.cells), count(back ? 1 : 0)});
  }
  // Copies both time levels, the newer one first, and the memory variables.
  void copy_state(std::size_t place, bool back) {
    flush();
    if (back) running_->reset_levels();
    const DeviceGrid grid = *running_->device_grid();
    const std::size_t bytes = field_values() * sizeof(T);
    for (const std::size_t level : {0, 1}) {
      const std::size_t in_grid = (level == 1 ? grid.older : grid.newer) * bytes, there = (2 * place + level) * bytes;
      back ? grid.queue.copy(state_levels_, grid.fields, bytes, there, in_grid)
           : grid.queue.copy(grid.fields, state_levels_, bytes, in_grid, there);
    }
    if (state_layers_) layers_->copy_state(grid.queue, state_layers_, place * layers_->values() * sizeof(T), back);
  }
  void flush() {
    if (pending_) move(nullptr, 0);
  }
  // Zeros, unless they exist.
  void make_image(bool rounds) {
    const DeviceGrid grid = *running_->device_grid();
    if (!image_) {
      image_ = device_.buffer(grid.field * sizeof(T), {.name = "image"});
      grid.queue.fill(image_, std::byte{0});
    }
    if (rounds && !rounding_) {
      rounding_ = device_.buffer(blocks() * sizeof(T), {.name = "rounding of snapshots"});
      grid.queue.fill(rounding_, std::byte{0});
    }
  }
  // Adds the collected steps to the image.
  void flush_image() {
    if (collected_.count == 0) return;
    const DeviceGrid grid = *running_->device_grid();
    const DeviceSnapshots<T>& from = *collected_.from;
    launch(from.correlate, grid.field,
           {from.levels, grid.fields, image_, word(grid.field), Argument(static_cast<T>(collected_.weight)),
            count(collected_.slot), count(collected_.count), count(from.first[0]), count(from.first[1]),
            count(collected_.level), count(std::max<std::size_t>(2, together_))});
    collected_.count = 0;
  }
  // Adds a row of `from`, if given, to the new level, and takes the pending row.
  void move(const Attached* from, std::size_t row) {
    const DeviceGrid grid = *running_->device_grid();
    const std::size_t cells = from != nullptr ? from->cells : 0, groups = (cells + kPointItems - 1) / kPointItems;
    const Attached& to = pending_ ? points_[pending_->points] : *from;
    const Attached& add = from != nullptr ? *from : to;
    const std::size_t receivers = pending_ ? to.points : 0, together = kPointItems / to.lanes;
    const std::size_t all = groups + (receivers + together - 1) / together;
    if (all > 0) {
      grid.queue.launch(move_, {.groups = {all}, .items = {kPointItems}},
                        {grid.fields,
                         grid.coefficients,
                         add.cell_place,
                         add.cell_first,
                         add.point,
                         add.point_weight,
                         add.values,
                         to.place,
                         to.first,
                         to.weight,
                         to.values,
                         start(grid, false),
                         start(grid, pending_ && pending_->older),
                         word(grid.origin),
                         word(row * add.points),
                         word(pending_ ? pending_->row * to.points : 0),
                         count(groups),
                         count(cells),
                         count(to.lanes),
                         count(receivers)});
    }
    pending_.reset();
  }

  Device device_;
  std::shared_ptr<SpareMemory> spare_;
  const Chosen<T>& chosen_;
  std::unique_ptr<Running<T>> running_;
  std::unique_ptr<LayerState<T>> layers_;
  Kernel move_;
  DeviceGrid grid_;  // as it was at the start, for what does not change: origin and pitch
  std::vector<Attached> points_{};
  std::optional<Pending> pending_{};
  Collected collected_{};
  std::size_t together_ = 0;  // steps that are correlated at once, and levels of the grid; 0: not set
  Buffer image_{}, rounding_{}, state_levels_{}, state_layers_{};
  std::unique_ptr<SnapshotStore> states_{};
  PinnedTransfer transfer_;
  bool in_place_;  // a step needs no second copy of the levels
};

}  // namespace

template <class T>
std::vector<KernelSource> shot_sources() {
  const auto snapshots = [](const char* type, const char* largest) {
    return KernelSource{.name = "stencil snapshots",
                        .text = ridge::detail::kernel_text("stencil/snapshots"),
                        .defines = {{"CELL", type_name<T>()},
                                    {"SMALL", type},
                                    {"LARGEST", largest},
                                    {"TOGETHER_STEPS", std::to_string(kTogether)}}};
  };
  return {KernelSource{.name = "stencil shots",
                       .text = ridge::detail::kernel_text("stencil/shots"),
                       .defines = {{"CELL", type_name<T>()}}},
          snapshots("short", "32767"), snapshots("signed char", "127")};
}

template <class T>
std::unique_ptr<ShotRun<T>> device_shot(const Device& device, const Chosen<T>& chosen, const Grid<T>& coefficients,
                                        std::shared_ptr<SpareMemory> spare) {
  return std::make_unique<DeviceShot<T>>(device, chosen, coefficients, std::move(spare));
}
template <class T>
std::unique_ptr<ShotRun<T>> start_shot(const Device& device, const Chosen<T>& chosen, const Grid<T>& coefficients,
                                       const std::shared_ptr<SpareMemory>& spare) {
  return device.is_host() ? host_shot(chosen, coefficients) : device_shot(device, chosen, coefficients, spare);
}

template std::vector<KernelSource> shot_sources<float>();
template std::vector<KernelSource> shot_sources<double>();
template std::unique_ptr<ShotRun<float>> device_shot(const Device&, const Chosen<float>&, const Grid<float>&,
                                                     std::shared_ptr<SpareMemory>);
template std::unique_ptr<ShotRun<double>> device_shot(const Device&, const Chosen<double>&, const Grid<double>&,
                                                      std::shared_ptr<SpareMemory>);
template std::unique_ptr<ShotRun<float>> start_shot(const Device&, const Chosen<float>&, const Grid<float>&,
                                                    const std::shared_ptr<SpareMemory>&);
template std::unique_ptr<ShotRun<double>> start_shot(const Device&, const Chosen<double>&, const Grid<double>&,
                                                     const std::shared_ptr<SpareMemory>&);

}  // namespace ridge::stencil
