// Timing of stencil variants on samples of a grid, and their comparison with the reference.
#include "stencil/trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/threads.hpp"
#include "device/random.hpp"
#include "machine/host/caches.hpp"
#include "stencil/reference.hpp"

namespace ridge::stencil {
namespace {

// Memory limit of a timed candidate.
constexpr base::Repeat kTrial{.seconds = 0.06, .at_least = 3, .at_most = 1000, .round = 2e-4};
// A run has several sweeps: a single one ends before caches and memory reach a steady state.
constexpr std::size_t kTrialSteps = 4, kTrialSweeps = 3;
// On a device passes are queued back to back; timed one by one, the synchronization would count.
constexpr std::size_t kTrialPasses = 8;
// Candidates slower than the best by this factor are not run again.
constexpr double kHopeless = 1.3;
// Up to this size the single-threaded reference takes a fraction of a second.
constexpr double kPlainUpdates = 1e7;

// Values between 0.5 and 1.5, so that nothing divides by zero and weighted sums stay near one; integers from 0 to 3.
template <class T>
void fill_cells(std::span<T> cells, std::uint64_t seed) {
  fill_random(std::as_writable_bytes(cells),
              std::is_same_v<T, float>    ? Numbers::float32
              : std::is_same_v<T, double> ? Numbers::float64
                                          : Numbers::bits,
              seed);
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(cells.size(), thread, threads);
    for (std::size_t i = share.begin; i < share.end; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        cells[i] = T{1} + cells[i] / 2;
      } else {
        cells[i] = static_cast<T>(cells[i] & 3);
      }
    }
  });
}

// At least a quarter of a large grid, cut along its slowest axis, that exceeds the caches; nothing if the grid is
// small.
template <class T>
std::optional<Problem> part_of(const Device& device, const Problem& problem, const Layout& layout) {
  if (!device.is_host()) return std::nullopt;
  const double bytes = 2.0 * static_cast<double>(layout.cells() * layout.fields * sizeof(T));
  const double enough = std::max(4.0 * static_cast<double>(machine::host_caches().back().size), 128.0 * (1 << 20));
  constexpr std::size_t kFewest = 256;
  Problem part = problem;
  part.shape[0] = static_cast<std::size_t>(static_cast<double>(problem.shape[0]) * std::max(enough / bytes, 0.25));
  part.shape[0] = std::max(part.shape[0], kFewest);
  if (2 * part.shape[0] > problem.shape[0]) return std::nullopt;
  return part;
}

std::string cell_at(const Layout& layout, std::size_t index) {
  const std::size_t field = index / layout.cells(), cell = index % layout.cells();
  std::string place = fmt::format("cell {}", cell % layout.shape[2]);
  if (layout.dimensions > 1) place = fmt::format("row {}, {}", cell / layout.shape[2] % layout.shape[1], place);
  if (layout.dimensions > 2) place = fmt::format("plane {}, {}", cell / layout.shape[2] / layout.shape[1], place);
  return layout.fields > 1 ? fmt::format("field {}, {}", field, place) : place;
}

template <class T>
bool all_finite(const Grid<T>& grid) {
  if constexpr (!std::is_floating_point_v<T>) return true;
  return std::all_of(grid.all().begin(), grid.all().end(), [](T value) { return std::isfinite(value); });
}

}  // namespace

std::size_t compared_steps(const std::vector<std::size_t>& depths) {
  const std::size_t deepest = depths.empty() ? 1 : *std::max_element(depths.begin(), depths.end());
  for (std::size_t steps = 2 * deepest + 1; steps < 4 * deepest; ++steps) {
    const auto leaves_enough = [&](std::size_t depth) { return steps % depth >= (depth > 5 ? 5 : depth > 1 ? 1 : 0); };
    if (std::all_of(depths.begin(), depths.end(), leaves_enough)) return steps;
  }
  return 2 * deepest + 5;
}

