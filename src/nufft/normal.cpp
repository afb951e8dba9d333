// The normal operator of type 2: (A* W A f)[k'] = sum_k t[k' - k] f[k] with t[m] = sum_j w[j] exp(-i sign m . x[j]), a
// type 1 of twice as many modes, and one circular convolution without overlap.
#include <algorithm>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/fft/box_filter.hpp>

#include "base/aligned.hpp"
#include "device/kernel_text.hpp"
#include "device/staging.hpp"
#include "fft/host/prime/numbers.hpp"
#include "nufft/layout.hpp"
#include "plan/arguments.hpp"

namespace ridge::nufft {

template <class T>
struct Normal<T>::State {
  State(const Device& on, const Layout& given) : device(on), layout(given) {}

  Device device;
  Layout layout;
  std::optional<fft::BoxFilter<T>> filter{};  // of modes in ascending order, on the padded grid
  mutable std::mutex busy{};
  mutable base::AlignedArray<Complex> ascending{}, filtered{};  // host
  // Devices.
  std::optional<Staging> staging{};
  ridge::Kernel reorder{};
  Buffer device_ascending{}, device_filtered{};

  void run_on_host(std::span<const Complex> in, std::span<Complex> out) const;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;
};

namespace {

constexpr std::size_t kNormalGroup = 256;  // as in src/nufft/device/normal.cl

Launch per_value(std::size_t count) {
  return {.groups = {(count + kNormalGroup - 1) / kNormalGroup}, .items = {kNormalGroup}};
}

KernelSource normal_source(bool float64) {
  return {.name = "nufft_normal",
          .text = ridge::detail::kernel_text("nufft/normal"),
          .defines = {{"NUMBER2", float64 ? "double2" : "float2"}}};
}

// Modes in the order of transforms: calls use(position, position by ascending frequencies, count) for each run.
template <class Use>
void for_ascending(const Layout& layout, const Use& use) {
  const auto& n = layout.modes;
  const std::size_t negative = n[2] / 2;
  for (std::size_t i0 = 0; i0 < n[0]; ++i0) {
    for (std::size_t i1 = 0; i1 < n[1]; ++i1) {
      const std::size_t at = (i0 * n[1] + i1) * n[2];
      const std::size_t row = (stored_at(Order::fft, n[0], i0) * n[1] + stored_at(Order::fft, n[1], i1)) * n[2];
      use(row + n[2] - negative, at, negative);
      use(row, at + negative, n[2] - negative);
    }
  }
}

// The problem of t: type 1 of all differences of modes.
Problem difference_problem(const Problem& problem, std::size_t points) {
  Problem twice{.type = Type::to_modes,
                .points = points,
                .epsilon = problem.epsilon,
                .sign = -problem.sign,
                .fold = problem.fold,
                .upsampling = problem.upsampling,
                .threads = problem.threads};
  for (const std::size_t n : problem.modes) twice.modes.push_back(2 * n - 1);
  return twice;
}

// Transform of the padded grid from `counts` modes per axis, the first of which is `before` cells before cell 0.
fft::Problem padded_problem(const Layout& layout, const std::vector<std::size_t>& counts,
                            const std::vector<std::size_t>& before) {
  fft::Problem problem{.threads = layout.threads};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t cells = fft::prime::smooth_length(2 * layout.modes[layout.first_axis() + i] - 1);
    problem.shape.push_back(cells);
    problem.given.first.push_back((cells - before[i]) % cells);
    problem.given.count.push_back(counts[i]);
  }
  return problem;
}

}  // namespace

