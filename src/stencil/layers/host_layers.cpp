// Layers on the host: rows of the layer by compiled loops, or by the vector programs of the engine.
#include <algorithm>

#include "base/threads.hpp"
#include "stencil/host/kernels/vector_program.hpp"
#include "stencil/host/levels.hpp"
#include "stencil/layers/host_cpml.hpp"
#include "stencil/layers/layers.hpp"

namespace ridge::stencil {
namespace {

template <class T>
struct HostLayer {
  LoweredLayer<T> lowered;
  // `inner`: without new memory variables, for rows whose profiles are zero.
  std::shared_ptr<const VectorProgram<T>> first{}, main{}, inner{};
};

constexpr std::size_t kPackedRows = 64;  // rows of a layer along x that are computed as one, at most

// The memory variables of one layer. Those that are read at neighbours too have two buffers, which are read and written
// alternately. Along z and y a stored row is a row of the grid. Along x stored rows are short and contiguous, so that
// many of them are computed as one row: cells outside the band get finite values that nothing uses, because all
// profiles are zero there.
template <class T>
class HostLayerState final : public HostLayerRows<T> {
 public:
  HostLayerState(const HostLayer<T>& layer, const Layout& layout) : layer_(layer), layout_(layout) {
    const LayerPlace& place = layer.lowered.place;
    now_.assign(layer.lowered.memories, std::vector<T>(place.values()));
    next_.resize(layer.lowered.memories);
    for (std::size_t i = 0; i < layer.main->outputs() && !along_x(); ++i) {
      const std::size_t field = layer.main->field(i);
      if (field > 0 && !layer.main->may_replace(i)) next_[field - 1].resize(place.values());
    }
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

  bool along_x() const { return layer_.lowered.place.axis == 2; }
  std::vector<std::span<T>> memory() override { return {now_.begin(), now_.end()}; }
  void clear() override {
    for (auto* all : {&now_, &next_}) {
      for (std::vector<T>& values : *all) std::fill(values.begin(), values.end(), T{});
    }
  }
  void swap() override {
    for (std::size_t k = 0; k < now_.size(); ++k) {
      if (!next_[k].empty()) now_[k].swap(next_[k]);
    }
  }

  // Layers along x compute their shared values row by row.
  std::size_t shared_rows() const override {
    const auto& extent = layer_.lowered.place.extent;
    return along_x() || layer_.lowered.shared == 0 ? 0 : extent[0] * extent[1];
  }
  // Rows are counted through z and y.
  void share(Levels<T>& levels, std::size_t older, std::size_t begin, std::size_t end) override {
    const std::size_t height = layer_.lowered.place.extent[1];
    for (std::size_t row = begin; row < end;) {
      const std::size_t left = std::min(end - row, height - row % height);
      const std::size_t count = left >= kBlockRows ? kBlockRows : 1;
      run(*layer_.first, levels, 0, older, row / height, row % height, count, true);
      row += count;
    }
  }
  void add(Levels<T>& levels, std::size_t newer, std::size_t older, const RowBox& box) override {
    const LayerPlace& place = layer_.lowered.place;
    const std::size_t begin = std::max(box.z, place.begin[0]);
    for (std::size_t z = begin; z < std::min(box.z_end, place.begin[0] + place.extent[0]); ++z)
      add_plane(levels, newer, older, z, box.y, box.y_end);
  }

 private:
  void add_plane(Levels<T>& levels, std::size_t newer, std::size_t older, std::size_t z, std::size_t y,
                 std::size_t y_end) {
    const LayerPlace& place = layer_.lowered.place;
    y = std::max(y, place.begin[1]);
    y_end = std::min(y_end, place.begin[1] + place.extent[1]);
    for (const std::size_t most = along_x() ? kPackedRows : kBlockRows; y < y_end;) {
      const std::size_t count = along_x() || y_end - y >= most ? std::min(most, y_end - y) : 1;
      const std::size_t in_z = z - place.begin[0], in_y = y - place.begin[1];
      if (along_x()) {
        add_packed(levels, newer, older, in_z * place.extent[1] + in_y, count);
      } else {
        // Rows of a block are along y.
        const bool inner = is_inner(place.axis == 0 ? in_z : in_y) && (place.axis == 0 || is_inner(in_y + count - 1));
        run(inner ? *layer_.inner : *layer_.main, levels, newer, older, in_z, in_y, count, false);
        for (std::size_t r = 0; r < count; ++r) levels.close_row(levels.row(levels.current(), newer, z, y + r));
      }
      y += count;
    }
  }

  std::size_t grid_z(std::size_t z) const { return layer_.lowered.place.begin[0] + z; }
  std::size_t grid_y(std::size_t y) const { return layer_.lowered.place.begin[1] + y; }

  bool is_inner(std::size_t along) const {
    return std::all_of(layer_.lowered.values.begin(), layer_.lowered.values.end(), [&](const std::vector<T>& profile) {
      return profile[along + layer_.lowered.place.radius] == T{0};
    });
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
    const auto memory = [&](std::vector<T>& values, std::ptrdiff_t dz, std::ptrdiff_t dy) {
      return values.data() + stored_row(z, y, dz, dy) - begin;
    };
    const auto shared = [&](std::size_t k, std::ptrdiff_t dz, std::ptrdiff_t dy) {
      return memory(shared_, dz, dy) + k * size;
    };
    const auto row_of_read = [&](const typename VectorProgram<T>::Row& read, std::ptrdiff_t r) -> const T* {
      const std::ptrdiff_t dz = read.dz, dy = read.dy + r;
      const std::size_t k = read.field;
      if (!read.coefficient) {
        if (k == 0) return at(levels, level, newer, z, y, dz, dy);
        if (k == lowered.previous_field()) return at(levels, level, older, z, y, dz, dy);
        return k < lowered.previous_field() ? memory(now_[k - 1], dz, dy)
                                            : shared(k - lowered.previous_field() - 1, dz, dy);
      }
      if (k < lowered.profiles) {
        const std::size_t along = place.axis == 0 ? z + static_cast<std::size_t>(dz) : y + static_cast<std::size_t>(dy);
        return profiles_[k].data() + (along + place.radius) * place.stored[2] - begin;
      }
      if (k == lowered.previous()) return at(levels, level, older, z, y, dz, dy);
      if (k == lowered.scaling()) return at(levels, levels.coefficients(), lowered.scale, z, y, dz, dy);
      return memory(now_[k - lowered.others()], dz, dy);
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
        out.push_back(first        ? shared(field, 0, by)
                      : field == 0 ? levels.row(level, newer, grid_z(z), grid_y(y + r))
                                   : memory(next_[field - 1].empty() ? now_[field - 1] : next_[field - 1], 0, by));
      }
    }
    // Rows of memory variables to prefetch: they are in main memory, while the levels are in the cache.
    thread_local std::vector<const T*> ahead;
    ahead.clear();
    if (y + 2 * count <= place.extent[1] && !first && program.outputs() > 1) {
      for (std::size_t r = count; r < 2 * count; ++r) {
        const auto by = static_cast<std::ptrdiff_t>(r);
        for (std::size_t k = 0; k < now_.size(); ++k) {
          ahead.push_back(memory(now_[k], 0, by));
          if (!next_[k].empty()) ahead.push_back(memory(next_[k], 0, by));
        }
      }
    }
    if (count > 1) {
      program.run_block(in.data(), out.data(), begin, begin + place.extent[2], ahead);
    } else {
      program.run(in.data(), out.data(), begin, begin + place.extent[2], ahead);
    }
  }

