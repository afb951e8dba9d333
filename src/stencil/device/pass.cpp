// Sessions of device variants: upload, steps, boxes and download.
#include "stencil/device/pass.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "device/kernel_text.hpp"
#include "device/staging.hpp"
#include "stencil/device/packed.hpp"

namespace ridge::stencil {
namespace {

constexpr std::uint64_t kPartials = 256;
constexpr std::size_t kKeptBytes = std::size_t{16} << 20;  // recorded boxes kept on the device; at least one

struct Service {
  Kernel pad, gather, change, take, put, add;
};

// A grid on the device: the buffer that the last pass wrote, and the one that the next pass writes.
struct GridBuffers {
  Buffer current{}, other{}, coefficients{};
  std::vector<Buffer> scratch{};  // created when a pass first needs it
};

void launch(Queue& queue, const Kernel& kernel, const Launch& shape, const std::vector<Buffer>& buffers,
            const std::vector<Argument>& scalars) {
  std::vector<Argument> arguments(buffers.begin(), buffers.end());
  arguments.insert(arguments.end(), scalars.begin(), scalars.end());
  queue.launch(kernel, shape, arguments);
}

template <class T>
Service make_service(const Device& device) {
  const Program program = device.compile(service_source<T>(device));
  return {program.kernel("pad_rows"), program.kernel("pack_rows"), program.kernel("measure_change"),
          program.kernel("take_box"), program.kernel("put_box"),   program.kernel("add_value")};
}

template <class T>
class DeviceVariant : public PackedVariant<T>, public std::enable_shared_from_this<DeviceVariant<T>> {
 public:
  DeviceVariant(const Device& device, const Layout& layout, const DeviceLayout& place, std::vector<std::size_t> depths,
                MakePass make)
      : device_(device),
        layout_(layout),
        place_(place),
        depths_(std::move(depths)),
        make_(std::move(make)),
        service_(make_service<T>(device)) {
    pass(depths_.front());
  }

  std::unique_ptr<Running<T>> start(const Grid<T>& grid, const Grid<T>* coefficients) const override;
  std::unique_ptr<PackedRunning<T>> start_packed(const PackedCells& cells,
                                                 const PackedCells& coefficients) const override;
  std::size_t depth() const override { return depths_.front(); }

  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
               std::size_t steps) const override {
    GridBuffers levels = shared_levels();
    pad(queue, in, layout_.fields, levels.current);
    if (coefficients) pad(queue, coefficients, layout_.coefficients, levels.coefficients);
    queue.copy(levels.current, levels.other, bytes(layout_.fields));
    advance(queue, levels, steps);
    gather(queue, levels.current, layout_.fields, out);
    const std::lock_guard lock(mutex_);
    levels_.scratch = levels.scratch;
  }

  GridBuffers make_levels() const {
    GridBuffers levels{.current = device_.buffer(bytes(layout_.fields), {.name = "stencil grid"}),
                       .other = device_.buffer(bytes(layout_.fields), {.name = "stencil grid, other"})};
    if (layout_.coefficients > 0) {
      levels.coefficients = device_.buffer(bytes(layout_.coefficients), {.name = "stencil coefficients"});
    }
    return levels;
  }

  // Copies packed fields to the working layout, and back.
  void pad(Queue& queue, const Buffer& packed, std::size_t fields, const Buffer& to) const {
    queue.fill(to, std::byte{0});
    const std::size_t all = rows() * fields;
    launch(queue, service_.pad, rows_launch(all), {packed, to}, rows_scalars(all));
  }
  void gather(Queue& queue, const Buffer& from, std::size_t fields, const Buffer& packed) const {
    const std::size_t all = rows() * fields;
    launch(queue, service_.gather, rows_launch(all), {from, packed}, rows_scalars(all));
  }

  void advance(Queue& queue, GridBuffers& levels, std::size_t steps) const {
    for (const std::size_t depth : depths_) {
      const bool front = depth == depths_.front();
      if (steps == 0 || (steps < depth && !(front && pass(depth).any_steps()))) continue;
      const Pass& deep = pass(depth);
      while (levels.scratch.size() < deep.scratch())
        levels.scratch.push_back(
            device_.buffer(deep.scratch_bytes(bytes(layout_.fields)), {.name = "stencil grid, between"}));
      if (deep.any_steps()) {
        if (deep.enqueue_steps(queue, levels.current, levels.other, levels.scratch, steps))
          std::swap(levels.current, levels.other);
        return;
      }
      deep.open(queue, levels.current, levels.other);
      for (; steps >= depth; steps -= depth) {
        deep.enqueue(queue, levels.current, levels.other, levels.coefficients, levels.scratch);
        if (!deep.in_place()) std::swap(levels.current, levels.other);
      }
      deep.close(queue, levels.current, levels.other);
    }
  }

