// Layers on the host by compiled loops: CPML and its transpose. Memory variables are stored only where profiles are not
// zero.
#include "stencil/layers/host_cpml.hpp"

#include <algorithm>

#include "base/aligned.hpp"
#include "stencil/layers/cpml_rows.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kLinesTogether = 32;  // rows of a layer along x per call: their copies stay in the cache

// Weights of the loops; radius 0 if they do not support the layer.
template <class T>
CpmlWeights<T> weights_of(const LoweredLayer<T>& layer) {
  const auto& [first, second, transposed] = layer.differences;
  const bool fits = first.size() == layer.place.radius + 1 && layer.place.radius > 0 &&
                    layer.place.radius <= kCpmlRadius && second.size() == first.size() && layer.memories == 2 &&
                    layer.profiles == 4 && (transposed || layer.shared == 0) && has_cpml_rows<T>();
  CpmlWeights<T> weights{.radius = fits ? layer.place.radius : 0};
  for (std::size_t k = 0; fits && k < first.size(); ++k) {
    weights.first[k] = static_cast<T>(first[k]);
    weights.second[k] = static_cast<T>(second[k]);
  }
  return weights;
}

// Along z and y a stored row has the alignment of a row of the grid. psi is read at neighbours, so it has two buffers,
// which are read and written alternately; in a transposed layer zeta, too. Along x whole rows are copied before they
// are replaced in place.
template <class T>
class HostCpml final : public HostLayerRows<T> {
 public:
  HostCpml(const LoweredLayer<T>& layer, const CpmlWeights<T>& weights)
      : place_(layer.place),
        weights_(weights),
        transposed_(layer.differences.transposed),
        profiles_(layer.values),
        scale_(layer.scale) {
    const auto zero = [&](std::size_t i) {
      return std::all_of(profiles_.begin(), profiles_.end(),
                         [&](const auto& profile) { return profile[place_.radius + i] == T{0}; });
    };
    for (end_ = place_.extent[place_.axis]; end_ > 0 && zero(end_ - 1);) --end_;
    while (begin_ < end_ && zero(begin_)) ++begin_;
    stored_ = place_.extent;
    stored_[place_.axis] = end_ - begin_;
    constexpr std::size_t kLineCells = kLine / sizeof(T);
    skip_ = along_x() ? 0 : place_.begin[2] % kLineCells;
    pitch_ = along_x() ? stored_[2] : round_up(skip_ + stored_[2], kLineCells);
    const std::size_t values = stored_[0] * stored_[1] * pitch_;
    for (auto* memory : {&psi_, &zeta_}) *memory = base::AlignedArray<T>(values);
    if (!along_x()) {
      new_psi_ = base::AlignedArray<T>(values);
      if (transposed_) new_zeta_ = base::AlignedArray<T>(values);
      zeros_ = base::AlignedArray<T>(pitch_);
      std::fill(zeros_.begin(), zeros_.end(), T{});
    }
    HostCpml::clear();
  }

  void add(Levels<T>& levels, std::size_t newer, std::size_t older, const RowBox& box) override {
    RowBox in = box;
    in.z = std::max(box.z, place_.begin[0]);
    in.z_end = std::min(box.z_end, place_.begin[0] + place_.extent[0]);
    in.y = std::max(box.y, place_.begin[1]);
    in.y_end = std::min(box.y_end, place_.begin[1] + place_.extent[1]);
    if (in.z >= in.z_end || in.y >= in.y_end) return;
    const Fields fields{&levels, newer, older};
    if (along_x()) {
      for (std::size_t z = in.z; z < in.z_end; ++z) add_lines(fields, z, in.y, in.y_end);
    } else if (place_.axis == 1) {
      for (std::size_t z = in.z; z < in.z_end; ++z)
        add_blocks(in.y - place_.begin[1], in.y_end - place_.begin[1],
                   [&](std::size_t along, std::size_t rows, bool keeps) { add_block(fields, z, along, rows, keeps); });
    } else {
      add_blocks(in.z - place_.begin[0], in.z_end - place_.begin[0],
                 [&](std::size_t along, std::size_t rows, bool keeps) {
                   for (std::size_t y = in.y; y < in.y_end; ++y) add_block(fields, y, along, rows, keeps);
                 });
    }
  }
  void swap() override {
    if (along_x()) return;
    std::swap(psi_, new_psi_);
    if (transposed_) std::swap(zeta_, new_zeta_);
  }
  void clear() override {
    for (auto* memory : {&psi_, &new_psi_, &zeta_, &new_zeta_}) std::fill(memory->begin(), memory->end(), T{});
  }
  std::vector<std::span<T>> memory() override { return {psi_.span(), zeta_.span()}; }

 private:
  struct Fields {
    Levels<T>* levels;
    std::size_t newer, older;
  };
  bool along_x() const { return place_.axis == 2; }

  // Calls `work` for blocks of 4, 2 or 1 rows, all of them with memory variables or none, of [begin, end) of the band.
  template <class Work>
  void add_blocks(std::size_t begin, std::size_t end, const Work& work) const {
    while (begin < end) {
      const bool keeps = begin >= begin_ && begin < end_;
      const std::size_t left = (keeps ? std::min(end, end_) : begin < begin_ ? std::min(end, begin_) : end) - begin;
      const std::size_t rows = left >= kCpmlRows ? kCpmlRows : left >= 2 ? 2 : 1;
      work(begin, rows, keeps);
      begin += rows;
    }
  }