template <class T>
Trials<T>::Trials(const Device& device, const Update<T>& update, const Problem& problem, const Layout& layout,
                  const std::vector<Entry<T>>& entries, std::size_t large_grid)
    : device_(device),
      update_(update),
      problem_(problem),
      layout_(layout),
      entries_(entries),
      part_(part_of<T>(device, problem, layout)),
      compared_(problem) {
  if (device.is_host()) return;
  const RepeatedGrid<T> repeated(device, layout, steps_of_all());
  if (!repeated.pays(large_grid)) return;
  repeated_ = repeated;
  compared_.shape = repeated.small_shape();
}

template <class T>
std::size_t Trials<T>::steps_of_all() const {
  std::vector<std::size_t> depths;
  for (const Entry<T>& entry : entries_) {
    if (entry.candidate.refusal.empty()) depths.push_back(depth_of(entry.candidate));
  }
  return compared_steps(depths);
}

template <class T>
void Trials<T>::fill(Grids& grids, const std::vector<std::size_t>& shape) const {
  if (grids.cells) return;
  grids.cells = std::make_unique<Grid<T>>(shape, layout_.fields);
  fill_cells(grids.cells->all(), 1);
  const auto clear = [](std::span<T> values) { std::fill(values.begin(), values.end(), T{}); };
  // The inner form of an update requires zeros.
  for (std::size_t k = update_.inner.outputs.size(); k < layout_.fields && k > 0; ++k) clear(grids.cells->field(k));
  if (layout_.coefficients == 0) return;
  grids.coefficients = std::make_unique<Grid<T>>(shape, layout_.coefficients);
  fill_cells(grids.coefficients->all(), 2);
  for (const std::size_t k : update_.inner.zero_coefficients) clear(grids.coefficients->field(k));
  for (std::size_t k = 0; k < layout_.coefficients && update_.equal_planes; ++k) {
    const std::span<T> values = grids.coefficients->field(k);
    const std::size_t plane = values.size() / shape.front();
    for (std::size_t i = plane; i < values.size(); ++i) values[i] = values[i - plane];
  }
}

template <class T>
void Trials<T>::fill_whole() {
  if (whole_.cells) return;
  fill(whole_, compared_.shape);
  if (!repeated_) return;
  repeated_->repeat(*whole_.cells);
  if (whole_.coefficients) repeated_->repeat(*whole_.coefficients);
}

template <class T>
std::unique_ptr<Running<T>> Trials<T>::start(const Variant<T>& variant, const Grid<T>* coefficients) {
  if (!repeated_) return variant.start(*whole_.cells, coefficients);
  return dynamic_cast<const PackedVariant<T>&>(variant).start_packed(
      repeated_->expand(*whole_.cells), coefficients == nullptr ? PackedCells() : repeated_->expand(*coefficients));
}

template <class T>
double Trials<T>::seconds(const Variant<T>& variant) {
  fill_whole();
  return timed(variant, *start(variant, whole_.coefficients.get()), 1);
}

template <class T>
double Trials<T>::seconds_of(std::size_t entry, const typename planner::Trials<Variant<T>>::Build& build) {
  if (!part_ || !entries_[entry].sample) return seconds(build());
  fill(of_part_, part_->shape);
  const Sample<T> sample = entries_[entry].sample(resolve(update_, *part_));
  return timed(*sample.variant, *sample.variant->start(*of_part_.cells, of_part_.coefficients.get()), sample.scale);
}

template <class T>
double Trials<T>::timed(const Variant<T>& variant, Running<T>& running, double scale) {
  const std::size_t depth = variant.depth();
  const bool queued = !device_.is_host() && !device_.info().shares_host_memory;
  const std::size_t steps =
      queued ? kTrialPasses * depth : std::max(kTrialSweeps * depth, (kTrialSteps + depth - 1) / depth * depth);
  const auto run = [&] {
    running.run(steps);
    running.wait();
  };
  const double factor = scale / static_cast<double>(steps);
  run();  // cold
  const double start = base::now();
  run();
  double seconds = (base::now() - start) * factor;
  if (best_ == 0 || seconds <= kHopeless * best_) seconds = std::min(seconds, base::best_seconds(run, kTrial) * factor);
  best_ = best_ == 0 ? seconds : std::min(best_, seconds);
  return seconds;
}