  // Created on first use, possibly by sessions in several threads.
  const Pass& pass(std::size_t depth) const {
    std::lock_guard lock(mutex_);
    auto& made = passes_[depth];
    if (!made) made = make_(depth);
    return *made;
  }

  std::size_t rows() const { return layout_.shape[0] * layout_.shape[1]; }
  std::size_t bytes(std::size_t fields) const { return fields * place_.field * sizeof(T); }

  // Rows along the first axis: only that grid dimension may be large.
  Launch rows_launch(std::size_t all_rows) const {
    return {
        .groups = {(all_rows + 3) / 4, std::max<std::uint64_t>(1, std::min<std::uint64_t>(16, layout_.shape[2] / 256))},
        .items = {64, 4}};
  }
  std::vector<Argument> rows_scalars(std::size_t all_rows) const {
    return {static_cast<std::int32_t>(layout_.shape[2]), static_cast<std::uint32_t>(all_rows),
            static_cast<std::uint32_t>(rows()),          static_cast<std::uint64_t>(place_.pitch),
            static_cast<std::uint64_t>(place_.origin),   static_cast<std::uint64_t>(place_.field)};
  }

  Launch box_launch(const Box& box) const {
    return {.groups = {(box.extent[0] * box.extent[1] * layout_.fields + 3) / 4}, .items = {64, 4}};
  }
  std::vector<Argument> box_scalars(const Box& box) const {
    const std::size_t plane = layout_.shape[1] * place_.pitch;
    return {
        static_cast<std::int32_t>(box.extent[2]),
        static_cast<std::uint32_t>(box.extent[0] * box.extent[1] * layout_.fields),
        static_cast<std::uint32_t>(box.extent[1]),
        static_cast<std::uint32_t>(box.extent[0]),
        static_cast<std::uint64_t>(place_.origin + box.begin[0] * plane + box.begin[1] * place_.pitch + box.begin[2]),
        static_cast<std::uint64_t>(place_.pitch),
        static_cast<std::uint64_t>(plane),
        static_cast<std::uint64_t>(place_.field)};
  }

  const Device device_;
  const Layout layout_;
  const DeviceLayout place_;
  const std::vector<std::size_t> depths_;
  const MakePass make_;
  const Service service_;

 private:
  // Those of enqueue(), created on its first call.
  GridBuffers shared_levels() const {
    std::lock_guard lock(mutex_);
    if (!levels_.current) levels_ = make_levels();
    return levels_;
  }

  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::shared_ptr<const Pass>> passes_;
  mutable GridBuffers levels_;
};

template <class T>
class DeviceRunning : public PackedRunning<T> {
 public:
  explicit DeviceRunning(std::shared_ptr<const DeviceVariant<T>> variant)
      : variant_(std::move(variant)),
        queue_(variant_->device_.queue()),
        transfer_(variant_->device_),
        levels_(variant_->make_levels()) {}

  PackedCells uploaded(const T* cells, std::size_t fields) {
    return [this, cells, bytes = fields * variant_->layout_.cells() * sizeof(T)](Queue& queue, const Buffer& packed) {
      transfer_.upload(queue, cells, packed, bytes);
    };
  }

  void fill_coefficients(const PackedCells& make) {
    const std::size_t fields = variant_->layout_.coefficients;
    const Buffer packed = variant_->device_.buffer(fields * variant_->layout_.cells() * sizeof(T),
                                                   {.name = "stencil coefficients, packed"});
    make(queue_, packed);
    variant_->pad(queue_, packed, fields, levels_.coefficients);
    queue_.finish();
  }

  void run(std::size_t steps) override {
    settle();
    variant_->advance(queue_, levels_, steps);
  }

