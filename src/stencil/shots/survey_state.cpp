// Checks a survey's model, places it in the grid of a shot and fills in the coefficients.
#include "stencil/shots/survey_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/threads.hpp"

namespace ridge::stencil {

void refuse_survey(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

std::string cell_index_text(const std::vector<std::size_t>& shape, std::size_t index) {
  std::vector<std::size_t> cell(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) cell[axis] = index % shape[axis];
  return fmt::format("({})", fmt::join(cell, ", "));
}

Acoustic acoustic_of(const SurveyMedium& medium) {
  return {.dt = medium.dt,
          .spacing = std::vector<double>(medium.shape.size(), medium.spacing),
          .accuracy = medium.accuracy,
          .batch = medium.batch > 1};
}

void check_velocity(const SurveyMedium& medium) {
  if (medium.shape.size() < 2 || medium.shape.size() > 3)
    refuse_survey(fmt::format("a velocity model needs 2 or 3 axes, got {}", medium.shape.size()));
  if (medium.batch == 0 || (medium.batch > 1 && medium.shape.size() != 2))
    refuse_survey(fmt::format("a batch of {} shots in a model of {} axes: batches need 1 or more shots and 2 axes",
                              medium.batch, medium.shape.size()));
  std::size_t cells = 1;
  for (const std::size_t side : medium.shape) {
    if (side == 0 || __builtin_mul_overflow(cells, side, &cells))
      refuse_survey(fmt::format("a velocity model of {} cells is empty or too large", fmt::join(medium.shape, " x ")));
  }
  if (medium.velocity.size() != cells)
    refuse_survey(fmt::format("a velocity model of {} cells needs {} values, got {}", fmt::join(medium.shape, " x "),
                              cells, medium.velocity.size()));
  for (std::size_t i = 0; i < cells; ++i) {
    if (!std::isfinite(medium.velocity[i]) || medium.velocity[i] <= 0)
      refuse_survey(fmt::format("the velocity is {} in cell {}; all velocities must be above 0 and finite",
                                medium.velocity[i], cell_index_text(medium.shape, i)));
  }
  if (!(medium.spacing > 0) || !std::isfinite(medium.spacing))
    refuse_survey(fmt::format("a spacing of {}; it must be above 0", medium.spacing));
}

void complete_medium(SurveyMedium& medium) {
  const auto [slowest, fastest] = std::minmax_element(medium.velocity.begin(), medium.velocity.end());
  const double limit = acoustic_limit(medium.accuracy);
  Acoustic acoustic = acoustic_of(medium);
  acoustic.dt = 1;
  if (medium.dt == 0) medium.dt = 0.9 * limit / courant_number(acoustic, *fastest);
  const double number = courant_number(acoustic, *fastest) * medium.dt;
  if (!(number <= limit) || !(medium.dt > 0))
    refuse_survey(
        fmt::format("the time step {:g} is unstable: c dt sqrt(sum of 1/dx^2) is {:.4g} and must not exceed "
                    "{:.4g}; use a dt up to {:.4g}",
                    medium.dt, number, limit, limit / courant_number(acoustic, *fastest)));
  if (medium.frequency == 0) medium.frequency = *slowest / (16 * medium.spacing);
  const double most = *slowest / (2 * medium.spacing);
  if (!(medium.frequency > 0) || !(medium.frequency <= most))
    refuse_survey(
        fmt::format("a frequency of {:g}: waves would be shorter than two cells at the lowest velocity {:g}; "
                    "at most {:.4g} here, or a smaller spacing",
                    medium.frequency, *slowest, most));
}

template <class T>
void place_model(SurveyState<T>& state, Borders& borders) {
  const SurveyMedium& medium = state.medium;
  const auto radius = static_cast<std::size_t>(medium.accuracy / 2);
  state.place = {.shape = medium.shape, .layers = medium.layer > 0, .free_surface = medium.free_surface};
  borders = medium.layer > 0 ? Borders::all(Border::fixed) : medium.borders;
  for (std::size_t i = 0; i < medium.shape.size(); ++i) {
    const bool surface = medium.free_surface && i == 0;
    if (surface) borders.low[i] = Border::fixed;
    const std::size_t outside = medium.layer > 0 ? medium.layer + radius : 0;
    if (outside > 0 && !surface && medium.shape[i] < 2 * radius)
      refuse_survey(
          fmt::format("absorbing layers at order {} need a model of at least {} cells along each axis, got {}; use "
                      "a larger model, a lower order or no layers",
                      medium.accuracy, 2 * radius, fmt::join(medium.shape, " x ")));
    state.place.begin.push_back(surface ? radius - 1 : outside);
    state.shape.push_back(state.place.begin[i] + medium.shape[i] + outside);
  }
  if (medium.batch == 1) return;
  for (auto* sides : {&borders.low, &borders.high}) *sides = {Border::fixed, (*sides)[0], (*sides)[1]};
}

std::size_t model_cell(const ModelPlace& place, const std::vector<std::size_t>& shape, std::size_t index) {
  std::size_t cell = 0, stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t at = index % shape[axis];
    index /= shape[axis];
    const std::size_t begin = place.begin[axis], side = place.shape[axis];
    cell += stride * (at < begin ? 0 : std::min(at - begin, side - 1));
    stride *= side;
  }
  return cell;
}

bool inside_model(const ModelPlace& place, const std::vector<std::size_t>& shape, std::size_t index) {
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) {
    const std::size_t at = index % shape[axis];
    if (at < place.begin[axis] || at >= place.begin[axis] + place.shape[axis]) return false;
  }
  return true;
}

