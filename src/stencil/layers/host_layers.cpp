// Layers on the host: rows of the layer by the vector programs of the engine.
#include <algorithm>

#include "base/threads.hpp"
#include "stencil/host/kernels/vector_program.hpp"
#include "stencil/host/levels.hpp"
#include "stencil/layers/layers.hpp"

namespace ridge::stencil {
namespace {

template <class T>
struct HostLayer {
  LoweredLayer<T> lowered;
  std::shared_ptr<const VectorProgram<T>> first{}, main{};
};

constexpr std::size_t kPackedRows = 32;  // rows of a layer along x that are computed as one

// The memory variables of one layer, in two buffers that are read and written alternately. Along z and y a stored row
// is a row of the grid. Along x stored rows are short and contiguous, so that many of them are computed as one row:
// cells outside the band get finite values that nothing uses, because all profiles are zero there.
template <class T>
class HostLayerState {
 public:
  HostLayerState(const HostLayer<T>& layer, const Layout& layout) : layer_(layer), layout_(layout) {
    const LayerPlace& place = layer.lowered.place;
    const std::size_t size = place.values() * layer.lowered.memories;
    now_.resize(size);
    next_.resize(size);
    if (along_x()) {
      const std::size_t rows = kPackedRows * place.stored[2];
      for (const std::vector<T>& values : layer.lowered.values) {
        std::vector<T>& flat = profiles_.emplace_back(rows);
        for (std::size_t i = 0; i < rows; ++i) flat[i] = values[i % place.stored[2]];
      }
    } else {
      shared_.resize(place.values() * layer.lowered.shared);
      for (const std::vector<T>& values : layer.lowered.values) {
        std::vector<T>& rows = profiles_.emplace_back();
        for (const T value : values) rows.insert(rows.end(), place.stored[2], value);
      }
    }
  }

  std::size_t axis() const { return layer_.lowered.place.axis; }
  bool along_x() const { return axis() == 2; }
  std::size_t rows() const {
    const auto& extent = layer_.lowered.place.extent;
    return extent[0] * extent[1];
  }
  std::vector<T>& memory() { return now_; }
  const std::vector<T>& memory() const { return now_; }
  void clear() {
    std::fill(now_.begin(), now_.end(), T{});
    std::fill(next_.begin(), next_.end(), T{});
  }
  void swap() { now_.swap(next_); }

  // Rows [begin, end) of the band: the shared values, or the new level and memory variables.
  void share(Levels<T>& levels, std::size_t older, std::size_t begin, std::size_t end) {
    for_rows(begin, end, [&](std::size_t z, std::size_t y, std::size_t count) {
      run(*layer_.first, levels, 0, older, z, y, count, true);
    });
  }
  void add(Levels<T>& levels, std::size_t newer, std::size_t older, std::size_t begin, std::size_t end) {
    if (along_x()) {
      for (std::size_t row = begin; row < end; row += kPackedRows)
        add_packed(levels, newer, older, row, std::min(end, row + kPackedRows));
      return;
    }
    for_rows(begin, end, [&](std::size_t z, std::size_t y, std::size_t count) {
      run(*layer_.main, levels, newer, older, z, y, count, false);
      for (std::size_t r = 0; r < count; ++r)
        levels.close_row(levels.row(levels.current(), newer, grid_z(z), grid_y(y + r)));
    });
  }

 private:
  std::size_t grid_z(std::size_t z) const { return layer_.lowered.place.begin[0] + z; }
  std::size_t grid_y(std::size_t y) const { return layer_.lowered.place.begin[1] + y; }

  template <class Work>
  void for_rows(std::size_t begin, std::size_t end, const Work& work) const {
    const std::size_t height = layer_.lowered.place.extent[1];
    for (std::size_t row = begin; row < end;) {
      const std::size_t left = std::min(end - row, height - row % height);
      const std::size_t count = left >= kBlockRows ? kBlockRows : 1;
      work(row / height, row % height, count);
      row += count;
    }
  }

  // First cell of the stored row at (z, y) of the band, moved by (dz, dy), as the address of the grid's x = 0. Moves
  // stay inside the stored block.
  std::size_t stored_row(std::size_t z, std::size_t y, std::ptrdiff_t dz, std::ptrdiff_t dy) const {
    const LayerPlace& place = layer_.lowered.place;
    const std::size_t at_z = z + (place.axis == 0 ? place.radius : 0), at_y = y + (place.axis == 1 ? place.radius : 0);
    return ((at_z + static_cast<std::size_t>(dz)) * place.stored[1] + at_y + static_cast<std::size_t>(dy)) *
           place.stored[2];
  }

