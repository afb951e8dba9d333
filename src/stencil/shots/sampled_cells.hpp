// The error of a gradient, measured in some cells: the waves of both runs are recorded there at every step, so their
// correlation without skipped steps and roundings is known.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stencil/shots/survey_state.hpp"

namespace ridge::stencil {

struct SampledCells {
  std::vector<std::size_t> cells{};  // of the grid of one shot
  std::vector<double> density{};     // probability of each, up to a common factor
  std::size_t shots = 1;
  std::size_t points() const { return cells.size() * shots; }
};

// A third of the cells anywhere in the model, a third around sources and a third around receivers, where gradients are
// largest.
template <class T>
SampledCells sample_cells(const SurveyState<T>& state, const Prepared<T>& prepared);

// The table with the sampled cells of all shots as further points, for runs that only take values.
template <class T>
PointTable with_cells(PointTable table, const SampledCells& sample, const SurveyState<T>& state);

// Estimate of the relative error of the gradient of the image. Rows of a step hold one value per point; the rows of the
// forward run are values after each step, those of the adjoint run before it.
template <class T>
double measured_error(const SurveyState<T>& state, const SampledCells& sample, const Grid<T>& image,
                      const std::vector<T>& forward, const std::vector<T>& adjoint, std::size_t steps);

}  // namespace ridge::stencil
