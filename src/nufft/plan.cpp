// Public plan of the nonuniform transform: chooses a variant, sorts points, checks arguments and runs it.
#include <cmath>

#include <fmt/format.h>

#include "nufft/trials.hpp"
#include "nufft/variant.hpp"
#include "plan/arguments.hpp"

namespace ridge::nufft {

template <class T>
struct PlanState {
  Device device;
  Problem problem;
  Layout layout;
  std::vector<planner::Decision> decisions{};
  std::vector<KernelSource> kernels{};
  std::shared_ptr<const Variant<T>> variant{};
  double flops = 0;
};

namespace {

constexpr const char* kWorkload = "nufft";
constexpr const char* kNoRealSlopes = "slopes() needs complex values: plan without Problem::real";

[[noreturn]] void refuse_call(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "nufft: " + message);
}

planner::Problem describe(const Layout& layout, double flops) {
  const double points = static_cast<double>(layout.points), sets = static_cast<double>(layout.batch);
  const double each = static_cast<double>(layout.complex_bytes());
  return {.workload = kWorkload,
          .key = layout.key() + fmt::format(" threads {}", layout.threads),
          .flops = flops,
          .bytes = points * static_cast<double>(layout.axes) * each / 2 +
                   sets * each * (points + static_cast<double>(layout.mode_count()))};
}

// Least work among the allowed variants: the useful work, independent of the choice.
template <class T>
double least_flops(const std::vector<Entry<T>>& entries) {
  double least = 0;
  for (const Entry<T>& entry : entries) {
    if (!entry.candidate.refusal.empty()) continue;
    least = least == 0 ? entry.candidate.cost.flops : std::min(least, entry.candidate.cost.flops);
  }
  return least;
}

std::size_t sets_of(const Layout& layout, bool modes, std::size_t points) {
  return layout.batch * (modes ? layout.mode_count() : points);
}

template <class T>
void run_type(const PlanState<T>& state, const PointSet& points, Type type, int sign, const std::complex<T>* in,
              std::complex<T>* out) {
  if (type == Type::to_modes) {
    state.variant->to_modes(points, sign, in, out);
  } else {
    state.variant->to_points(points, sign, in, out);
  }
}

// Checks the caller's arrays. Variants take arrays of reals as pointers to complex numbers.
template <class T, class In, class Out>
void run_checked(const PlanState<T>& state, const PointSet* points, Type type, int sign, std::span<const In> in,
                 std::span<Out> out) {
  if (points == nullptr) refuse_call("run() needs points: call set_points() first");
  const bool to_modes = type == Type::to_modes, real = std::is_same_v<In, T> || std::is_same_v<Out, T>;
  if (real != state.layout.real) {
    refuse_call(real ? "run_real() and adjoint_real() need a plan with Problem::real"
                     : "this plan has real strengths and values: call run_real() or adjoint_real()");
  }
  if (real && to_modes != std::is_same_v<In, T>) {
    refuse_call(to_modes ? "this call needs real strengths and complex modes"
                         : "this call needs complex modes and real values");
  }
  const std::size_t from = sizeof(In) * sets_of(state.layout, !to_modes, points->count());
  const std::size_t to = sizeof(Out) * sets_of(state.layout, to_modes, points->count());
  if (from != 0) planner::check_length(kWorkload, to_modes ? "strengths" : "modes", in.size_bytes(), from);
  if (to != 0) planner::check_length(kWorkload, to_modes ? "modes" : "values", out.size_bytes(), to);
  if (from != 0 && to != 0) planner::check_apart(kWorkload, in.data(), from, out.data(), to, false);
  run_type(state, *points, type, sign, reinterpret_cast<const std::complex<T>*>(in.data()),
           reinterpret_cast<std::complex<T>*>(out.data()));
}

template <class T>
void enqueue_checked(const PlanState<T>& state, const PointSet* points, Type type, int sign, Queue& queue,
                     const Buffer& in, const Buffer& out) {
  if (points == nullptr) refuse_call("enqueue() needs points: call set_points() first");
  const bool to_modes = type == Type::to_modes;
  planner::check_queue(kWorkload, queue, state.device);
  const std::size_t mode = sizeof(std::complex<T>), value = sizeof(T) * state.layout.parts();
  const std::size_t modes = mode * sets_of(state.layout, true, 0);
  const std::size_t values = value * sets_of(state.layout, false, points->count());
  planner::check_buffer(kWorkload, "input", in, state.device, to_modes ? values : modes, to_modes ? value : mode);
  planner::check_buffer(kWorkload, "output", out, state.device, to_modes ? modes : values, to_modes ? mode : value);
  planner::check_apart(kWorkload, in, out, false);
  state.variant->enqueue(queue, *points, type, sign, in, out);
}

Type other(Type type) { return type == Type::to_modes ? Type::to_points : Type::to_modes; }

}  // namespace