  void run(const VectorProgram<T>& program, Levels<T>& levels, std::size_t newer, std::size_t older, std::size_t z,
           std::size_t y, std::size_t count, bool first) {
    const LoweredLayer<T>& lowered = layer_.lowered;
    const LayerPlace& place = lowered.place;
    const std::size_t size = place.values(), begin = place.begin[2];
    T* const level = levels.current();
    const auto memory = [&](std::vector<T>& values, std::size_t k, std::ptrdiff_t dz, std::ptrdiff_t dy) {
      return values.data() + k * size + stored_row(z, y, dz, dy) - begin;
    };
    const auto row_of_read = [&](const typename VectorProgram<T>::Row& read, std::ptrdiff_t r) -> const T* {
      const std::ptrdiff_t dz = read.dz, dy = read.dy + r;
      const std::size_t k = read.field;
      if (!read.coefficient) {
        if (k == 0) return at(levels, level, newer, z, y, dz, dy);
        if (k == lowered.previous_field()) return at(levels, level, older, z, y, dz, dy);
        return k < lowered.previous_field() ? memory(now_, k - 1, dz, dy)
                                            : memory(shared_, k - lowered.previous_field() - 1, dz, dy);
      }
      if (k < lowered.profiles) {
        const std::size_t along = place.axis == 0 ? z + static_cast<std::size_t>(dz) : y + static_cast<std::size_t>(dy);
        return profiles_[k].data() + (along + place.radius) * place.stored[2] - begin;
      }
      if (k == lowered.previous()) return at(levels, level, older, z, y, dz, dy);
      if (k == lowered.scaling()) return at(levels, levels.coefficients(), lowered.scale, z, y, dz, dy);
      return memory(now_, k - lowered.others(), dz, dy);
    };
    thread_local std::vector<const T*> in;
    thread_local std::vector<T*> out;
    in.clear(), out.clear();
    for (const auto& read : program.rows()) {
      for (std::size_t r = 0; r < count; ++r) in.push_back(row_of_read(read, static_cast<std::ptrdiff_t>(r)));
    }
    for (std::size_t i = 0; i < program.outputs(); ++i) {
      const std::size_t field = program.field(i);
      for (std::size_t r = 0; r < count; ++r) {
        const auto by = static_cast<std::ptrdiff_t>(r);
        out.push_back(first        ? memory(shared_, field, 0, by)
                      : field == 0 ? levels.row(level, newer, grid_z(z), grid_y(y + r))
                                   : memory(next_, field - 1, 0, by));
      }
    }
    if (count > 1) {
      program.run_block(in.data(), out.data(), begin, begin + place.extent[2]);
    } else {
      program.run(in.data(), out.data(), begin, begin + place.extent[2]);
    }
  }

  // A row of the grid, at most the radius away from the band; rows of a block that no output reads may be outside the
  // grid and are replaced.
  const T* at(const Levels<T>& levels, const T* level, std::size_t field, std::size_t z, std::size_t y,
              std::ptrdiff_t dz, std::ptrdiff_t dy) const {
    const auto inside = [&](std::size_t axis, std::size_t index, std::ptrdiff_t by) {
      const auto moved = static_cast<std::ptrdiff_t>(index) + by;
      return static_cast<std::size_t>(
          std::clamp<std::ptrdiff_t>(moved, 0, static_cast<std::ptrdiff_t>(layout_.shape[axis]) - 1));
    };
    return levels.row(level, field, inside(0, grid_z(z), dz), inside(1, grid_y(y), dy));
  }