  // A row of the grid, at most the radius away from the band. A block of rows may also name rows outside the grid,
  // which no output reads: the nearest row of the grid is returned for them.
  const T* at(const Levels<T>& levels, const T* level, std::size_t field, std::size_t z, std::size_t y,
              std::ptrdiff_t dz, std::ptrdiff_t dy) const {
    const auto inside = [&](std::size_t axis, std::size_t index, std::ptrdiff_t by) {
      const auto moved = static_cast<std::ptrdiff_t>(index) + by;
      return static_cast<std::size_t>(
          std::clamp<std::ptrdiff_t>(moved, 0, static_cast<std::ptrdiff_t>(layout_.shape[axis]) - 1));
    };
    return levels.row(level, field, inside(0, grid_z(z), dz), inside(1, grid_y(y), dy));
  }

  // Rows of a layer along x, from a row of the band on: copied to and from packed rows of its width.
  void add_packed(Levels<T>& levels, std::size_t newer, std::size_t older, std::size_t begin, std::size_t count) {
    const LoweredLayer<T>& lowered = layer_.lowered;
    const LayerPlace& place = lowered.place;
    const std::size_t width = place.stored[2], cells = count * width, left = place.begin[2] - place.radius;
    const std::size_t z = grid_z(begin / place.extent[1]), y = grid_y(begin % place.extent[1]);
    thread_local std::vector<T> work;
    work.resize((3 + lowered.shared + lowered.memories) * kPackedRows * width);
    T *const fresh = work.data(), *const before = fresh + cells, *const scale = before + cells;
    const auto copy_rows = [&](const T* level, std::size_t field, T* to) {
      for (std::size_t r = 0; r < count; ++r) to = std::copy_n(levels.row(level, field, z, y + r) + left, width, to);
    };
    copy_rows(levels.current(), newer, fresh);
    copy_rows(levels.current(), older, before);
    copy_rows(levels.coefficients(), lowered.scale, scale);
    T *const values = scale + cells, *const fresh_memory = values + lowered.shared * cells;
    const std::size_t first_cell = begin * width;
    const auto flat_of = [&](const typename VectorProgram<T>::Row& read) -> const T* {
      const std::size_t k = read.field;
      if (!read.coefficient) {
        if (k == 0) return fresh;
        if (k == lowered.previous_field()) return before;
        return k < lowered.previous_field() ? now_[k - 1].data() + first_cell
                                            : values + (k - lowered.previous_field() - 1) * cells;
      }
      if (k < lowered.profiles) return profiles_[k].data();
      if (k == lowered.previous()) return before;
      return k == lowered.scaling() ? scale : now_[k - lowered.others()].data() + first_cell;
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
      out.push_back(field == 0 ? fresh : fresh_memory + (field - 1) * cells);
    }
    layer_.main->run(in.data(), out.data(), place.radius, cells - place.radius);
    for (std::size_t k = 0; k < lowered.memories; ++k)
      std::copy_n(fresh_memory + k * cells + place.radius, cells - 2 * place.radius,
                  now_[k].data() + first_cell + place.radius);
    const T* from = fresh + place.radius;
    for (std::size_t r = 0; r < count; ++r, from += width)
      std::copy_n(from, place.extent[2], levels.row(levels.current(), newer, z, y + r) + place.begin[2]);
  }

