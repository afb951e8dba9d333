// Stencils on grids larger than a device's memory.
#include <ridge/stencil/windows.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/graph.hpp>
#include <ridge/machine.hpp>

#include "base/text.hpp"

namespace ridge::stencil {
namespace {

// Windows on the device at the same time: two uploaded, two computed, and scratch memory of the plan.
constexpr std::size_t kWindowsAtOnce = 8, kBlocks = 2;
constexpr double kUnknownLink = 2e10;  // bytes per second, until `ridge machine` has measured the transfers

template <class T>
void refuse_unsupported(const Device& device, const Update<T>& update) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::invalid_argument, "windows: " + why); };
  if (device.is_host()) refuse("they need a device: a plan on the host uses the grid in place");
  if (update.coefficients != 0)
    refuse(fmt::format("need an update without coefficients, got {}: use plan() and a grid that fits the device",
                       update.coefficients));
  if (!update.layers.empty() || update.free_surface)
    refuse(fmt::format("need an update without absorbing layers and free surface, got {} layers{}: use plan()",
                       update.layers.size(), update.free_surface ? " and a free surface" : ""));
}

}  // namespace

template <class T>
WindowPlan<T>::WindowPlan(const Device& device, const Update<T>& update, const Problem& problem,
                          const WindowOptions& options, const planner::Options& planning)
    : problem_(problem), fields_(update.fields) {
  refuse_unsupported(device, update);
  if (problem.shape.size() != update.dimensions || problem.shape.empty() || problem.shape.size() > 3) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("windows: an update of {} axes needs a shape of as many, got {}", update.dimensions,
                            problem.shape.size()));
  }
  problem_.leap = LeapUse::never;
  radius_ = static_cast<std::size_t>(update.radius[3 - problem.shape.size()]);
  row_ = 1;
  for (std::size_t axis = 1; axis < problem.shape.size(); ++axis) row_ *= problem.shape[axis];
  const std::size_t memory = options.memory != 0 ? options.memory : device.info().limits.memory / 4 * 3;
  const std::size_t row_bytes = std::max<std::size_t>(row_ * fields_ * sizeof(T), 1);
  rows_ = std::min(problem.shape[0], memory / kWindowsAtOnce / row_bytes);
  if (rows_ < problem.shape[0]) {
    if (rows_ < 2 * radius_ + 1) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("windows: {} on {} hold {} rows of {}, and one step needs {}: allow at least {}",
                              base::human_bytes(static_cast<double>(memory)), device.id(), rows_,
                              base::human_bytes(static_cast<double>(row_bytes)), 2 * radius_ + 1,
                              base::human_bytes(static_cast<double>((2 * radius_ + 1) * row_bytes * kWindowsAtOnce))));
    }
    const std::size_t most = radius_ == 0 ? SIZE_MAX : (rows_ - 1) / (2 * radius_);
    if (options.steps > most) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("windows: {} steps per transfer need more than {} rows of memory: at most {}",
                              options.steps, rows_, most));
    }
    steps_ = options.steps;
    if (steps_ == 0) choose_steps(device, row_bytes);
  }
  Problem window = problem_;
  window.shape[0] = rows_;
  plan_.emplace(device, update, window, planning);
}

// Least time per useful row and step, if transfers and kernels overlap.
template <class T>
void WindowPlan<T>::choose_steps(const Device& device, std::size_t row_bytes) {
  const machine::Ceilings known = machine::ceilings(device);
  const double measured = std::min(known.transfers.upload_pinned, known.transfers.download_pinned);
  const double bytes = static_cast<double>(row_bytes), link = measured > 0 ? measured : kUnknownLink;
  const double transfer = bytes / link, step = 2 * bytes / known.memory().all.copy;
  constexpr std::size_t kMostSteps = 1000;
  double best = 0;
  for (std::size_t k = 1; k <= kMostSteps && 2 * radius_ * k < rows_; ++k) {
    const double useful = static_cast<double>(rows_ - 2 * radius_ * k) * static_cast<double>(k);
    const double seconds = static_cast<double>(rows_) * std::max(transfer, static_cast<double>(k) * step) / useful;
    if (steps_ == 0 || seconds < best) best = seconds, steps_ = k;
  }
}