template <class T>
Normal<T>::Normal(const Device& device, const Problem& problem, const std::vector<std::span<const T>>& points,
                  std::span<const T> weights) {
  const Layout layout = resolve<T>(problem);
  if (points.size() != layout.axes || (!weights.empty() && weights.size() != points[0].size())) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("nufft: the normal operator needs {} arrays of coordinates and no weights or one per point, "
                    "got {} arrays and {} weights",
                    layout.axes, points.size(), weights.size()));
  }
  const Problem twice = difference_problem(problem, points[0].size());
  std::vector<std::size_t> before;
  for (const std::size_t n : problem.modes) before.push_back(n - 1);
  auto state = std::make_shared<State>(device, layout);
  std::vector<Complex> strengths(points[0].size(), Complex(1));
  std::copy(weights.begin(), weights.end(), strengths.begin());
  std::size_t differences = 1, cells = 1;
  for (const std::size_t n : twice.modes) differences *= n;
  auto nufft = plan<T>(device, twice);
  const auto axis = [&](std::size_t i) { return i < points.size() ? points[i] : std::span<const T>(); };
  nufft.set_points(axis(0), axis(1), axis(2));
  const planner::Options quick{.effort = Effort::quick};
  const fft::Plan<T> to_spectrum(device, padded_problem(layout, twice.modes, before), quick);
  const fft::BoxFilterProblem filter{
      .shape = to_spectrum.problem().shape, .box = {.count = problem.modes}, .threads = problem.threads};
  for (const std::size_t n : filter.shape) cells *= n;
  const bool shifted = layout.order == Order::fft;
  if (device.is_host()) {
    std::vector<Complex> modes(differences), spectrum(cells);
    nufft.run(strengths, modes);
    to_spectrum.forward(modes, std::span(spectrum));
    state->filter.emplace(device, filter, spectrum, quick);
    if (shifted) state->ascending = base::AlignedArray<Complex>(layout.mode_count());
    if (shifted) state->filtered = base::AlignedArray<Complex>(layout.mode_count());
  } else {
    const auto buffer = [&](std::size_t count, const char* name) {
      return device.buffer(std::max<std::size_t>(1, count) * sizeof(Complex), {.name = name});
    };
    const Buffer in = buffer(strengths.size(), "nufft weights"), modes = buffer(differences, "nufft differences"),
                 spectrum = buffer(cells, "nufft spectrum of the normal operator");
    Queue queue = device.queue();
    if (!strengths.empty()) queue.upload(strengths.data(), in, strengths.size() * sizeof(Complex));
    nufft.enqueue(queue, in, modes);
    to_spectrum.enqueue_forward(queue, modes, spectrum);
    state->filter.emplace(queue, filter, spectrum, quick);
    state->staging.emplace(device, "nufft normal operator");
    if (shifted) {
      state->reorder = device.compile(normal_source(sizeof(T) == 8)).kernel("reorder_modes");
      state->device_ascending = buffer(layout.mode_count(), "nufft ascending modes");
      state->device_filtered = buffer(layout.mode_count(), "nufft filtered modes");
    }
  }
  state_ = std::move(state);
}

template <class T>
void Normal<T>::State::run_on_host(std::span<const Complex> in, std::span<Complex> out) const {
  if (layout.order != Order::fft) return filter->run(in, out);
  const std::lock_guard lock(busy);
  for_ascending(layout, [&](std::size_t stored, std::size_t at, std::size_t count) {
    std::copy_n(in.data() + stored, count, ascending.data() + at);
  });
  filter->run(ascending.span(), filtered.span());
  for_ascending(layout, [&](std::size_t stored, std::size_t at, std::size_t count) {
    std::copy_n(filtered.data() + at, count, out.data() + stored);
  });
}

template <class T>
void Normal<T>::State::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  if (layout.order != Order::fft) return filter->enqueue(queue, in, out);
  const auto reordered = [&](const Buffer& from, const Buffer& to, std::int32_t ascending_first) {
    const auto n = [&](std::size_t i) { return static_cast<std::int32_t>(layout.modes[i]); };
    queue.launch(reorder, per_value(layout.mode_count()),
                 {from, to, static_cast<std::uint64_t>(layout.mode_count()), n(0), n(1), n(2), ascending_first});
  };
  reordered(in, device_ascending, 1);
  filter->enqueue(queue, device_ascending, device_filtered);
  reordered(device_filtered, out, 0);
}

template <class T>
void Normal<T>::run(std::span<const Complex> in, std::span<Complex> out) const {
  const std::size_t bytes = state_->layout.mode_count() * sizeof(Complex);
  planner::check_length("nufft", "input", in.size_bytes(), bytes);
  planner::check_length("nufft", "output", out.size_bytes(), bytes);
  if (state_->device.is_host()) {
    return state_->run_on_host(in.first(state_->layout.mode_count()), out.first(state_->layout.mode_count()));
  }
  state_->staging->run({.in = in.data(), .in_bytes = bytes, .out = out.data(), .out_bytes = bytes},
                       [&](Queue& queue, const Buffer& from, const Buffer& to) { state_->enqueue(queue, from, to); });
}

template <class T>
void Normal<T>::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  if (state_->device.is_host()) {
    throw Error(ErrorKind::invalid_argument,
                "nufft: enqueue() of the normal operator needs a device, got host: use run()");
  }
  const std::size_t bytes = state_->layout.mode_count() * sizeof(Complex);
  planner::check_queue("nufft", queue, state_->device);
  planner::check_buffer("nufft", "input", in, state_->device, bytes, sizeof(Complex));
  planner::check_buffer("nufft", "output", out, state_->device, bytes, sizeof(Complex));
  state_->enqueue(queue, in, out);
}

template class Normal<float>;
template class Normal<double>;

}  // namespace ridge::nufft