  void single(const RowsDone& /*done*/) override {
    const Pass& pass = variant_->pass(variant_->depths_.front());
    if (!pass.in_place()) return run(1);
    if (!opened_) pass.open(queue_, levels_.current, levels_.other);
    opened_ = true;
    if (many_levels_) {
      const std::size_t target = std::exchange(target_, kOlder);
      pass.enqueue_level(queue_, levels_.current, levels_.coefficients, newer_, older_,
                         target == kOlder ? older_ : target);
      older_ = std::exchange(newer_, target == kOlder ? older_ : target);
      return;
    }
    pass.enqueue_single(queue_, levels_.current, levels_.coefficients, newer_ == 1);
    std::swap(newer_, older_);
  }
  bool has_levels() override {
    const Pass& pass = variant_->pass(variant_->depths_.front());
    return pass.in_place() && pass.has_levels() && variant_->layout_.fields == 2;
  }
  bool open_levels(std::size_t levels) override {
    if (!has_levels()) return false;
    queue_.finish();
    levels_.current = Buffer();  // frees it first: memory may not suffice for both
    levels_.current = variant_->device_.buffer(variant_->bytes(levels), {.name = "time levels"});
    queue_.fill(levels_.current, std::byte{0});
    many_levels_ = opened_ = true;
    reset_levels();
    return true;
  }
  void aim(std::size_t field) override { target_ = field; }
  void reset_levels() override {
    newer_ = 0;
    older_ = 1;
    target_ = kOlder;
  }
  void settle() override {
    if (!opened_) return;
    if (!levels_.other)
      levels_.other =
          variant_->device_.buffer(variant_->bytes(variant_->layout_.fields), {.name = "stencil grid, other"});
    const std::size_t field = variant_->bytes(1);
    for (const auto& [one, two] : variant_->pass(variant_->depths_.front()).exchanges()) {
      if (newer_ == 0 && older_ == 1) continue;
      const std::size_t newer = many_levels_ ? newer_ : two, older = many_levels_ ? older_ : one;
      queue_.copy(levels_.current, levels_.other, field, newer * field, one * field);
      queue_.copy(levels_.current, levels_.other, field, older * field, two * field);
      queue_.copy(levels_.other, levels_.current, field, one * field, one * field);
      queue_.copy(levels_.other, levels_.current, field, two * field, two * field);
    }
    // Fixed cells of both buffers, as they were.
    queue_.copy(levels_.current, levels_.other, variant_->bytes(variant_->layout_.fields));
    opened_ = false;
    reset_levels();
  }
  bool release() override {
    const Pass& pass = variant_->pass(variant_->depths_.front());
    if (!pass.in_place()) return false;
    if (!opened_) pass.open(queue_, levels_.current, levels_.other);
    opened_ = true;
    queue_.finish();
    levels_.other = Buffer();
    return true;
  }
  std::optional<DeviceGrid> device_grid() override {
    const DeviceLayout& place = variant_->place_;
    return DeviceGrid{queue_,       levels_.current, levels_.coefficients,
                      place.origin, place.pitch,     place.plane(),
                      place.field,  newer_,          older_};
  }

  void prepare(std::size_t steps) override {
    for (const std::size_t depth : variant_->depths_) {
      if (steps >= depth) variant_->pass(depth);
      steps %= depth;
    }
  }

  double change(Norm norm) override {
    settle();
    variant_->advance(queue_, levels_, 1);
    const bool float64 = variant_->device_.limits().float64;
    const std::size_t bytes = 2 * kPartials * (float64 ? sizeof(double) : sizeof(float));
    if (!partial_) partial_ = variant_->device_.buffer(bytes, {.name = "stencil change"});
    const std::size_t rows = variant_->rows() * variant_->layout_.fields;
    launch(queue_, variant_->service_.change, {.groups = {kPartials}, .items = {256}},
           {levels_.other, levels_.current, partial_}, variant_->rows_scalars(rows));
    return float64 ? summed<double>(norm) : summed<float>(norm);
  }

  void read(Grid<T>& grid) override {
    settle();
    download_all(grid.all().data());
  }

  void wait() override { queue_.finish(); }

  bool replace(const std::function<void(const DeviceLevels&)>& work) override {
    settle();
    const DeviceLayout& place = variant_->place_;
    work({queue_, levels_.current, levels_.other, place.origin, place.pitch, place.field});
    std::swap(levels_.current, levels_.other);
    return true;
  }

  // The other level is the buffer of the packed cells, so that nothing is allocated.
  void fill(const PackedCells& make) override {
    settle();
    make(queue_, levels_.other);
    variant_->pad(queue_, levels_.other, variant_->layout_.fields, levels_.current);
    copy_to_other();
  }
  void view(const PackedCells& use) override {
    settle();
    variant_->gather(queue_, levels_.current, variant_->layout_.fields, levels_.other);
    use(queue_, levels_.other);
    copy_to_other();
  }

  bool has_boxes() const override { return true; }