  // Rows [along, along + rows) of the band at `across`, the grid's index along the other of z and y.
  void add_block(const Fields& fields, std::size_t across, std::size_t along, std::size_t rows, bool keeps) {
    const bool planes = place_.axis == 0;
    const std::size_t radius = place_.radius, begin = place_.begin[2], other = across - place_.begin[planes ? 1 : 0];
    Levels<T>& levels = *fields.levels;
    const auto row = [&](auto* level, std::size_t field, std::size_t at) {  // `at` counts through the grid
      return levels.row(level, field, planes ? at : across, planes ? across : at) + begin;
    };
    const auto memory = [&](base::AlignedArray<T>& values, std::size_t at) {
      const std::size_t k = at - begin_;
      return values.data() + (planes ? k * stored_[1] + other : other * stored_[1] + k) * pitch_ + skip_;
    };
    const bool neighbours = keeps || transposed_;
    CpmlBlock<T> block{
        .rows = rows, .cells = place_.extent[2], .skip = skip_, .keeps = keeps, .transposed = transposed_};
    const std::size_t first = place_.begin[place_.axis] + along;  // of the grid
    for (std::size_t i = 0; i < rows + 2 * radius; ++i) {
      const std::size_t at = along + i - radius;  // may wrap: then it is not below `end_`
      const bool stored = at >= begin_ && at < end_;
      block.psi[i] = stored ? memory(psi_, at) : zeros_.data() + skip_;
      block.zeta[i] = stored ? memory(zeta_, at) : zeros_.data() + skip_;
      if (neighbours) block.before[i] = row(levels.current(), fields.older, first + i - radius);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      block.fresh[r] = row(levels.current(), fields.newer, first + r);
      block.scale[r] = row(levels.coefficients(), scale_, first + r);
      if (!keeps) continue;
      block.new_zeta[r] = memory(transposed_ ? new_zeta_ : zeta_, along + r);
      block.new_psi[r] = memory(new_psi_, along + r);
    }
    for (std::size_t k = 0; k < profiles_.size(); ++k) block.profiles[k] = profiles_[k].data() + along;
    add_cpml_block(weights_, block);
    for (std::size_t r = 0; r < rows; ++r) levels.close_row(block.fresh[r] - begin);
  }

  std::size_t line_at(std::size_t z, std::size_t y) const {
    return ((z - place_.begin[0]) * stored_[1] + y - place_.begin[1]) * pitch_;
  }
  void add_lines(const Fields& fields, std::size_t z, std::size_t y, std::size_t y_end) {
    Levels<T>& levels = *fields.levels;
    const std::size_t begin = place_.begin[2];
    const std::size_t width = place_.extent[2] + 2 * place_.radius;
    const std::size_t copy = kLinesTogether * width + CpmlLines<T>::kSlack;
    thread_local std::vector<T> work;
    if (work.size() < CpmlLines<T>::kCopies * copy) work.resize(CpmlLines<T>::kCopies * copy);
    for (; y < y_end; y += kLinesTogether) {
      const std::size_t at = line_at(z, y);
      CpmlLines<T> lines{.rows = std::min(kLinesTogether, y_end - y),
                         .cells = place_.extent[2],
                         .begin = begin_,
                         .end = end_,
                         .grid_step = levels.frame().pitch,
                         .transposed = transposed_,
                         .before = levels.row(levels.current(), fields.older, z, y) + begin,
                         .scale = levels.row(levels.coefficients(), scale_, z, y) + begin,
                         .fresh = levels.row(levels.current(), fields.newer, z, y) + begin,
                         .psi = psi_.data() + at,
                         .zeta = zeta_.data() + at,
                         .width = width,
                         .copy = copy,
                         .work = work.data()};
      for (std::size_t k = 0; k < profiles_.size(); ++k) lines.profiles[k] = profiles_[k].data();
      add_cpml_lines(weights_, lines);
    }
  }

  LayerPlace place_;
  CpmlWeights<T> weights_;
  bool transposed_;
  std::vector<std::vector<T>> profiles_;  // along the band, with `radius` zeros on both sides
  std::size_t scale_;                     // coefficient
  std::size_t begin_ = 0, end_ = 0;       // of the cells of the band with memory variables
  std::array<std::size_t, 3> stored_{};   // cells with memory variables
  std::size_t skip_ = 0, pitch_ = 0;      // cells before the first one of a stored row, and between rows
  base::AlignedArray<T> psi_, new_psi_, zeta_, new_zeta_, zeros_;
};

}  // namespace

template <class T>
bool has_host_cpml(const LoweredLayer<T>& layer) {
  return weights_of(layer).radius > 0;
}
template <class T>
std::unique_ptr<HostLayerRows<T>> host_cpml(const LoweredLayer<T>& layer) {
  return std::make_unique<HostCpml<T>>(layer, weights_of(layer));
}

template bool has_host_cpml(const LoweredLayer<float>&);
template bool has_host_cpml(const LoweredLayer<double>&);
template std::unique_ptr<HostLayerRows<float>> host_cpml(const LoweredLayer<float>&);
template std::unique_ptr<HostLayerRows<double>> host_cpml(const LoweredLayer<double>&);

}  // namespace ridge::stencil
