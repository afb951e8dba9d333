// The normal operator of type 2: (A* W A f)[k'] = sum_k t[k' - k] f[k] with t[m] = sum_j w[j] exp(-i sign m . x[j]), a
// type 1 of twice as many modes, and one circular convolution without overlap.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "fft/host/prime/numbers.hpp"
#include "nufft/layout.hpp"
#include "plan/arguments.hpp"

namespace ridge::nufft {

template <class T>
struct Normal<T>::State {
  Layout layout;
  std::array<std::size_t, 3> cells{1, 1, 1};  // of the padded grid
  std::shared_ptr<const fft::Plan<T>> transform{};
  std::vector<Complex> spectrum{};  // of t, scaled
  mutable std::mutex busy{};
  mutable base::AlignedArray<Complex> grid{};

  // Calls use(offset of a row of modes, offset of its padded row): the rows' order in memory is the caller's.
  template <class Use>
  void for_rows(const Use& use) const {
    const auto& n = layout.modes;
    for (std::size_t i0 = 0; i0 < n[0]; ++i0) {
      for (std::size_t i1 = 0; i1 < n[1]; ++i1) {
        const std::size_t row = stored_at(layout.order, n[0], i0) * n[1] + stored_at(layout.order, n[1], i1);
        use(row * n[2], (i0 * cells[1] + i1) * cells[2]);
      }
    }
  }
};

namespace {

template <class T>
std::vector<std::complex<T>> difference_modes(const Problem& problem, const std::vector<std::span<const T>>& points,
                                              std::span<const T> weights) {
  Problem twice{.type = Type::to_modes,
                .points = points[0].size(),
                .epsilon = problem.epsilon,
                .sign = -problem.sign,
                .fold = problem.fold,
                .upsampling = problem.upsampling,
                .threads = problem.threads};
  std::size_t count = 1;
  for (const std::size_t n : problem.modes) {
    twice.modes.push_back(2 * n - 1);
    count *= 2 * n - 1;
  }
  std::vector<std::complex<T>> strengths(points[0].size(), std::complex<T>(1)), modes(count);
  std::copy(weights.begin(), weights.end(), strengths.begin());
  auto nufft = plan<T>(host(), twice);
  const auto axis = [&](std::size_t i) { return i < points.size() ? points[i] : std::span<const T>(); };
  nufft.set_points(axis(0), axis(1), axis(2));
  nufft.run(strengths, modes);
  return modes;
}

}  // namespace

template <class T>
Normal<T>::Normal(const Problem& problem, const std::vector<std::span<const T>>& points, std::span<const T> weights) {
  auto state = std::make_shared<State>();
  state->layout = resolve<T>(problem);
  const Layout& layout = state->layout;
  if (points.size() != layout.axes || (!weights.empty() && weights.size() != points[0].size())) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("nufft: the normal operator needs {} arrays of coordinates and no weights or one per point, "
                    "got {} arrays and {} weights",
                    layout.axes, points.size(), weights.size()));
  }
  const std::vector<Complex> modes = difference_modes<T>(problem, points, weights);
  auto& cells = state->cells;
  fft::Problem grid{.in_place = true, .threads = layout.threads};
  for (std::size_t i = layout.first_axis(); i < 3; ++i) {
    cells[i] = fft::prime::smooth_length(2 * layout.modes[i] - 1);
    grid.shape.push_back(cells[i]);
  }
  const std::size_t count = cells[0] * cells[1] * cells[2];
  state->transform = std::make_shared<const fft::Plan<T>>(host(), grid, planner::Options{.effort = Effort::quick});
  state->spectrum.assign(count, Complex{});
  state->grid = base::AlignedArray<Complex>(count);
  const auto place = [&](std::size_t i, std::size_t at) {  // cell of difference at - (n - 1)
    const std::size_t n = layout.modes[i];
    return at + 1 >= n ? at + 1 - n : cells[i] + at + 1 - n;
  };
  const T scale = T(1) / static_cast<T>(count);
  const Complex* from = modes.data();
  for (std::size_t a = 0; a + 1 < 2 * layout.modes[0]; ++a) {
    for (std::size_t b = 0; b + 1 < 2 * layout.modes[1]; ++b) {
      for (std::size_t c = 0; c + 1 < 2 * layout.modes[2]; ++c) {
        state->spectrum[(place(0, a) * cells[1] + place(1, b)) * cells[2] + place(2, c)] = *from++ * scale;
      }
    }
  }
  state->transform->forward(std::span(state->spectrum));
  state_ = std::move(state);
}

template <class T>
void Normal<T>::run(std::span<const Complex> in, std::span<Complex> out) const {
  const State& state = *state_;
  const Layout& layout = state.layout;
  const std::size_t bytes = layout.mode_count() * sizeof(Complex), n = layout.modes[2];
  planner::check_length("nufft", "input", in.size_bytes(), bytes);
  planner::check_length("nufft", "output", out.size_bytes(), bytes);
  std::lock_guard lock(state.busy);
  std::fill(state.grid.begin(), state.grid.end(), Complex{});
  state.for_rows([&](std::size_t row, std::size_t to) {
    for (std::size_t i = 0; i < n; ++i) state.grid[to + i] = in[row + stored_at(layout.order, n, i)];
  });
  state.transform->forward(state.grid.span());
  for (std::size_t i = 0; i < state.grid.size(); ++i) {
    const Complex a = state.grid[i], b = state.spectrum[i];
    state.grid[i] = {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  state.transform->inverse(state.grid.span());
  state.for_rows([&](std::size_t row, std::size_t from) {
    for (std::size_t i = 0; i < n; ++i) out[row + stored_at(layout.order, n, i)] = state.grid[from + i];
  });
}

template class Normal<float>;
template class Normal<double>;

}  // namespace ridge::nufft