  const HostLayer<T>& layer_;
  const Layout& layout_;
  std::vector<std::vector<T>> profiles_{}, now_{}, next_{};  // memory variables; `next_` is empty: replaced in place
  std::vector<T> shared_{};
};

template <class T>
class HostLayersState final : public LayerState<T> {
 public:
  HostLayersState(const std::vector<HostLayer<T>>& layers, const Layout& layout, bool free_surface)
      : layout_(layout), free_surface_(free_surface) {
    for (const HostLayer<T>& layer : layers) {
      states_.push_back(layer.main ? std::make_unique<HostLayerState<T>>(layer, layout) : host_cpml(layer.lowered));
      rows_to_share_ += states_.back()->shared_rows();
    }
  }

  void step(Running<T>& running) override {
    bool exchanged = false;
    Levels<T>& levels = *running.host_levels(exchanged);
    if (free_surface_) add_images(levels, exchanged ? 1 : 0);
    // Shared values depend on the level before the step alone.
    if (rows_to_share_ > 0) share(levels, exchanged ? 1 : 0);
    running.single([&](bool now, std::size_t z, std::size_t z_end, std::size_t y, std::size_t y_end) {
      for (auto& state : states_) state->add(levels, now ? 1 : 0, now ? 0 : 1, {z, z_end, y, y_end});
    });
    for (auto& state : states_) state->swap();
  }

  void clear() override {
    for (auto& state : states_) state->clear();
  }
  std::size_t values() const override {
    std::size_t values = 0;
    for (const auto& state : states_) {
      for (const std::span<T> memory : state->memory()) values += memory.size();
    }
    return values;
  }
  void save(T* values) override {
    for (auto& state : states_) {
      for (const std::span<T> memory : state->memory()) values = std::copy(memory.begin(), memory.end(), values);
    }
  }
  void restore(const T* values) override {
    for (auto& state : states_) {
      for (const std::span<T> memory : state->memory()) {
        std::copy_n(values, memory.size(), memory.begin());
        values += memory.size();
      }
    }
  }

 private:
  // Cells beyond the free surface of the level `newer`.
  void add_images(Levels<T>& levels, std::size_t newer) const {
    const std::size_t axis = surface_axis(layout_), surface = layout_.begin[axis] - 1;
    const std::size_t others = layout_.shape[axis == 0 ? 1 : 0];
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

  static void images_in_row(T* row, std::size_t surface) {
    for (std::size_t k = 1; k <= surface; ++k) row[surface - k] = -row[surface + k];
  }
  void share(Levels<T>& levels, std::size_t older) {
    base::parallel(rows_to_share_ * layout_.shape[2] < 4096 ? 1 : layout_.threads,
                   [&](std::size_t thread, std::size_t count) {
                     const base::Share mine = base::share(rows_to_share_, thread, count);
                     std::size_t start = 0;  // rows of the layers before
                     for (auto& state : states_) {
                       const std::size_t begin = std::max(mine.begin, start);
                       const std::size_t end = std::min(mine.end, start + state->shared_rows());
                       if (begin < end) state->share(levels, older, begin - start, end - start);
                       start += state->shared_rows();
                     }
                   });
  }

  const Layout& layout_;
  bool free_surface_;
  std::size_t rows_to_share_ = 0;
  std::vector<std::unique_ptr<HostLayerRows<T>>> states_{};
};

template <class T>
class HostLayers final : public Layers<T> {
 public:
  HostLayers(const Update<T>& update, const Layout& layout) : layout_(layout), free_surface_(update.free_surface) {
    for (LoweredLayer<T>& lowered : lower_layers(update, layout)) {
      HostLayer<T> layer{.lowered = std::move(lowered)};
      if (has_host_cpml(layer.lowered)) {
        layers_.push_back(std::move(layer));
        continue;
      }
      std::vector<bool> kept(layer.lowered.main.fields);
      std::fill(kept.begin() + static_cast<std::ptrdiff_t>(layer.lowered.previous_field()), kept.end(), true);
      const Tape tape = flatten(layer.lowered.main.outputs);
      layer.main = std::make_shared<const VectorProgram<T>>(tape, kept, true, 1);
      std::fill(kept.begin() + 1, kept.end(), true);
      layer.inner = std::make_shared<const VectorProgram<T>>(tape, kept, true, 1);
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
