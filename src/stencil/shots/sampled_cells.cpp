// Draws cells and compares their correlations with those of the image.
#include "stencil/shots/sampled_cells.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace ridge::stencil {
namespace {

constexpr std::size_t kSamples = 256, kFewestSamples = 24;  // per shot, with few and with many shots
constexpr std::size_t kAround = 4;                          // cells from those that a point reads or writes

// Cells of the grid of one shot that sources or receivers have weights in.
std::vector<std::size_t> cells_of(const PointTable& table, std::size_t cells) {
  std::vector<std::size_t> found;
  for (const std::uint32_t cell : table.cells) found.push_back(cell % cells);
  if (!std::is_sorted(found.begin(), found.end())) std::sort(found.begin(), found.end());
  return found;
}

// Number of the given cells in the box around a cell.
std::size_t count_around(const std::vector<std::size_t>& cells, const std::vector<std::size_t>& shape, std::size_t cell,
                         std::size_t axis = 0, std::size_t first = 0) {
  std::size_t stride = 1;
  for (std::size_t k = axis + 1; k < shape.size(); ++k) stride *= shape[k];
  const std::size_t at = cell / stride % shape[axis];
  const std::size_t low = at < kAround ? 0 : at - kAround, high = std::min(at + kAround, shape[axis] - 1);
  if (axis + 1 == shape.size())
    return static_cast<std::size_t>(std::upper_bound(cells.begin(), cells.end(), first + high) -
                                    std::lower_bound(cells.begin(), cells.end(), first + low));
  std::size_t sum = 0;
  for (std::size_t k = low; k <= high; ++k) sum += count_around(cells, shape, cell, axis + 1, first + k * stride);
  return sum;
}

}  // namespace

template <class T>
SampledCells sample_cells(const SurveyState<T>& state, const Prepared<T>& prepared) {
  const std::vector<std::size_t>& shape = state.shape;
  const std::size_t shots = state.medium.batch, count = std::max(kFewestSamples, kSamples / shots);
  const std::vector<std::size_t> around[] = {cells_of(prepared.sources, state.cells()),
                                             cells_of(prepared.receivers, state.cells())};
  const double box = std::pow(2.0 * kAround + 1, static_cast<double>(shape.size()));
  std::mt19937_64 random(1);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  SampledCells sample{.shots = shots};
  while (sample.cells.size() < count) {
    const std::size_t kind = sample.cells.size() % 3;
    const bool anywhere = kind == 0 || around[kind - 1].empty();
    const std::size_t centre = anywhere ? 0 : around[kind - 1][below(around[kind - 1].size())];
    std::size_t cell = 0, stride = 1;
    bool inside = true;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const std::size_t begin = state.place.begin[axis], side = state.place.shape[axis];
      const std::size_t at =
          anywhere ? begin + below(side) : centre / stride % shape[axis] + below(2 * kAround + 1) - kAround;
      inside = inside && at >= begin && at < begin + side;
      cell += at * stride;
      stride *= shape[axis];
    }
    if (!inside || !is_updated(state.forward->layout, cell)) continue;
    double density = 1 / static_cast<double>(state.medium.velocity.size());
    for (const auto& some : around) {
      if (!some.empty())
        density += static_cast<double>(count_around(some, shape, cell)) / (static_cast<double>(some.size()) * box);
    }
    sample.cells.push_back(cell);
    sample.density.push_back(density);
  }
  return sample;
}

template <class T>
PointTable with_cells(PointTable table, const SampledCells& sample, const SurveyState<T>& state) {
  for (std::size_t shot = 0; shot < sample.shots; ++shot) {
    for (const std::size_t cell : sample.cells) {
      table.cell.push_back(static_cast<std::uint32_t>(shot * state.cells() + cell));
      table.weight.push_back(1);
      table.first.push_back(static_cast<std::uint32_t>(table.cell.size()));
      ++table.points;
    }
  }
  return table;
}

template <class T>
double measured_error(const SurveyState<T>& state, const SampledCells& sample, const Grid<T>& image,
                      const std::vector<T>& forward, const std::vector<T>& adjoint, std::size_t steps) {
  const std::size_t points = sample.points(), count = sample.cells.size();
  double errors = 0, squares = 0;
  for (std::size_t k = 0; k < count; ++k) {
    double right = 0, found = 0;
    for (std::size_t point = k; point < points; point += count) {
      double before = 0, now = 0;
      for (std::size_t n = 0; n < steps; ++n) {
        const auto newer = static_cast<double>(forward[n * points + point]);
        right += (newer - 2 * now + before) * static_cast<double>(adjoint[n * points + point]);
        before = now;
        now = newer;
      }
      found += static_cast<double>(image.all()[point / count * state.cells() + sample.cells[k]]);
    }
    // The derivative with respect to the velocity is the image times 2 c dt^2 / V^2, V = (c dt)^2.
    const auto squared = static_cast<double>(state.coefficients.all()[sample.cells[k]]);
    const double weight = std::pow(squared, -3) / sample.density[k];
    errors += weight * (found - right) * (found - right);
    squares += weight * right * right;
  }
  return squares > 0 ? std::sqrt(errors / squares) : 0;
}

template SampledCells sample_cells(const SurveyState<float>&, const Prepared<float>&);
template SampledCells sample_cells(const SurveyState<double>&, const Prepared<double>&);
template PointTable with_cells(PointTable, const SampledCells&, const SurveyState<float>&);
template PointTable with_cells(PointTable, const SampledCells&, const SurveyState<double>&);
template double measured_error(const SurveyState<float>&, const SampledCells&, const Grid<float>&,
                               const std::vector<float>&, const std::vector<float>&, std::size_t);
template double measured_error(const SurveyState<double>&, const SampledCells&, const Grid<double>&,
                               const std::vector<double>&, const std::vector<double>&, std::size_t);

}  // namespace ridge::stencil
