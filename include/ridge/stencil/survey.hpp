// Acoustic surveys: a velocity model with absorbing layers around it, sources and receivers between cells, recorded
// traces, and the gradient of a misfit with respect to the model.
//
//   ridge::stencil::Survey<float> survey(ridge::host(), {.shape = {200, 300}, .velocity = model, .spacing = 10,
//                                                        .frequency = 8});
//   Shot shot{.sources = {4.5, 150.25}, .wavelets = survey.ricker(1000), .receivers = positions};
//   std::vector<float> traces = survey.record(shot, 1000);
//   Gradient gradient = survey.gradient(shot, 1000, observed, {.memory = std::size_t{1} << 30});
//
// Positions are in cells, slowest axis first, cell (0, 0) being the first number of the model. The layers are outside
// the model and continue the velocities of its edge.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>
#include <ridge/stencil/checkpoints.hpp>
#include <ridge/stencil/grid.hpp>

namespace ridge::stencil {

struct SurveyMedium {
  std::vector<std::size_t> shape{};  // two or three axes, depth first
  std::vector<double> velocity{};    // one per cell, above 0
  double spacing = 1;                // the same along each axis
  double dt = 0;                     // 0: 0.9 of the stability limit
  double frequency = 0;              // peak of the pulses; 0: 16 cells per wave at the lowest velocity
  int accuracy = 8;                  // 2, 4, 6 or 8
  std::size_t layer = 8;             // cells of the absorbing layers at each side; 0: none
  bool free_surface = false;         // at depth 0: u = 0 there, waves are reflected with the opposite sign
  Borders borders = {};              // without layers
  std::size_t batch = 1;             // shots that are computed at once; more than 1 for models of two axes only
  std::size_t threads = 0;           // host: 0 = all
};

struct Shot {
  std::vector<double> sources{};    // one position after another
  std::vector<double> wavelets{};   // one value per step for each source, or for all sources together
  std::vector<double> receivers{};  // one position after another
};

// Called with 0 before the first step, after each step with the number of steps taken (on a device: enqueued), and
// after the last step of record() when it is done.
using SurveyProgress = std::function<void(std::size_t taken)>;

// States during a run: `use` gets u in the cells of the model, of the last shot, after every `every` steps. 0: never.
template <class T>
struct SurveySnapshots {
  std::size_t every = 0;
  std::function<void(std::size_t step, const std::vector<T>& field)> use = {};
};

struct GradientOptions {
  std::size_t memory = 0;  // bytes for fields, snapshots and states; 0: half of the memory of the device
  double error = 1e-3;     // relative, that snapshots of fewer bits and skipped steps may cause; 0: exact
  bool exact = false;      // as error = 0
  int bits = 0;            // of snapshots that are not exact: 16, or 8 with an error of up to 3e-2; 0: by `error`
  bool backwards = false;  // keep values next to the sides and compute the run backwards, whatever else fits
  // The given traces are derivatives of a misfit of one's own with respect to the recorded ones, not observations.
  bool derivatives = false;
  // Reverse-time migration: the given traces are sent back from the receivers, and Gradient::image is filled.
  bool image = false;
  SurveyProgress progress = {};  // forward steps, also repeated ones
  RunCheckpoints checkpoints{};
};

struct Gradient {
  double misfit = 0;               // half of the sum of squared differences
  std::vector<double> velocity{};  // derivative with respect to the velocity of each cell of the model
  std::vector<double> wavelets{};  // with respect to the wavelet of each source, source after source
  std::vector<double> traces{};    // as record()
  // With GradientOptions::image: the correlation of the time derivatives of the waves from the sources and of those
  // sent back, divided by that of the former with itself, which is at least a thousandth of its largest value.
  std::vector<double> image{};
  double recomputation = 1;  // forward steps taken per step of the run
  double seconds = 0;        // of all steps, without transfers of the model and of the gradient
  double error = 0;          // bound of the relative error that the history causes, beyond rounding
  // Estimate of that error from the waves at every step in some cells, a third of them around sources and a third
  // around receivers. Nothing for exact histories, images and continued runs.
  std::optional<double> measured{};
  std::string explain{};  // what was stored, its size and error, and what else was possible
};

template <class T>
struct SurveyState;

// Planned once; any number of threads may call record() and gradient() at the same time.
template <class T>
class Survey {
 public:
  // Error{invalid_argument} for a time step beyond the stability limit, waves of fewer than two cells, a velocity that
  // is not above 0.
  Survey(const Device& device, const SurveyMedium& medium, const planner::Options& options = {});
  // The same grid, layers and time step with other velocities. Error if one of them breaks the stability limit.
  Survey with_velocity(std::vector<double> velocity) const;
  // Pulse of amplitude 1, its peak at t = 1.5 / frequency; value n is at t = (n + shift) dt.
  std::vector<double> ricker(std::size_t steps, double shift = 0) const;
  // Values at the receivers after each step, shot after shot, each steps by receivers: row n is the time (n + 1) dt.
  // Each step adds (c dt)^2 times the wavelet at the sources: u_tt = c^2 (laplacian + wavelet). `field`, if given, gets
  // the last state of the last shot in the cells of the model. At most `batch` shots.
  std::vector<T> record(std::span<const Shot> shots, std::size_t steps, std::vector<T>* field = nullptr,
                        const SurveyProgress& progress = {}, const SurveySnapshots<T>& snapshots = {},
                        const RunCheckpoints& checkpoints = {}) const;
  std::vector<T> record(const Shot& shot, std::size_t steps, std::vector<T>* field = nullptr,
                        const SurveyProgress& progress = {}, const SurveySnapshots<T>& snapshots = {},
                        const RunCheckpoints& checkpoints = {}) const {
    return record(std::span(&shot, 1), steps, field, progress, snapshots, checkpoints);
  }
  // The transpose of record() as a map of the wavelets: from values at the receivers to one wavelet per source.
  std::vector<double> adjoint(std::span<const Shot> shots, std::size_t steps, std::span<const T> traces) const;
  std::vector<double> adjoint(const Shot& shot, std::size_t steps, std::span<const T> traces) const {
    return adjoint(std::span(&shot, 1), steps, traces);
  }
  // Of half the sum of (traces - observed)^2 over all shots. Error if the memory does not suffice, with the least that
  // does.
  Gradient gradient(std::span<const Shot> shots, std::size_t steps, std::span<const T> observed,
                    const GradientOptions& options = {}) const;
  Gradient gradient(const Shot& shot, std::size_t steps, std::span<const T> observed,
                    const GradientOptions& options = {}) const {
    return gradient(std::span(&shot, 1), steps, observed, options);
  }
  const SurveyMedium& medium() const;  // with dt and frequency filled in
  double courant() const;              // c dt sqrt(sum of 1/dx^2) of the largest velocity
  std::string explain() const;
  const planner::Decision& decision() const;

 private:
  explicit Survey(std::shared_ptr<const SurveyState<T>> state) : state_(std::move(state)) {}
  std::shared_ptr<const SurveyState<T>> state_;
};

}  // namespace ridge::stencil
