// Layers on the host: weighted sums of rows, by the vector kernels of the engine.
#include <algorithm>

#include "base/threads.hpp"
#include "stencil/host/kernels/vector_kernels.hpp"
#include "stencil/host/levels.hpp"
#include "stencil/layers/layers.hpp"
#include "stencil/layers/line_sums.hpp"

namespace ridge::stencil {
namespace {

template <class T>
struct HostLayer {
  LayerPlace place{};
  std::size_t scale = 0, memories = 0;
  std::vector<LineSums<T>> sums{};
  // Memory variables that are read at their own cell by their own sum alone, apart from output 0: replaced in place.
  std::vector<bool> in_place{};
};

constexpr std::size_t kColumnRows = 64;  // rows of a layer along x that are stored together, column after column

// Pointers and weights of a sum.
template <class T>
struct SumInputs {
  std::vector<const T*> from{};
  std::vector<T> weights{};
  template <class Place>
  void set(const std::vector<LineTerm<T>>& terms, const Place& place) {
    from.clear(), weights.clear();
    for (const LineTerm<T>& term : terms) {
      from.push_back(place(term));
      weights.push_back(term.weight);
    }
  }
};

// The memory variables of one layer. Along z and y a row of them has the cells of a row of the grid; variables that
// neighbours read have two buffers, which are read and written alternately. Along x columns of kColumnRows rows are
// contiguous, and rows of the grid are transposed, so that weights are equal along vectors here too.
template <class T>
class HostLayerState {
 public:
  HostLayerState(const HostLayer<T>& layer, const Layout& layout) : layer_(layer), layout_(layout) {
    const LayerPlace& place = layer.place;
    now_.assign(layer.memories, std::vector<T>(along_x() ? groups() * place.extent[0] * group_size()
                                                         : place.extent[0] * place.extent[1] * place.extent[2]));
    next_.resize(layer.memories);
    for (std::size_t k = 0; k < layer.memories && !along_x(); ++k) {
      if (!layer.in_place[k]) next_[k].resize(now_[k].size());
    }
  }

  std::size_t values() const { return now_.empty() ? 0 : now_.size() * now_[0].size(); }
  std::vector<std::vector<T>>& memory() { return now_; }
  void clear() {
    for (auto* all : {&now_, &next_}) {
      for (std::vector<T>& values : *all) std::fill(values.begin(), values.end(), T{});
    }
  }
  void swap() {
    for (std::size_t k = 0; k < now_.size(); ++k) {
      if (!next_[k].empty()) now_[k].swap(next_[k]);
    }
  }

  // The new level and memory variables of rows [y, y_end) of plane z of the grid, where they are in the band.
  void add(Levels<T>& levels, std::size_t newer, std::size_t older, std::size_t z, std::size_t y, std::size_t y_end) {
    const LayerPlace& place = layer_.place;
    if (z < place.begin[0] || z >= place.begin[0] + place.extent[0]) return;
    y = std::max(y, place.begin[1]);
    y_end = std::min(y_end, place.begin[1] + place.extent[1]);
    while (y < y_end) {
      const std::size_t in_z = z - place.begin[0], in_y = y - place.begin[1];
      const std::size_t count = along_x() ? std::min(y_end - y, kColumnRows - in_y % kColumnRows) : 1;
      if (along_x()) {
        add_columns(levels, newer, older, in_z, in_y, count);
      } else {
        add_row(levels, newer, older, in_z, in_y);
      }
      y += count;
    }
  }

 private:
  bool along_x() const { return layer_.place.axis == 2; }
  std::size_t groups() const { return (layer_.place.extent[1] + kColumnRows - 1) / kColumnRows; }  // per plane
  std::size_t group_size() const { return layer_.place.extent[2] * kColumnRows; }
  std::size_t grid_z(std::size_t z) const { return layer_.place.begin[0] + z; }
  std::size_t grid_y(std::size_t y) const { return layer_.place.begin[1] + y; }