bool is_updated(const Layout& layout, std::size_t index) {
  for (std::size_t axis = 3; axis-- > 0; index /= layout.shape[axis]) {
    const std::size_t at = index % layout.shape[axis];
    if (at < layout.begin[axis] || at >= layout.end[axis]) return false;
  }
  return true;
}

template <class T>
std::vector<std::uint32_t> frame_cells(const SurveyState<T>& state) {
  std::vector<std::uint32_t> cells;
  const Layout& layout = state.forward->layout;
  if (state.medium.layer == 0 || layout.cells() > std::numeric_limits<std::uint32_t>::max()) return cells;
  const std::size_t missing = 3 - state.shape.size();
  for (std::size_t i = 0; i < layout.cells(); ++i) {
    if (!is_updated(layout, i)) continue;
    bool inside = true;
    std::size_t index = i;
    for (std::size_t axis = 3; axis-- > missing; index /= layout.shape[axis]) {
      const std::size_t at = index % layout.shape[axis], band = state.medium.layer + layout.radius[axis];
      const bool surface = state.medium.free_surface && axis == missing;
      inside = inside && (surface || at >= layout.begin[axis] + band) && at + band < layout.end[axis];
    }
    if (!inside) cells.push_back(static_cast<std::uint32_t>(i));
  }
  return cells;
}

template <class T>
std::size_t frame_size(const SurveyState<T>& state) {
  const Layout& layout = state.forward->layout;
  if (state.medium.layer == 0 || layout.cells() > std::numeric_limits<std::uint32_t>::max()) return 0;
  const std::size_t missing = 3 - state.shape.size();
  std::size_t inside = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t band = axis < missing ? 0 : state.medium.layer + static_cast<std::size_t>(layout.radius[axis]);
    const std::size_t sides = state.medium.free_surface && axis == missing ? 1 : 2;
    inside *= layout.end[axis] - layout.begin[axis] - sides * band;
  }
  return layout.changing() - inside;
}

template <class T>
void fill_coefficients(SurveyState<T>& state) {
  state.coefficients = Grid<T>(state.grid_shape());
  const auto cells = state.coefficients.all();
  const std::size_t one = state.cells(), width = state.shape.back();
  const std::size_t begin = state.place.begin.back(), side = state.place.shape.back();
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share rows = base::share(one / width, thread, threads);
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      const double* const velocity = state.medium.velocity.data() + model_cell(state.place, state.shape, row * width);
      for (std::size_t x = 0; x < width; ++x) {
        const double reach = velocity[x < begin ? 0 : std::min(x - begin, side - 1)] * state.medium.dt;
        cells[row * width + x] = static_cast<T>(reach * reach);
      }
    }
  });
  for (std::size_t k = 1; k < state.medium.batch; ++k)
    std::copy_n(cells.begin(), one, cells.begin() + static_cast<std::ptrdiff_t>(k * one));
}

template void place_model(SurveyState<float>&, Borders&);
template void place_model(SurveyState<double>&, Borders&);
template void fill_coefficients(SurveyState<float>&);
template void fill_coefficients(SurveyState<double>&);
template std::vector<std::uint32_t> frame_cells(const SurveyState<float>&);
template std::vector<std::uint32_t> frame_cells(const SurveyState<double>&);
template std::size_t frame_size(const SurveyState<float>&);
template std::size_t frame_size(const SurveyState<double>&);

}  // namespace ridge::stencil
