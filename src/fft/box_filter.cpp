// Filters of boxes: on the host, and on devices whose work-groups cannot hold a line, by a plan's two transforms around
// a product; else by DeviceBoxFilter.
#include <ridge/fft/box_filter.hpp>

#include <algorithm>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "device/kernel_text.hpp"
#include "device/staging.hpp"
#include "fft/device/boxes/box_filter.hpp"
#include "fft/layout.hpp"
#include "plan/arguments.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kProductItems = 256;  // as in src/fft/device/boxes/product.cl

Problem box_problem(const BoxFilterProblem& problem) {
  Problem whole{.shape = problem.shape, .threads = problem.threads, .given = problem.box};
  for (const std::size_t n : problem.shape) whole.scale_inverse /= static_cast<double>(n);
  return whole;
}

KernelSource product_source(bool float64) {
  return {.name = "fft_product",
          .text = ridge::detail::kernel_text("fft/product"),
          .defines = {{"NUMBER2", float64 ? "double2" : "float2"},
                      {"MAKE2(x, y)", float64 ? "make_double2((x), (y))" : "make_float2((x), (y))"}}};
}

}  // namespace

template <class T>
struct BoxFilter<T>::State {
  State(const Device& on, const BoxFilterProblem& given)
      : device(on), problem(box_problem(given)), layout(resolve(problem)) {
    points = layout.spectrum.points();
    box = layout.samples.points();
  }
  void build(Queue& queue, const Buffer& spectrum, const planner::Options& options);
  void run_on_host(std::span<const Complex> in, std::span<Complex> out) const;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;

  Device device;
  Problem problem;
  Layout layout;
  std::size_t points = 0, box = 0;
  std::optional<Plan<T>> plan{};  // without `filter`
  std::string refusal{};
  mutable std::mutex busy{};
  base::AlignedArray<Complex> spectrum{};  // host
  mutable base::AlignedArray<Complex> grid{};
  std::unique_ptr<const on_device::DeviceBoxFilter> filter{};
  std::optional<Staging> staging{};
  ridge::Kernel multiply{};
  Buffer device_spectrum{}, device_grid{};
};

template <class T>
void BoxFilter<T>::State::build(Queue& queue, const Buffer& values, const planner::Options& options) {
  staging.emplace(device, "fft filter");
  device_spectrum = device.buffer(points * sizeof(Complex), {.name = "fft spectrum of a filter"});
  queue.copy(values, device_spectrum, points * sizeof(Complex));
  queue.finish();
  filter = on_device::DeviceBoxFilter::make(device, layout, device_spectrum, sizeof(T) == 8, options, refusal);
  if (filter) return;
  plan.emplace(device, problem, options);
  multiply = device.compile(product_source(sizeof(T) == 8)).kernel("multiply_spectra");
  device_grid = device.buffer(points * sizeof(Complex), {.name = "fft filtered grid"});
}

template <class T>
BoxFilter<T>::BoxFilter(const Device& device, const BoxFilterProblem& problem, std::span<const Complex> spectrum,
                        const planner::Options& options) {
  auto state = std::make_shared<State>(device, problem);
  planner::check_length("fft", "spectrum", spectrum.size_bytes(), state->points * sizeof(Complex));
  if (device.is_host()) {
    state->plan.emplace(device, state->problem, options);
    state->spectrum = base::AlignedArray<Complex>(state->points);
    state->grid = base::AlignedArray<Complex>(state->points);
    std::copy(spectrum.begin(), spectrum.end(), state->spectrum.begin());
  } else {
    Queue queue = device.queue();
    const Buffer values = device.buffer(spectrum.size_bytes(), {.name = "fft spectrum"});
    queue.upload(spectrum.data(), values, spectrum.size_bytes());
    state->build(queue, values, options);
  }
  state_ = std::move(state);
}

template <class T>
BoxFilter<T>::BoxFilter(Queue& queue, const BoxFilterProblem& problem, const Buffer& spectrum,
                        const planner::Options& options) {
  auto state = std::make_shared<State>(queue.device(), problem);
  planner::check_buffer("fft", "spectrum", spectrum, state->device, state->points * sizeof(Complex));
  state->build(queue, spectrum, options);
  state_ = std::move(state);
}

template <class T>
void BoxFilter<T>::State::run_on_host(std::span<const Complex> in, std::span<Complex> out) const {
  const std::lock_guard lock(busy);
  plan->forward(in, grid.span());
  for (std::size_t i = 0; i < points; ++i) {
    const Complex a = grid[i], b = spectrum[i];
    grid[i] = {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  plan->inverse(grid.span(), out);
}

template <class T>
void BoxFilter<T>::State::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  if (filter) return filter->enqueue(queue, in, out);
  plan->enqueue_forward(queue, in, device_grid);
  queue.launch(multiply, {.groups = {(points + kProductItems - 1) / kProductItems}, .items = {kProductItems}},
               {device_grid, device_spectrum, static_cast<std::uint64_t>(points)});
  plan->enqueue_inverse(queue, device_grid, out);
}

template <class T>
void BoxFilter<T>::run(std::span<const Complex> in, std::span<Complex> out) const {
  const State& state = *state_;
  const std::size_t bytes = state.box * sizeof(Complex);
  planner::check_length("fft", "input", in.size_bytes(), bytes);
  planner::check_length("fft", "output", out.size_bytes(), bytes);
  if (state.device.is_host()) return state.run_on_host(in.first(state.box), out.first(state.box));
  state.staging->run({.in = in.data(), .in_bytes = bytes, .out = out.data(), .out_bytes = bytes},
                     [&](Queue& queue, const Buffer& from, const Buffer& to) { state.enqueue(queue, from, to); });
}

template <class T>
void BoxFilter<T>::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  const State& state = *state_;
  if (state.device.is_host()) {
    throw Error(ErrorKind::invalid_argument, "fft: enqueue() of a filter needs a device, got host: use run()");
  }
  const std::size_t bytes = state.box * sizeof(Complex);
  planner::check_queue("fft", queue, state.device);
  planner::check_buffer("fft", "input", in, state.device, bytes);
  planner::check_buffer("fft", "output", out, state.device, bytes);
  state.enqueue(queue, in, out);
}

template <class T>
const Device& BoxFilter<T>::device() const {
  return state_->device;
}

template <class T>
std::size_t BoxFilter<T>::size() const {
  return state_->box;
}

template <class T>
std::string BoxFilter<T>::explain() const {
  const State& state = *state_;
  if (state.filter) return fmt::format("fft filter on {}\n{}", state.device.id(), state.filter->explain());
  return state.plan->explain() + (state.refusal.empty() ? "" : fmt::format("  not in one kernel: {}\n", state.refusal));
}

template class BoxFilter<float>;
template class BoxFilter<double>;

}  // namespace ridge::fft