  // One row of a layer along z or y.
  void add_row(Levels<T>& levels, std::size_t newer, std::size_t older, std::size_t z, std::size_t y) {
    const LayerPlace& place = layer_.place;
    const VectorKernels<T>& kernels = vector_kernels<T>();
    const bool along_z = place.axis == 0;
    const std::size_t width = place.extent[2], left = place.begin[2];
    const LineSums<T>& sums = layer_.sums[along_z ? z : y];
    const auto memory_row = [&](std::vector<T>& values, int by) {
      const std::size_t at_z = z + static_cast<std::size_t>(along_z ? by : 0),
                        at_y = y + static_cast<std::size_t>(along_z ? 0 : by);
      return values.data() + (at_z * place.extent[1] + at_y) * width;
    };
    const auto row_of = [&](const LineTerm<T>& term) -> const T* {
      if (term.field > 0) return memory_row(now_[term.field - 1], term.by);
      const std::size_t at_z = grid_z(z) + static_cast<std::size_t>(along_z ? term.by : 0),
                        at_y = grid_y(y) + static_cast<std::size_t>(along_z ? 0 : term.by);
      return levels.row(levels.current(), older, at_z, at_y) + left;
    };
    thread_local SumInputs<T> inputs;
    T* const fresh = levels.row(levels.current(), newer, grid_z(z), grid_y(y));
    inputs.set(sums[0], row_of);
    const T* const scale = levels.row(levels.coefficients(), layer_.scale, grid_z(z), grid_y(y)) + left;
    add_product(kernels, inputs, scale, fresh + left, width);
    levels.close_row(fresh);
    for (std::size_t k = 0; k < now_.size(); ++k) {
      if (sums[k + 1].empty()) continue;  // stays zero
      inputs.set(sums[k + 1], row_of);
      T* const to = memory_row(next_[k].empty() ? now_[k] : next_[k], 0);
      kernels.sum(inputs.from.data(), inputs.weights.data(), inputs.from.size(), T{}, to, 0, width, !next_[k].empty());
    }
  }

  // Adds scale * sum to `fresh`.
  static void add_product(const VectorKernels<T>& kernels, const SumInputs<T>& inputs, const T* scale, T* fresh,
                          std::size_t count) {
    if (inputs.from.empty()) return;
    const T one = 1;
    const T* const more[] = {fresh};
    const SumProduct<T> product{.sum = {inputs.from.data(), inputs.weights.data(), inputs.from.size(), T{}},
                                .more = {more, &one, 1, T{}},
                                .factor = scale,
                                .ahead = nullptr,
                                .ahead_count = 0};
    kernels.product(product, fresh, count);
  }

  // `count` rows of a layer along x, of one group.
  void add_columns(Levels<T>& levels, std::size_t newer, std::size_t older, std::size_t z, std::size_t y,
                   std::size_t count) {
    const LayerPlace& place = layer_.place;
    const VectorKernels<T>& kernels = vector_kernels<T>();
    const std::size_t band = place.extent[2], cells = band + 2 * place.radius;
    thread_local std::vector<T> work;
    thread_local SumInputs<T> inputs;
    work.resize((cells + 2 * band + now_.size() * band) * kColumnRows);
    T *const before = work.data(), *const fresh = before + cells * kColumnRows;
    T *const scale = fresh + band * kColumnRows, *const made = scale + band * kColumnRows;
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t at_z = grid_z(z), at_y = grid_y(y + r);
      spread(levels.row(levels.current(), older, at_z, at_y) + place.begin[2] - place.radius, cells, before + r);
      spread(levels.row(levels.current(), newer, at_z, at_y) + place.begin[2], band, fresh + r);
      spread(levels.row(levels.coefficients(), layer_.scale, at_z, at_y) + place.begin[2], band, scale + r);
    }
    const std::size_t first = (z * groups() + y / kColumnRows) * group_size() + y % kColumnRows;
    for (std::size_t at = 0; at < band; ++at) {
      const auto column_of = [&](const LineTerm<T>& term) -> const T* {
        const std::size_t column = at + static_cast<std::size_t>(term.by);
        if (term.field > 0) return now_[term.field - 1].data() + first + column * kColumnRows;
        return before + (column + place.radius) * kColumnRows;
      };
      const LineSums<T>& sums = layer_.sums[at];
      inputs.set(sums[0], column_of);
      add_product(kernels, inputs, scale + at * kColumnRows, fresh + at * kColumnRows, count);
      for (std::size_t k = 0; k < now_.size(); ++k) {
        if (sums[k + 1].empty()) continue;
        inputs.set(sums[k + 1], column_of);
        kernels.sum(inputs.from.data(), inputs.weights.data(), inputs.from.size(), T{},
                    made + (k * band + at) * kColumnRows, 0, count, true);
      }
    }
    for (std::size_t k = 0; k < now_.size(); ++k) {
      for (std::size_t at = 0; at < band; ++at) {
        if (!layer_.sums[at][k + 1].empty())
          std::copy_n(made + (k * band + at) * kColumnRows, count, now_[k].data() + first + at * kColumnRows);
      }
    }
    for (std::size_t r = 0; r < count; ++r) {
      T* const row = levels.row(levels.current(), newer, grid_z(z), grid_y(y + r));
      for (std::size_t at = 0; at < band; ++at) row[place.begin[2] + at] = fresh[at * kColumnRows + r];
      levels.close_row(row);
    }
  }