  // Rows of a layer along x: copied to and from packed rows of its width.
  void add_packed(Levels<T>& levels, std::size_t newer, std::size_t older, std::size_t begin, std::size_t end) {
    const LoweredLayer<T>& lowered = layer_.lowered;
    const LayerPlace& place = lowered.place;
    const std::size_t width = place.stored[2], cells = (end - begin) * width, left = place.begin[2] - place.radius;
    thread_local std::vector<T> work;
    work.resize((3 + lowered.shared) * kPackedRows * width);
    T *const fresh = work.data(), *const before = fresh + cells, *const scale = before + cells;
    const auto row_of = [&](const auto* level, std::size_t field, std::size_t row) {
      return levels.row(level, field, grid_z(row / place.extent[1]), grid_y(row % place.extent[1])) + left;
    };
    // The cells are in one or two cache lines of each row: no hardware prefetcher follows them.
    const auto copy_rows = [&](const T* level, std::size_t field, T* to) {
      for (std::size_t row = begin; row < end; ++row) {
        const T* const ahead = row_of(level, field, std::min(row + kPackedRows, rows() - 1));
        __builtin_prefetch(ahead);
        __builtin_prefetch(ahead + width - 1);
        to = std::copy_n(row_of(level, field, row), width, to);
      }
    };
    copy_rows(levels.current(), newer, fresh);
    copy_rows(levels.current(), older, before);
    copy_rows(levels.coefficients(), lowered.scale, scale);
    T* const values = scale + cells;
    const std::size_t size = place.values(), first_cell = begin * width;
    const auto flat_of = [&](const typename VectorProgram<T>::Row& read) -> const T* {
      const std::size_t k = read.field;
      if (!read.coefficient) {
        if (k == 0) return fresh;
        if (k == lowered.previous_field()) return before;
        return k < lowered.previous_field() ? now_.data() + (k - 1) * size + first_cell
                                            : values + (k - lowered.previous_field() - 1) * cells;
      }
      if (k < lowered.profiles) return profiles_[k].data();
      if (k == lowered.previous()) return before;
      return k == lowered.scaling() ? scale : now_.data() + (k - lowered.others()) * size + first_cell;
    };
    thread_local std::vector<const T*> in;
    thread_local std::vector<T*> out;
    if (lowered.shared > 0) {
      in.clear(), out.clear();
      for (const auto& read : layer_.first->rows()) in.push_back(flat_of(read));
      for (std::size_t i = 0; i < layer_.first->outputs(); ++i) out.push_back(values + layer_.first->field(i) * cells);
      layer_.first->run(in.data(), out.data(), 0, cells);
    }
    in.clear(), out.clear();
    for (const auto& read : layer_.main->rows()) in.push_back(flat_of(read));
    for (std::size_t i = 0; i < layer_.main->outputs(); ++i) {
      const std::size_t field = layer_.main->field(i);
      out.push_back(field == 0 ? fresh : next_.data() + (field - 1) * size + first_cell);
    }
    layer_.main->run(in.data(), out.data(), place.radius, cells - place.radius);
    const T* from = fresh + place.radius;
    for (std::size_t row = begin; row < end; ++row, from += width)
      std::copy_n(from, place.extent[2],
                  levels.row(levels.current(), newer, grid_z(row / place.extent[1]), grid_y(row % place.extent[1])) +
                      place.begin[2]);
  }

  const HostLayer<T>& layer_;
  const Layout& layout_;
  std::vector<std::vector<T>> profiles_{};
  std::vector<T> now_{}, next_{}, shared_{};
};

template <class T>
class HostLayersState final : public LayerState<T> {
 public:
  HostLayersState(const std::vector<HostLayer<T>>& layers, const Layout& layout, bool free_surface)
      : layout_(layout), free_surface_(free_surface) {
    for (const HostLayer<T>& layer : layers) states_.emplace_back(layer, layout);
    shares_ = std::any_of(layers.begin(), layers.end(), [](const auto& layer) { return layer.lowered.shared > 0; });
  }

  void before(Running<T>& running) override {
    if (!free_surface_) return;
    bool exchanged = false;
    Levels<T>& levels = *running.host_levels(exchanged);
    const std::size_t axis = surface_axis(layout_), surface = layout_.begin[axis] - 1;
    const std::size_t newer = exchanged ? 1 : 0, others = layout_.shape[axis == 0 ? 1 : 0];
    if (axis == 2) return images_in_row(levels.row(levels.current(), newer, 0, 0), surface);
    const auto row = [&](std::size_t along, std::size_t line) {
      return axis == 0 ? levels.row(levels.current(), newer, along, line)
                       : levels.row(levels.current(), newer, line, along);
    };
    for (std::size_t k = 1; k <= surface; ++k) {
      for (std::size_t line = 0; line < others; ++line) {
        const T* from = row(surface + k, line);
        T* to = row(surface - k, line);
        for (std::size_t x = 0; x < layout_.shape[2]; ++x) to[x] = -from[x];
        levels.close_row(to);
      }
    }
  }