// Uses the plain reference if it is fast enough, else the variant that the tests compare with it bit by bit. Updates
// that overflow are compared after fewer steps.
template <class T>
void Trials<T>::make_expected() {
  fill_whole();
  if (layout_.coefficients > 0) {
    mild_ = std::make_unique<Grid<T>>(*whole_.coefficients);
    if constexpr (std::is_floating_point_v<T>) {
      for (T& coefficient : mild_->all()) coefficient /= 8;
    }
  }
  const auto base = std::find_if(entries_.begin(), entries_.end(), [](const Entry<T>& entry) {
    return entry.candidate.variant == "base" && entry.candidate.refusal.empty();
  });
  for (steps_ = steps_of_all();; steps_ /= 2) {
    const double updates = static_cast<double>(layout_.cells() * layout_.fields * steps_);
    expected_ = std::make_unique<Grid<T>>(*whole_.cells);
    if (repeated_ || updates <= kPlainUpdates || base == entries_.end()) {
      reference(update_, compared_, *expected_, steps_, mild_.get());
    } else {
      const auto variant = base->build();
      const auto running = variant->start(*whole_.cells, mild_.get());
      running->run(steps_);
      running->read(*expected_);
    }
    if (steps_ == 1 || all_finite(*expected_)) return;
  }
}

// In units of the root mean square of the finite values, as planner::compare; whole numbers must be equal.
template <class T>
planner::Comparison Trials<T>::compared_on_device(Running<T>& running, double allowed) const {
  RepeatedArrays::Difference found;
  dynamic_cast<PackedRunning<T>&>(running).view(
      [&](Queue& queue, const Buffer& packed) { found = repeated_->compare(queue, packed, *expected_); });
  double squares = 0;
  if constexpr (std::is_floating_point_v<T>) {
    for (const T value : expected_->all())
      squares += std::isfinite(value) ? static_cast<double>(value) * static_cast<double>(value) : 0;
  }
  const double size = std::sqrt(squares / static_cast<double>(expected_->all().size()));
  return {found.worst / (size > 0 ? size : 1), allowed, cell_at(layout_, found.place)};
}

template <class T>
planner::Comparison Trials<T>::compare(const Variant<T>& variant) {
  if (!expected_) {
    make_expected();
    if (!repeated_) answer_ = std::make_unique<Grid<T>>(problem_.shape, layout_.fields);
  }
  // Rounding in another order differs by the square root of the number of operations, more in some cells.
  const double allowed = !std::is_floating_point_v<T>
                             ? 0
                             : std::max(8.0, 2.5 * std::sqrt(layout_.flops)) * static_cast<double>(steps_) *
                                   static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto running = start(variant, mild_.get());
  running->run(steps_);
  if (repeated_) return compared_on_device(*running, allowed);
  std::fill(answer_->all().begin(), answer_->all().end(),
            std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(0x55));
  running->read(*answer_);
  if constexpr (std::is_floating_point_v<T>) {
    // If even one step of the reference gives NaN, all variants must agree on it.
    std::vector<T> wanted(expected_->all().begin(), expected_->all().end());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      T& got = answer_->all()[i];
      if (!std::isfinite(wanted[i]) && !std::isfinite(got)) got = wanted[i] = 0;
    }
    return planner::compare(std::span<const T>(answer_->all()), std::span<const T>(wanted), allowed,
                            [&](std::size_t index) { return cell_at(layout_, index); });
  } else {
    return planner::compare_bytes(std::as_bytes(answer_->all()), std::as_bytes(expected_->all()),
                                  [&](std::size_t byte) { return cell_at(layout_, byte / sizeof(T)); });
  }
}

template class Trials<float>;
template class Trials<double>;
template class Trials<std::int32_t>;
template class Trials<std::uint8_t>;

}  // namespace ridge::stencil
