// Shots on the host.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/threads.hpp"
#include "stencil/host/levels.hpp"
#include "stencil/shots/shot_run.hpp"

namespace ridge::stencil {
namespace {

template <class T>
struct HostSnapshots final : Snapshots<T> {
  SnapshotBits bits = SnapshotBits::whole;
  std::size_t field = 0;   // values per snapshot
  std::vector<T> whole{};  // with small integers: one snapshot, of the step that is under way
  std::vector<std::byte> small{};
  std::vector<float> scales{};
  std::size_t blocks() const { return (field + kSnapshotBlock - 1) / kSnapshotBlock; }
  template <class Small>
  Small* slot(std::size_t index) {
    return reinterpret_cast<Small*>(small.data()) + index * field;
  }
  // Calls `work` with the integers of a slot, of the type that they have.
  template <class Work>
  void with_slot(std::size_t index, const Work& work) {
    if (bits == SnapshotBits::eight) return work(slot<std::int8_t>(index));
    work(slot<std::int16_t>(index));
  }
};

template <class T>
struct HostFrames final : Frames<T> {
  std::vector<std::size_t> place{};  // elements from the field's beginning
  std::vector<T> values{};
};

// Values up to the largest integer times a scale.
template <class T, class Small>
void compress(const T* values, std::size_t count, Small* small, float* scales) {
  constexpr T kLargest = std::numeric_limits<Small>::max();
  for (std::size_t begin = 0; begin < count; begin += kSnapshotBlock, ++scales) {
    const std::size_t end = std::min(count, begin + kSnapshotBlock);
    T largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
    *scales = static_cast<float>(largest / kLargest);
    const T factor = *scales > 0 ? 1 / static_cast<T>(*scales) : T{0};
    for (std::size_t i = begin; i < end; ++i)
      small[i] = static_cast<Small>(std::clamp(std::nearbyint(values[i] * factor), -kLargest, kLargest));
  }
}

template <class T>
class HostShot final : public ShotRun<T> {
 public:
  HostShot(const Chosen<T>& chosen, const Grid<T>& coefficients)
      : chosen_(chosen),
        running_(chosen.variant->start(Grid<T>(coefficients.shape(), chosen.layout.fields), &coefficients)),
        layers_(chosen.layers ? chosen.layers->start() : nullptr) {
    levels();
  }

  void clear() override {
    running_->settle();
    const std::size_t fields = chosen_.layout.fields * field_values();
    std::fill_n(levels().current(), fields, T{});
    std::fill_n(levels().next(), fields, T{});
    if (layers_) layers_->clear();
  }
  void step() override { step_with_layers(*running_, layers_.get()); }

  std::size_t attach(const PointTable& table, std::size_t rows) override {
    Attached attached{.table = table, .values = std::vector<T>(rows * table.points)};
    for (const std::uint32_t cell : table.cell) attached.place.push_back(place_of(cell));
    for (const std::uint32_t cell : table.cells) attached.cell_place.push_back(place_of(cell));
    points_.push_back(std::move(attached));
    return points_.size() - 1;
  }
  void put_rows(std::size_t points, std::size_t begin, std::size_t count, const T* values) override {
    Attached& attached = points_[points];
    std::copy_n(values, count * attached.table.points, attached.values.data() + begin * attached.table.points);
  }
  void get_rows(std::size_t points, std::size_t begin, std::size_t count, T* values) override {
    const Attached& attached = points_[points];
    std::copy_n(attached.values.data() + begin * attached.table.points, count * attached.table.points, values);
  }
  void add(std::size_t points, std::size_t row) override {
    const Attached& attached = points_[points];
    const PointTable& table = attached.table;
    const T* values = attached.values.data() + row * table.points;
    T* const to = newer();
    const T* const scale = levels().coefficients();
    for (std::size_t k = 0; k < table.cells.size(); ++k) {
      T sum = 0;
      for (std::size_t i = table.cell_first[k]; i < table.cell_first[k + 1]; ++i)
        sum += static_cast<T>(table.point_weight[i]) * values[table.point[i]];
      const std::size_t at = attached.cell_place[k];
      to[at] += scale[at] * sum;
    }
    close_rows(table);
  }
  void take(std::size_t points, std::size_t row) override {
    Attached& attached = points_[points];
    const PointTable& table = attached.table;
    T* const values = attached.values.data() + row * table.points;
    const T* const from = newer();
    for (std::size_t k = 0; k < table.points; ++k) {
      T sum = 0;
      for (std::size_t i = table.first[k]; i < table.first[k + 1]; ++i)
        sum += static_cast<T>(table.weight[i]) * from[attached.place[i]];
      values[k] = sum;
    }
  }