template <class T>
std::vector<typename WindowPlan<T>::Window> WindowPlan<T>::windows(std::size_t steps) const {
  const std::size_t all = problem_.shape[0], halo = radius_ * steps;
  if (rows_ == all) return {{0, 0, all}};
  std::vector<Window> list;
  if (problem_.borders.low[0] == Border::periodic) {
    for (std::size_t row = 0; row < all; row += rows_ - 2 * halo) {
      const std::size_t kept = std::min(rows_ - 2 * halo, all - row);
      list.push_back({(row + all - halo % all) % all, halo, halo + kept});
    }
    return list;
  }
  for (std::size_t row = 0; row < all;) {  // the first row that is not in an earlier window
    const std::size_t first = std::min(row < halo ? 0 : row - halo, all - rows_);
    const std::size_t end = first + rows_ == all ? rows_ : rows_ - halo;
    list.push_back({first, row - first, end});
    row = first + end;
  }
  return list;
}

template <class T>
void WindowPlan<T>::pass(const Grid<T>& from, Grid<T>& to, std::size_t steps) const {
  const std::vector<Window> list = windows(steps);
  const std::size_t all = problem_.shape[0], field = rows_ * row_, bytes = field * fields_ * sizeof(T);
  graph::Graph graph;
  const auto rows = graph.stage("rows", {}, {.bytes = bytes, .blocks = kBlocks}, [&](graph::Step& step) -> std::size_t {
    if (step.number == list.size()) return 0;
    T* const cells = reinterpret_cast<T*>(step.out->bytes.data());
    for (std::size_t f = 0; f < fields_; ++f) {
      const T* const source = from.data() + f * all * row_;
      for (std::size_t done = 0, row = list[step.number].first; done < rows_; row = 0) {
        const std::size_t count = std::min(rows_ - done, all - row);
        std::memcpy(cells + f * field + done * row_, source + row * row_, count * row_ * sizeof(T));
        done += count;
      }
    }
    return bytes;
  });
  const auto after = graph.stage("steps", {rows}, {.bytes = bytes, .blocks = kBlocks, .devices = {plan_->device()}},
                                 [&](graph::Step& step) -> std::size_t {
                                   plan_->enqueue(*step.queue, step.in[0]->buffer, step.out->buffer, steps);
                                   return bytes;
                                 });
  graph.stage("store", {after}, {}, [&](graph::Step& step) -> std::size_t {
    const Window& window = list[step.number];
    const T* const cells = step.in[0]->template host<T>().data();
    const std::size_t count = window.end - window.begin, row = (window.first + window.begin) % all;
    for (std::size_t f = 0; f < fields_; ++f)
      std::memcpy(to.data() + (f * all + row) * row_, cells + f * field + window.begin * row_,
                  count * row_ * sizeof(T));
    return 1;
  });
  graph.run();
}

template <class T>
void WindowPlan<T>::run(Grid<T>& grid, std::size_t steps) const {
  if (grid.shape() != problem_.shape || grid.fields() != fields_)
    throw Error(ErrorKind::invalid_argument,
                fmt::format("windows: the plan needs {} cells and {} fields, the grid has {} and {}",
                            fmt::join(problem_.shape, "x"), fields_, fmt::join(grid.shape(), "x"), grid.fields()));
  if (!grid.packed()) throw Error(ErrorKind::invalid_argument, "windows: needs packed cells; copy the grid");
  if (grid.cells() == 0 || steps == 0) return;
  if (rows_ == problem_.shape[0]) return plan_->run(grid, steps);
  Grid<T> other(problem_.shape, fields_);
  Grid<T>*from = &grid, *to = &other;
  for (std::size_t done = 0; done < steps;) {
    const std::size_t now = std::min(steps_, steps - done);
    pass(*from, *to, now);
    std::swap(from, to);
    done += now;
  }
  if (from != &grid) grid.copy(*from);
}

template <class T>
std::string WindowPlan<T>::explain() const {
  const std::string how =
      rows_ == problem_.shape[0]
          ? "the whole grid fits\n"
          : fmt::format("windows of {} of {} rows, {} steps per transfer, {} of {} rows computed twice\n", rows_,
                        problem_.shape[0], steps_, 2 * radius_ * steps_, rows_);
  return how + plan_->explain();
}

template class WindowPlan<float>;
template class WindowPlan<double>;
template class WindowPlan<std::int32_t>;
template class WindowPlan<std::uint8_t>;

}  // namespace ridge::stencil
