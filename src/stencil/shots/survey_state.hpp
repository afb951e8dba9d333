// The planned survey: the grid of the model with its layers, the chosen variants and the coefficients.
#pragma once
#include <ridge/stencil/survey.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <ridge/stencil/problems.hpp>

#include "stencil/shots/shot_run.hpp"
#include "stencil/shots/snapshot_store.hpp"

namespace ridge::stencil {

template <class T>
struct SurveyState {
  Device device;
  SurveyMedium medium;
  ModelPlace place{};
  std::vector<std::size_t> shape{};  // of the grid of one shot, with layers
  double fastest = 0;                // for which the layers were made
  // `reversed` has no layers: where they add nothing, leapfrog with exchanged levels computes the previous step.
  std::shared_ptr<const Chosen<T>> forward{}, backward{}, reversed{};
  Grid<T> coefficients;
  std::shared_ptr<SpareMemory> spare = std::make_shared<SpareMemory>();  // of one gradient after another
  // The shots of a batch are the planes of a grid with one more axis, along which the update does not read.
  std::vector<std::size_t> grid_shape() const {
    std::vector<std::size_t> all = shape;
    if (medium.batch > 1) all.insert(all.begin(), medium.batch);
    return all;
  }
  std::size_t cells() const { return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()); }
};

template <class T>
struct Prepared {
  PointTable sources{}, receivers{};
  std::vector<std::size_t> counts{};  // receivers of each shot
  std::vector<T> wavelets{};          // steps by sources
};

[[noreturn]] void refuse_survey(const std::string& what);
// "(3, 7)": the indices of a cell, for messages.
std::string cell_index_text(const std::vector<std::size_t>& shape, std::size_t index);

Acoustic acoustic_of(const SurveyMedium& medium);
// Error{invalid_argument} for a model whose shape, batch, velocity or spacing is impossible.
void check_velocity(const SurveyMedium& medium);
// Fills in the time step and the frequency, and checks both.
void complete_medium(SurveyMedium& medium);

// The grid: the model with layers and the fixed cells behind them. At a free surface the model's first cells are on the
// surface, which is the innermost fixed cell.
template <class T>
void place_model(SurveyState<T>& state, Borders& borders);
// Writes (c dt)^2 of every cell of the grid: cells outside the model have the velocity of the nearest cell inside.
template <class T>
void fill_coefficients(SurveyState<T>& state);

// Index of the nearest cell of the model.
std::size_t model_cell(const ModelPlace& place, const std::vector<std::size_t>& shape, std::size_t index);
bool inside_model(const ModelPlace& place, const std::vector<std::size_t>& shape, std::size_t index);
// True if the update writes the cell.
bool is_updated(const Layout& layout, std::size_t index);

// Cells to which layers add something: those of the layers, and as many next to them as the radius.
template <class T>
std::vector<std::uint32_t> frame_cells(const SurveyState<T>& state);
// Number of frame_cells().
template <class T>
std::size_t frame_size(const SurveyState<T>& state);

}  // namespace ridge::stencil