  static void spread(const T* row, std::size_t cells, T* columns) {
    for (std::size_t i = 0; i < cells; ++i) columns[i * kColumnRows] = row[i];
  }

  const HostLayer<T>& layer_;
  const Layout& layout_;
  std::vector<std::vector<T>> now_{}, next_{};  // memory variables; `next_` is empty: replaced in place
};

template <class T>
class HostLayersState final : public LayerState<T> {
 public:
  HostLayersState(const std::vector<HostLayer<T>>& layers, const Layout& layout, bool free_surface)
      : layout_(layout), free_surface_(free_surface) {
    for (const HostLayer<T>& layer : layers) states_.emplace_back(layer, layout);
  }

  void step(Running<T>& running) override {
    bool exchanged = false;
    Levels<T>& levels = *running.host_levels(exchanged);
    if (free_surface_) add_images(levels, exchanged ? 1 : 0);
    running.single([&](bool now, std::size_t z, std::size_t z_end, std::size_t y, std::size_t y_end) {
      for (std::size_t plane = z; plane < z_end; ++plane) {
        for (auto& state : states_) state.add(levels, now ? 1 : 0, now ? 0 : 1, plane, y, y_end);
      }
    });
    for (auto& state : states_) state.swap();
  }

  void clear() override {
    for (auto& state : states_) state.clear();
  }
  std::size_t values() const override {
    std::size_t values = 0;
    for (const auto& state : states_) values += state.values();
    return values;
  }
  void save(T* values) override {
    for (auto& state : states_) {
      for (const std::vector<T>& memory : state.memory()) values = std::copy(memory.begin(), memory.end(), values);
    }
  }
  void restore(const T* values) override {
    for (auto& state : states_) {
      for (std::vector<T>& memory : state.memory()) {
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

  const Layout& layout_;
  bool free_surface_;
  std::vector<HostLayerState<T>> states_{};
};

template <class T>
class HostLayers final : public Layers<T> {
 public:
  HostLayers(const Update<T>& update, const Layout& layout) : layout_(layout), free_surface_(update.free_surface) {
    const std::vector<LoweredLayer<T>> lowered = lower_layers(update, layout);
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      HostLayer<T> layer{.place = lowered[i].place,
                         .scale = lowered[i].scale,
                         .memories = lowered[i].memories,
                         .sums = line_sums<T>(update.layers[i], lowered[i].place)};
      layer.in_place.assign(layer.memories, true);
      for (const LineSums<T>& sums : layer.sums) {
        for (std::size_t k = 0; k < sums.size(); ++k) {
          for (const LineTerm<T>& term : sums[k]) {
            if (term.field > 0 && (term.by != 0 || (k > 0 && k != term.field))) layer.in_place[term.field - 1] = false;
          }
        }
      }
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