  void get(const Box& box, T* cells) override {
    const std::size_t values = box.cells() * variant_->layout_.fields;
    if (values == 0) return;
    settle();
    if (is_whole(box)) return download_all(cells);
    take(box, packed(values), 0);
    queue_.download(packed_, cells, values * sizeof(T));
    queue_.finish();
  }

  void put(const Box& box, const T* cells) override {
    const std::size_t values = box.cells() * variant_->layout_.fields;
    if (values == 0) return;
    settle();
    if (is_whole(box)) return fill(uploaded(cells, variant_->layout_.fields));
    queue_.upload(cells, packed(values), values * sizeof(T));
    launch(queue_, variant_->service_.put, variant_->box_launch(box), {levels_.current, levels_.other, packed_},
           variant_->box_scalars(box));
    queue_.finish();
  }

  bool add(const std::array<std::size_t, 3>& cell, std::size_t field, T value) override {
    settle();
    const DeviceLayout& place = variant_->place_;
    const std::size_t row = cell[0] * variant_->layout_.shape[1] + cell[1];
    const std::uint64_t at = field * place.field + place.origin + row * place.pitch + cell[2];
    launch(queue_, variant_->service_.add, {.groups = {1}, .items = {1}}, {levels_.current, levels_.other},
           {at, Argument(value)});
    return true;
  }

  bool keep(const Box& box) override {
    const std::size_t values = box.cells() * variant_->layout_.fields;
    if (values == 0) return true;
    settle();
    if (!log_ || log_.size() / sizeof(T) < in_log_ + values) {
      fetch_log();
      if (!log_ || log_.size() / sizeof(T) < values)
        log_ = variant_->device_.buffer(std::max(kKeptBytes, values * sizeof(T)), {.name = "stencil boxes kept"});
    }
    take(box, log_, in_log_);
    in_log_ += values;
    return true;
  }
  void kept(std::vector<T>& cells) override {
    fetch_log();
    cells.insert(cells.end(), kept_.begin(), kept_.end());
    kept_.clear();
  }

 private:
  bool is_whole(const Box& box) const { return box.cells() == variant_->layout_.cells(); }
  void download_all(T* cells) {
    const Layout& layout = variant_->layout_;
    view([&](Queue& queue, const Buffer& packed) {
      transfer_.download(queue, packed, cells, layout.cells() * layout.fields * sizeof(T));
    });
  }
  // Fixed cells are never written, so both buffers hold them. Waits: the caller may change its cells again.
  void copy_to_other() {
    queue_.copy(levels_.current, levels_.other, variant_->bytes(variant_->layout_.fields));
    queue_.finish();
  }

  void take(const Box& box, const Buffer& to, std::size_t first) {
    std::vector<Argument> scalars = variant_->box_scalars(box);
    scalars.emplace_back(static_cast<std::uint64_t>(first));
    launch(queue_, variant_->service_.take, variant_->box_launch(box), {levels_.current, to}, scalars);
  }
  void fetch_log() {
    if (in_log_ == 0) return;
    const std::size_t before = kept_.size();
    kept_.resize(before + in_log_);
    queue_.download(log_, kept_.data() + before, in_log_ * sizeof(T));
    queue_.finish();
    in_log_ = 0;
  }

  const Buffer& packed(std::size_t values) {
    if (!packed_ || packed_.size() < values * sizeof(T)) {
      packed_ = variant_->device_.buffer(values * sizeof(T), {.name = "stencil box"});
    }
    return packed_;
  }

  template <class Sum>
  double summed(Norm norm) {
    std::vector<Sum> partial(2 * kPartials);
    queue_.download(partial_, std::span<Sum>(partial));
    queue_.finish();
    double largest = 0, squares = 0;
    for (std::size_t i = 0; i < partial.size(); i += 2) {
      largest = std::max(largest, static_cast<double>(partial[i]));
      squares += static_cast<double>(partial[i + 1]);
    }
    if (std::isnan(squares)) return std::numeric_limits<double>::quiet_NaN();
    const auto cells = static_cast<double>(variant_->layout_.cells() * variant_->layout_.fields);
    return norm == Norm::max ? largest : std::sqrt(squares / cells);
  }