  void after(Running<T>& running) override {
    bool exchanged = false;
    Levels<T>& levels = *running.host_levels(exchanged);
    const std::size_t newer = exchanged ? 1 : 0, older = exchanged ? 0 : 1;
    if (shares_) {
      in_parallel([](const auto& state) { return !state.along_x(); },
                  [&](auto& state, const base::Share& rows) { state.share(levels, older, rows.begin, rows.end); });
    }
    // Layers of different axes add to the same cells: one axis after another.
    for (std::size_t axis = 0; axis < 3; ++axis) {
      in_parallel([axis](const auto& state) { return state.axis() == axis; },
                  [&](auto& state, const base::Share& rows) { state.add(levels, newer, older, rows.begin, rows.end); });
    }
    for (auto& state : states_) state.swap();
  }

  void clear() override {
    for (auto& state : states_) state.clear();
  }
  std::size_t values() const override {
    std::size_t values = 0;
    for (const auto& state : states_) values += state.memory().size();
    return values;
  }
  void save(T* values) override {
    for (auto& state : states_) values = std::copy(state.memory().begin(), state.memory().end(), values);
  }
  void restore(const T* values) override {
    for (auto& state : states_) {
      std::copy_n(values, state.memory().size(), state.memory().begin());
      values += state.memory().size();
    }
  }

 private:
  static void images_in_row(T* row, std::size_t surface) {
    for (std::size_t k = 1; k <= surface; ++k) row[surface - k] = -row[surface + k];
  }
  // The rows of all layers that `where` selects, divided among the threads.
  template <class Where, class Work>
  void in_parallel(const Where& where, const Work& work) {
    std::size_t rows = 0;
    for (const auto& state : states_) rows += where(state) ? state.rows() : 0;
    if (rows == 0) return;
    const std::size_t threads = rows * layout_.shape[2] < 4096 ? 1 : layout_.threads;
    base::parallel(threads, [&](std::size_t thread, std::size_t count) {
      const base::Share mine = base::share(rows, thread, count);
      std::size_t start = 0;  // rows of the layers before
      for (auto& state : states_) {
        if (!where(state)) continue;
        const std::size_t begin = std::max(mine.begin, start), end = std::min(mine.end, start + state.rows());
        if (begin < end) work(state, base::Share{begin - start, end - start});
        start += state.rows();
      }
    });
  }

  const Layout& layout_;
  bool free_surface_, shares_ = false;
  std::vector<HostLayerState<T>> states_{};
};

template <class T>
class HostLayers final : public Layers<T> {
 public:
  HostLayers(const Update<T>& update, const Layout& layout) : layout_(layout), free_surface_(update.free_surface) {
    for (LoweredLayer<T>& lowered : lower_layers(update, layout)) {
      HostLayer<T> layer{.lowered = std::move(lowered)};
      std::vector<bool> kept(layer.lowered.main.fields);
      std::fill(kept.begin() + static_cast<std::ptrdiff_t>(layer.lowered.previous_field()), kept.end(), true);
      layer.main = std::make_shared<const VectorProgram<T>>(flatten(layer.lowered.main.outputs), kept, true, 1);
      if (layer.lowered.shared > 0)
        layer.first = std::make_shared<const VectorProgram<T>>(flatten(layer.lowered.first.outputs),
                                                               std::vector<bool>(layer.lowered.shared), true, 1);
      layers_.push_back(std::move(layer));
    }
  }
  std::unique_ptr<LayerState<T>> start() const override {
    return std::make_unique<HostLayersState<T>>(layers_, layout_, free_surface_);
  }

 private:
  Layout layout_;
  bool free_surface_;
  std::vector<HostLayer<T>> layers_{};
};

}  // namespace

template <class T>
std::shared_ptr<const Layers<T>> host_layers(const Update<T>& update, const Layout& layout) {
  return std::make_shared<HostLayers<T>>(update, layout);
}

template std::shared_ptr<const Layers<float>> host_layers(const Update<float>&, const Layout&);
template std::shared_ptr<const Layers<double>> host_layers(const Update<double>&, const Layout&);

}  // namespace ridge::stencil