  std::shared_ptr<Snapshots<T>> snapshots(std::size_t count, SnapshotBits bits, bool /*streamed*/) override {
    auto made = std::make_shared<HostSnapshots<T>>();
    made->bits = bits;
    made->field = field_values();
    made->whole.resize(made->field * (bits == SnapshotBits::whole ? count : 1));
    if (bits != SnapshotBits::whole) {
      made->small.resize(made->field * count * bytes_of(bits));
      made->scales.resize(made->blocks() * count);
    }
    return made;
  }
  void open(Snapshots<T>& snapshots, std::size_t slot) override {
    auto& all = static_cast<HostSnapshots<T>&>(snapshots);
    T* const to = whole_of(all, slot);
    const T* const from = older();
    in_parts([&](std::size_t begin, std::size_t end) { std::copy(from + begin, from + end, to + begin); });
  }
  void close(Snapshots<T>& snapshots, std::size_t slot) override {
    auto& all = static_cast<HostSnapshots<T>&>(snapshots);
    T* const to = whole_of(all, slot);
    const T *const fresh = newer(), *const now = older();
    in_parts([&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) to[i] += fresh[i] - 2 * now[i];
      if (all.bits == SnapshotBits::whole) return;
      all.with_slot(slot, [&](auto* small) {
        compress(to + begin, end - begin, small + begin,
                 all.scales.data() + slot * all.blocks() + begin / kSnapshotBlock);
      });
    });
  }
  void correlate(Snapshots<T>& snapshots, std::size_t slot, double weight) override {
    auto& all = static_cast<HostSnapshots<T>&>(snapshots);
    if (image_.empty()) image_.resize(all.field);
    if (rounding_.empty() && all.bits != SnapshotBits::whole) rounding_.resize(all.blocks());
    const T* const fresh = newer();
    const auto factor = static_cast<T>(weight);
    in_parts([&](std::size_t begin, std::size_t end) {
      if (all.bits == SnapshotBits::whole) {
        const T* const from = whole_of(all, slot);
        for (std::size_t i = begin; i < end; ++i) image_[i] += factor * from[i] * fresh[i];
        return;
      }
      const float* const scales = all.scales.data() + slot * all.blocks();
      all.with_slot(slot, [&](const auto* small) {
        for (std::size_t block = begin; block < end; block += kSnapshotBlock) {
          const T scale = factor * static_cast<T>(scales[block / kSnapshotBlock]);
          T largest = 0;
          for (std::size_t i = block; i < std::min(end, block + kSnapshotBlock); ++i) {
            image_[i] += scale * static_cast<T>(small[i]) * fresh[i];
            largest = std::max(largest, std::abs(fresh[i]));
          }
          T& rounding = rounding_[block / kSnapshotBlock];
          rounding = std::hypot(rounding, scale * largest / std::sqrt(T{12}));
        }
      });
    });
  }
  std::shared_ptr<Frames<T>> frames(const std::vector<std::uint32_t>& cells, std::size_t slots) override {
    auto made = std::make_shared<HostFrames<T>>();
    for (const std::uint32_t cell : cells) made->place.push_back(place_of(cell));
    made->values.resize(cells.size() * slots);
    return made;
  }
  void keep_frame(Frames<T>& frames, std::size_t slot) override {
    auto& all = static_cast<HostFrames<T>&>(frames);
    T* const to = all.values.data() + slot * all.place.size();
    const T* const from = newer();
    for (std::size_t i = 0; i < all.place.size(); ++i) to[i] = from[all.place[i]];
  }
  void put_frame(Frames<T>& frames, std::size_t slot) override {
    const auto& all = static_cast<HostFrames<T>&>(frames);
    const T* const from = all.values.data() + slot * all.place.size();
    T* const to = newer();
    for (std::size_t i = 0; i < all.place.size(); ++i) to[all.place[i]] = from[i];
  }
  void read_image(Grid<T>& image) override {
    if (image_.empty()) image_.resize(field_values());
    each_row([&](std::size_t begin, T* to, std::size_t width) { std::copy_n(image_.data() + begin, width, to); },
             image);
  }
  void read_rounding(Grid<T>& rounding) override {
    each_row(
        [&](std::size_t begin, T* to, std::size_t width) {
          for (std::size_t x = 0; x < width; ++x)
            to[x] = rounding_.empty() ? T{0} : rounding_[(begin + x) / kSnapshotBlock];
        },
        rounding);
  }