template <class T>
planner::Chosen<Variant<T>> choose_variant(const Device& device, const Layout& layout,
                                           const std::vector<Entry<T>>& entries, const planner::Options& options) {
  Trials<T> trials(device, layout);
  return planner::choose(device, describe(layout, least_flops(entries)), entries, options, trials, planner::Keep::last);
}

template <class T>
Plan<T>::Plan(const Device& device, const Problem& problem, const planner::Options& options) {
  auto state = std::make_shared<PlanState<T>>(PlanState<T>{device, problem, resolve<T>(problem)});
  const std::vector<Entry<T>> entries = list_variants<T>(device, state->layout, options);
  state->flops = least_flops(entries);
  auto chosen = choose_variant<T>(device, state->layout, entries, options);
  state->kernels = planner::kernels_of(entries[chosen.decision.winner]);
  state->variant = std::move(chosen.winner);
  state->decisions.push_back(std::move(chosen.decision));
  for (planner::Decision& part : state->variant->decisions()) state->decisions.push_back(std::move(part));
  state_ = std::move(state);
}

template <class T>
void Plan<T>::set_points(std::span<const T> x, std::span<const T> y, std::span<const T> z) {
  const std::span<const T> spans[] = {x, y, z};
  Coordinates<T> points{.axis = {}, .count = x.size()};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t needed = i < state_->layout.axes ? x.size() : 0;
    if (spans[i].size() != needed) {
      refuse_call(fmt::format("set_points() needs {} coordinates {} for {} axes and {} coordinates x, got {}", needed,
                              "xyz"[i], state_ -> layout.axes, x.size(), spans[i].size()));
    }
    points.axis[i] = spans[i].data();
  }
  points_ = state_->variant->sort(points);
}

template <class T>
void Plan<T>::set_points(Queue& queue, std::size_t count, const std::vector<Buffer>& axes) {
  if (axes.size() != state_->layout.axes) {
    refuse_call(fmt::format("set_points() needs {} buffers of coordinates, got {}", state_->layout.axes, axes.size()));
  }
  if (count >= std::size_t{1} << 32)
    refuse_call(fmt::format("set_points() needs fewer than 2^32 points, got {}", count));
  planner::check_queue(kWorkload, queue, state_->device);
  std::array<Buffer, 3> given;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    planner::check_buffer(kWorkload, "coordinates", axes[i], state_->device, count * sizeof(T), sizeof(T));
    given[i] = axes[i];
  }
  points_ = state_->variant->sort(queue, given, count);
}

template <class T>
std::size_t Plan<T>::points() const {
  return points_ ? points_->count() : 0;
}

template <class T>
void Plan<T>::run(std::span<const Complex> in, std::span<Complex> out) const {
  run_checked<T>(*state_, points_.get(), state_->layout.type, state_->layout.sign, in, out);
}
template <class T>
void Plan<T>::run_real(std::span<const T> strengths, std::span<Complex> modes) const {
  run_checked<T>(*state_, points_.get(), state_->layout.type, state_->layout.sign, strengths, modes);
}
template <class T>
void Plan<T>::run_real(std::span<const Complex> modes, std::span<T> values) const {
  run_checked<T>(*state_, points_.get(), state_->layout.type, state_->layout.sign, modes, values);
}
template <class T>
void Plan<T>::adjoint_real(std::span<const Complex> modes, std::span<T> values) const {
  run_checked<T>(*state_, points_.get(), other(state_->layout.type), -state_->layout.sign, modes, values);
}
template <class T>
void Plan<T>::adjoint_real(std::span<const T> strengths, std::span<Complex> modes) const {
  run_checked<T>(*state_, points_.get(), other(state_->layout.type), -state_->layout.sign, strengths, modes);
}