  std::shared_ptr<const DeviceVariant<T>> variant_;
  Queue queue_;
  PinnedTransfer transfer_;
  GridBuffers levels_;
  Buffer partial_, packed_, log_;
  static constexpr std::size_t kOlder = ~std::size_t{0};
  bool opened_ = false, many_levels_ = false;            // by single(), by open_levels()
  std::size_t newer_ = 0, older_ = 1, target_ = kOlder;  // fields of the levels; the next step's
  std::size_t in_log_ = 0;                               // values waiting in log_
  std::vector<T> kept_{};                                // values downloaded because log_ was full
};

template <class T>
std::unique_ptr<Running<T>> DeviceVariant<T>::start(const Grid<T>& grid, const Grid<T>* coefficients) const {
  auto running = std::make_unique<DeviceRunning<T>>(this->shared_from_this());
  running->fill(running->uploaded(grid.all().data(), grid.fields()));
  if (coefficients != nullptr)
    running->fill_coefficients(running->uploaded(coefficients->all().data(), coefficients->fields()));
  return running;
}

template <class T>
std::unique_ptr<PackedRunning<T>> DeviceVariant<T>::start_packed(const PackedCells& cells,
                                                                 const PackedCells& coefficients) const {
  auto running = std::make_unique<DeviceRunning<T>>(this->shared_from_this());
  running->fill(cells);
  if (coefficients) running->fill_coefficients(coefficients);
  return running;
}

}  // namespace

void LaunchPass::enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const {
  for (const Step& step : steps_) {
    std::vector<Argument> arguments{in, out};
    if (step.coefficients) arguments.emplace_back(coefficients);
    arguments.insert(arguments.end(), step.scalars.begin(), step.scalars.end());
    queue.launch(step.kernel, step.launch, arguments);
  }
}

template <class T>
std::shared_ptr<const Variant<T>> device_variant(const Device& device, const Layout& layout, const DeviceLayout& place,
                                                 std::vector<std::size_t> depths, MakePass make) {
  return std::make_shared<const DeviceVariant<T>>(device, layout, place, std::move(depths), std::move(make));
}

template <class T>
KernelSource service_source(const Device& device) {
  return {.name = "stencil service",
          .text = ridge::detail::kernel_text("stencil/service"),
          .defines = {{"CELL", type_name<T>()}, {"SUM", device.limits().float64 ? "double" : "float"}}};
}

template <class T>
const char* type_name() {
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int";
  return "uchar";
}

template std::shared_ptr<const Variant<float>> device_variant(const Device&, const Layout&, const DeviceLayout&,
                                                              std::vector<std::size_t>, MakePass);
template std::shared_ptr<const Variant<double>> device_variant(const Device&, const Layout&, const DeviceLayout&,
                                                               std::vector<std::size_t>, MakePass);
template std::shared_ptr<const Variant<std::int32_t>> device_variant(const Device&, const Layout&, const DeviceLayout&,
                                                                     std::vector<std::size_t>, MakePass);
template std::shared_ptr<const Variant<std::uint8_t>> device_variant(const Device&, const Layout&, const DeviceLayout&,
                                                                     std::vector<std::size_t>, MakePass);
template KernelSource service_source<float>(const Device&);
template KernelSource service_source<double>(const Device&);
template KernelSource service_source<std::int32_t>(const Device&);
template KernelSource service_source<std::uint8_t>(const Device&);
template const char* type_name<float>();
template const char* type_name<double>();
template const char* type_name<std::int32_t>();
template const char* type_name<std::uint8_t>();

std::vector<std::size_t> pass_depths(int depth) {
  std::vector<std::size_t> depths{static_cast<std::size_t>(depth)};
  for (const std::size_t smaller : {std::size_t{4}, std::size_t{1}}) {
    if (smaller < depths.back()) depths.push_back(smaller);
  }
  return depths;
}

// Occupancy of a kernel on a device.

std::size_t resident_groups(const Device& device, const Kernel& kernel, std::size_t items, std::size_t local_bytes,
                            std::size_t guess) {
  const Limits& limits = device.limits();
  const std::size_t registers = kernel.registers() > 0 ? kernel.registers() : guess;
  if (registers == 0 || limits.registers == 0 || limits.sub_group == 0) return 4 * limits.compute_units;
  const std::size_t quarter = limits.registers / 4;
  const std::size_t warp_registers = (registers * limits.sub_group + 255) / 256 * 256;
  const std::size_t warps = 4 * (quarter / warp_registers);
  const std::size_t group_warps = (items + limits.sub_group - 1) / limits.sub_group;
  std::size_t groups = warps / group_warps;
  if (limits.items_per_unit > 0) groups = std::min(groups, limits.items_per_unit / items);
  // OpenCL reports the limit of one group, not the capacity of a compute unit.
  if (local_bytes > 0 && kernel.registers() > 0) groups = std::min(groups, limits.local_memory / local_bytes);
  return std::max<std::size_t>(1, groups) * limits.compute_units;
}

}  // namespace ridge::stencil
