// The two steps of a transform of columns: x and y of planes, and z of the columns' lines, in host memory.
#pragma once
#include <complex>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fft/columns/geometry.hpp"

namespace ridge::fft {

// Transforms along x and y of the planes of `geometry`, which may be some planes of a grid along z.
template <class T>
class ColumnPlanes {
 public:
  using Complex = std::complex<T>;
  ColumnPlanes(const Device& device, const ColumnGeometry& geometry, std::size_t threads,
               const planner::Options& options);
  // The lines are packed, `geometry.z` points of each column. Sample: Complex, or T for real grids.
  template <class Sample>
  void forward(std::span<const Sample> samples, const std::vector<Column>& columns, std::span<Complex> lines) const;
  template <class Sample>
  void inverse(std::span<const Complex> lines, const std::vector<Column>& columns, std::span<Sample> samples) const;
  std::string explain() const { return along_x_.explain() + along_y_.explain(); }

 private:
  ColumnGeometry at_;
  Plan<T> along_x_, along_y_;
};

// Transforms along z of some columns of `geometry`.
template <class T>
class ColumnLines {
 public:
  using Complex = std::complex<T>;
  // `problem`: its scales and threads. `transposed`: see ColumnGeometry::factors.
  ColumnLines(const Device& device, const ColumnGeometry& geometry, const std::vector<Column>& columns,
              const ColumnsProblem& problem, const planner::Options& options, bool transposed);
  std::size_t modes() const { return modes_; }
  std::size_t points() const { return columns_.size() * at_.z; }
  void forward(std::span<const Complex> lines, std::span<Complex> modes) const;
  void inverse(std::span<const Complex> modes, std::span<Complex> lines) const;
  std::string explain() const { return along_z_ ? along_z_->explain() : std::string(); }

 private:
  template <class Use>
  void for_parts(const Use& use) const;

  ColumnGeometry at_;
  std::vector<Column> columns_;
  std::size_t modes_ = 0;
  std::vector<T> forward_factors_, inverse_factors_;  // empty for complex grids
  std::optional<Plan<T>> along_z_{};                  // none without columns
};

}  // namespace ridge::fft