template <class T>
void Plan<T>::adjoint(std::span<const Complex> in, std::span<Complex> out) const {
  run_checked<T>(*state_, points_.get(), other(state_->layout.type), -state_->layout.sign, in, out);
}

template <class T>
void Plan<T>::slopes(std::span<const Complex> modes, std::span<Complex> values, std::span<Complex> slopes) const {
  if (!points_) refuse_call("slopes() needs points: call set_points() first");
  if (state_->layout.real) refuse_call(kNoRealSlopes);
  const Layout& layout = state_->layout;
  const std::size_t from = sizeof(Complex) * sets_of(layout, true, 0);
  const std::size_t to = sizeof(Complex) * sets_of(layout, false, points_->count());
  if (to == 0) return;
  planner::check_length(kWorkload, "modes", modes.size_bytes(), from);
  planner::check_length(kWorkload, "values", values.size_bytes(), to);
  planner::check_length(kWorkload, "slopes", slopes.size_bytes(), layout.axes * to);
  planner::check_apart(kWorkload, modes.data(), from, values.data(), to, false);
  planner::check_apart(kWorkload, modes.data(), from, slopes.data(), layout.axes * to, false);
  planner::check_apart(kWorkload, values.data(), to, slopes.data(), layout.axes * to, false);
  const int sign = layout.type == Type::to_points ? layout.sign : -layout.sign;
  state_->variant->slopes(*points_, sign, modes.data(), values.data(), slopes.data());
}

template <class T>
void Plan<T>::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  enqueue_checked<T>(*state_, points_.get(), state_->layout.type, state_->layout.sign, queue, in, out);
}
template <class T>
void Plan<T>::enqueue_adjoint(Queue& queue, const Buffer& in, const Buffer& out) const {
  enqueue_checked<T>(*state_, points_.get(), other(state_->layout.type), -state_->layout.sign, queue, in, out);
}

template <class T>
void Plan<T>::enqueue_slopes(Queue& queue, const Buffer& modes, const Buffer& values) const {
  if (!points_) refuse_call("enqueue_slopes() needs points: call set_points() first");
  if (state_->layout.real) refuse_call(kNoRealSlopes);
  const Layout& layout = state_->layout;
  const std::size_t each = sizeof(Complex) * sets_of(layout, false, points_->count());
  if (each == 0) return;
  planner::check_queue(kWorkload, queue, state_->device);
  planner::check_buffer(kWorkload, "modes", modes, state_->device, sizeof(Complex) * sets_of(layout, true, 0),
                        sizeof(Complex));
  planner::check_buffer(kWorkload, "values", values, state_->device, (1 + layout.axes) * each, sizeof(Complex));
  planner::check_apart(kWorkload, modes, values, false);
  const int sign = layout.type == Type::to_points ? layout.sign : -layout.sign;
  state_->variant->enqueue_slopes(queue, *points_, sign, modes, values);
}

template <class T>
std::string Plan<T>::explain() const {
  std::string text;
  for (const planner::Decision& decision : state_->decisions) text += decision.explain() + "\n";
  return text;
}

template <class T>
const std::vector<planner::Decision>& Plan<T>::decisions() const {
  return state_->decisions;
}
template <class T>
const std::vector<KernelSource>& Plan<T>::kernels() const {
  return state_->kernels;
}
template <class T>
const Device& Plan<T>::device() const {
  return state_->device;
}
template <class T>
const Problem& Plan<T>::problem() const {
  return state_->problem;
}
template <class T>
double Plan<T>::flops() const {
  return state_->flops;
}
template <class T>
double Plan<T>::bytes() const {
  return state_->decisions.front().problem.bytes;
}

template <class T>
std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem) {
  return planner::candidates_of(list_variants<T>(device, resolve<T>(problem), {.effort = Effort::quick}));
}

template planner::Chosen<Variant<float>> choose_variant(const Device&, const Layout&, const std::vector<Entry<float>>&,
                                                        const planner::Options&);
template planner::Chosen<Variant<double>> choose_variant(const Device&, const Layout&,
                                                         const std::vector<Entry<double>>&, const planner::Options&);
template class Plan<float>;
template class Plan<double>;
template std::vector<planner::Candidate> candidates<float>(const Device&, const Problem&);
template std::vector<planner::Candidate> candidates<double>(const Device&, const Problem&);

}  // namespace ridge::nufft
