// Variant "tiles": points sorted by tiles of the fine grid, a pruned transform of the grid, mode factors.
#pragma once
#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "nufft/host/pruned_transform.hpp"
#include "nufft/host/real_modes.hpp"
#include "nufft/host/tile_grid.hpp"
#include "nufft/variant.hpp"

namespace ridge::nufft {

struct TilesDesign {
  std::size_t width = 0;  // 0: no kernel reaches epsilon at this upsampling
  double upsampling = 2;
  std::array<std::size_t, 3> cells{1, 1, 1};  // of the fine grid
  std::size_t grid_cells() const { return cells[0] * cells[1] * cells[2]; }
};

TilesDesign design_tiles(const Layout& layout, double upsampling);

// Reason why a fine grid does not fit a device; empty if it does.
std::string memory_refusal(const Device& device, const std::array<std::size_t, 3>& cells, std::size_t complex_bytes);

template <class T>
class Tiles final : public Variant<T> {
 public:
  using Complex = std::complex<T>;

  Tiles(const Layout& layout, const TilesDesign& design, const planner::Options& options);
  using Variant<T>::sort;
  std::shared_ptr<const PointSet> sort(const Coordinates<T>& points) const override {
    return grid_.sort(points, layout_.fold);
  }
  const TileGrid<T>& grid() const { return grid_; }
  void to_modes(const PointSet& points, int sign, const Complex* strengths, Complex* modes) const override;
  void to_points(const PointSet& points, int sign, const Complex* modes, Complex* values) const override;
  void slopes(const PointSet& points, int sign, const Complex* modes, Complex* values, Complex* slopes) const override;
  void enqueue_slopes(Queue& /*queue*/, const PointSet& points, int sign, const Buffer& modes,
                      const Buffer& values) const override {
    auto* const to = reinterpret_cast<Complex*>(values.native());
    slopes(points, sign, reinterpret_cast<const Complex*>(modes.native()), to, to + layout_.batch * points.count());
  }
  std::vector<planner::Decision> decisions() const override {
    return real_ ? real_->decisions() : transform_->decisions();
  }

 private:
  template <class Use>
  void for_each_row(const Use& use) const;
  std::size_t cell_of(std::size_t axis, std::size_t i) const;
  void take_row(const Complex* row, T factor, Complex* out) const;
  void put_row(const Complex* in, T factor, Complex* row) const;
  void set_grid(int sign, const Complex* modes) const;

  Layout layout_;
  std::optional<PrunedTransform<T>> transform_;  // complex values
  std::optional<RealModes<T>> real_;             // real values
  std::array<std::vector<T>, 3> factors_;        // per axis and mode, from frequency -(n/2)
  mutable std::mutex busy_;                      // guards the grid: one run at a time
  TileGrid<T> grid_;
};

}  // namespace ridge::nufft