  void save_image(T* values) override {
    image_.resize(field_values());
    rounding_.resize(this->image_values() - field_values());
    std::copy(rounding_.begin(), rounding_.end(), std::copy(image_.begin(), image_.end(), values));
  }
  void restore_image(const T* values) override {
    image_.assign(values, values + field_values());
    rounding_.assign(values + field_values(), values + this->image_values());
  }

  std::size_t field_values() const override { return RowFrame(chosen_.layout, sizeof(T)).field; }
  std::size_t state_values() const override { return 2 * field_values() + (layers_ ? layers_->values() : 0); }
  void save(T* state) override {
    state = std::copy_n(newer(), field_values(), state);
    state = std::copy_n(older(), field_values(), state);
    if (layers_) layers_->save(state);
  }
  void restore(const T* state) override {
    std::copy_n(state, field_values(), newer());
    std::copy_n(state + field_values(), field_values(), older());
    if (layers_) layers_->restore(state + 2 * field_values());
  }
  void read(Grid<T>& fields) override { running_->read(fields); }

 private:
  struct Attached {
    PointTable table{};
    std::vector<T> values{};
    std::vector<std::size_t> place{}, cell_place{};  // elements from the field's beginning
  };
  Levels<T>& levels() {
    Levels<T>* const levels = running_->host_levels(exchanged_);
    return *levels;
  }
  // Fields as contiguous memory; coefficients are stored alike.
  T* newer() { return levels().current() + (exchanged_ ? field_values() : 0); }
  T* older() { return levels().current() + (exchanged_ ? 0 : field_values()); }
  std::size_t place_of(std::uint32_t cell) {
    const Layout& layout = chosen_.layout;
    const std::size_t row = cell / layout.shape[2], x = cell % layout.shape[2];
    Levels<T>& all = levels();
    return static_cast<std::size_t>(all.row(all.current(), 0, row / layout.shape[1], row % layout.shape[1]) -
                                    all.current()) +
           x;
  }
  void close_rows(const PointTable& table) {
    const Layout& layout = chosen_.layout;
    if (layout.low[2] == Border::fixed && layout.high[2] == Border::fixed) return;
    Levels<T>& all = levels();
    for (const std::uint32_t cell : table.cells) {
      const std::size_t row = cell / layout.shape[2];
      all.close_row(all.row(all.current(), exchanged_ ? 1 : 0, row / layout.shape[1], row % layout.shape[1]));
    }
  }
  T* whole_of(HostSnapshots<T>& all, std::size_t slot) const {
    return all.whole.data() + (all.bits == SnapshotBits::whole ? slot * all.field : 0);
  }
  // Calls work(index of the row's first cell in a stored field, the row in `grid`, its width).
  template <class Work>
  void each_row(const Work& work, Grid<T>& grid) {
    const Layout& layout = chosen_.layout;
    Levels<T>& all = levels();
    for (std::size_t z = 0; z < layout.shape[0]; ++z) {
      for (std::size_t y = 0; y < layout.shape[1]; ++y)
        work(static_cast<std::size_t>(all.row(all.current(), 0, z, y) - all.current()),
             grid.data() + (z * layout.shape[1] + y) * layout.shape[2], layout.shape[2]);
    }
  }
  template <class Work>
  void in_parts(const Work& work) const {
    const std::size_t field = field_values();
    base::parallel(field < 65536 ? 1 : chosen_.layout.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share share = base::share(field, thread, threads, kSnapshotBlock);
      if (share.begin < share.end) work(share.begin, share.end);
    });
  }

  const Chosen<T>& chosen_;
  std::unique_ptr<Running<T>> running_;
  std::unique_ptr<LayerState<T>> layers_;
  bool exchanged_ = false;
  std::vector<Attached> points_{};
  std::vector<T> image_{}, rounding_{};  // `rounding_`: per block of integer snapshots
};

}  // namespace

template <class T>
std::unique_ptr<ShotRun<T>> host_shot(const Chosen<T>& chosen, const Grid<T>& coefficients) {
  return std::make_unique<HostShot<T>>(chosen, coefficients);
}

template std::unique_ptr<ShotRun<float>> host_shot(const Chosen<float>&, const Grid<float>&);
template std::unique_ptr<ShotRun<double>> host_shot(const Chosen<double>&, const Grid<double>&);

}  // namespace ridge::stencil
