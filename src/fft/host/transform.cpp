// Plans the stages of a host transform and runs them on the threads of a plan.
#include "fft/host/transform.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "fft/host/line_by_threads.hpp"
#include "fft/host/real/real.hpp"
#include "fft/host/run_units.hpp"
#include "fft/host/stack_scratch.hpp"
#include "fft/host/two_step.hpp"
#include "fft/variant.hpp"
#include "machine/host/caches.hpp"
#include "plan/choose.hpp"

namespace ridge::fft {
namespace {

// Fewer points are not worth waking threads for.
constexpr double kPointsWorthThreads = 1 << 14;
constexpr double kPlaneBytes = 4 << 20;  // a core's caches hold at least part of it
constexpr std::size_t kLongLine = std::size_t{1} << 16;

std::size_t lines_of(std::size_t elements) { return (elements + 15) / 16 * 16; }

bool names_threads(const std::string& variant) {
  return variant.starts_with("two_step") || variant.starts_with("one_thread");
}

// Row stride of a thread's own plane: not a power of two, which would cause cache set conflicts.
std::size_t plane_pitch(std::size_t columns) { return lines_of(columns) + 8; }

const char* access_text(Access access) {
  switch (access) {
    case Access::rows:
      return "rows";
    case Access::columns:
      return "adjacent columns";
    case Access::tiles:
      return "through tiles";
  }
  return "";
}

}  // namespace

template <class T>
const LineKernel<T>& Transform<T>::line(std::size_t n, const planner::Options& options) {
  for (const auto& kernel : lines_) {
    if (kernel->length() == n) return *kernel;
  }
  planner::Options own = options;
  if (names_threads(own.variant)) own.variant.clear();
  ChosenLine<T> chosen = choose_line<T>(device_, n, own);
  lines_.push_back(std::move(chosen.kernel));
  decisions_.add(std::move(chosen.decision));
  return *lines_.back();
}

// Axes of more than one point, the last first.
template <class T>
std::vector<std::size_t> Transform<T>::long_axes(const Side& side) const {
  std::vector<std::size_t> axes;
  for (std::size_t axis = layout_.axes; axis-- > 0;) {
    if (side.shape[axis] > 1) axes.push_back(axis);
  }
  return axes;
}

// The last axis goes from one side to the other; the others run in place on the output.
template <class T>
void Transform<T>::build_complex(DirectedStages& directed, const Side& in, const Side& out,
                                 const planner::Options& options) {
  std::vector<std::size_t> axes = long_axes(in);
  if (axes.empty()) axes.push_back(layout_.axes - 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool first = i == 0, last = i + 1 == axes.size();
    directed.stages.emplace_back(line(in.shape[axes[i]], options), axes[i], first ? in : out, out, problem_.batch,
                                 first ? &directed.load : nullptr, last ? &directed.store : nullptr);
  }
}

template <class T>
std::shared_ptr<const RealKernel<T>> Transform<T>::real_line(std::size_t n, const planner::Options& options) {
  constexpr std::size_t kFewRealLines = 256;
  struct Memory {
    std::mutex mutex;
    std::size_t most = kFewRealLines;
    std::map<std::pair<std::size_t, const LineKernel<T>*>, std::weak_ptr<const RealKernel<T>>> entries;
  };
  static Memory* const memory = new Memory;  // never destroyed, like the lines
  const std::size_t inner = real_line_length(n);
  if (inner != 0) line(inner, options);
  const std::shared_ptr<const LineKernel<T>> base = inner == 0 ? nullptr : lines_.back();
  // A kernel that is still alive keeps its line, so the line's address cannot have been reused.
  const std::lock_guard lock(memory->mutex);
  if (memory->entries.size() >= memory->most) {  // mostly lengths that no plan uses any more
    std::erase_if(memory->entries, [](const auto& one) { return one.second.expired(); });
    memory->most = std::max(kFewRealLines, 2 * memory->entries.size());
  }
  auto& entry = memory->entries[{n, base.get()}];
  if (auto kernel = entry.lock()) return kernel;
  std::shared_ptr<const RealKernel<T>> kernel = make_real<T>(n, [&](std::size_t length) {
    if (length == inner) return base;
    return std::shared_ptr<const LineKernel<T>>(default_line<T>(length));
  });
  entry = kernel;
  return kernel;
}

// Forward: the last axis makes the spectrum, the others run in place. Inverse: the caller's spectrum must not change
// and the samples have no room for it, so the other axes use a work array, one transform at a time.
template <class T>
void Transform<T>::build_real(const planner::Options& options) {
  const std::size_t last = layout_.axes - 1;
  const Side &samples = layout_.samples, &spectrum = layout_.spectrum;
  real_ = real_line(samples.shape[last], options);
  std::vector<std::size_t> axes;
  for (std::size_t axis = last; axis-- > 0;) {
    if (samples.shape[axis] > 1) axes.push_back(axis);
  }
  forward_->real.emplace(*real_, last, samples, spectrum, problem_.batch, &forward_->load,
                         axes.empty() ? &forward_->store : nullptr);
  if (axes.empty()) {
    inverse_->real.emplace(*real_, last, samples, spectrum, problem_.batch, &inverse_->load, &inverse_->store);
    return;
  }
  for (const std::size_t axis : axes) {
    forward_->stages.emplace_back(line(spectrum.shape[axis], options), axis, spectrum, spectrum, problem_.batch,
                                  nullptr, axis == axes.back() ? &forward_->store : nullptr);
  }
  work_ = spectrum;
  std::size_t packed = 1;
  for (std::size_t axis = layout_.axes; axis-- > 0;) {
    work_.strides[axis] = packed;
    packed *= spectrum.shape[axis];
  }
  work_.batch = packed;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {  // the axis next to the rows comes last
    const bool first = axis == axes.rbegin();
    inverse_->stages.emplace_back(line(spectrum.shape[*axis], options), *axis, first ? spectrum : work_, work_, 1,
                                  first ? &inverse_->load : nullptr, nullptr);
  }
  inverse_->real.emplace(*real_, last, samples, work_, 1, nullptr, &inverse_->store);
}

// True if this is one contiguous line (or a few) without other work.
template <class T>
bool Transform<T>::plain_line() const {
  return problem_.kind == Kind::complex && forward_->stages.size() == 1 &&
         forward_->stages.front().access() == Access::rows && !forward_->load.any() && !forward_->store.any() &&
         !inverse_->load.any() && !inverse_->store.any();
}

// Chooses between all threads in one line and one thread per line; a decision like any other, with its own wisdom.
template <class T>
void Transform<T>::decide_threads(const planner::Options& options) {
  // A named line is used as it is; "two_step" and "one_thread" name the alternatives of this decision.
  if (!options.variant.empty() && !names_threads(options.variant)) return;
  if (threads_ < 2 || !plain_line()) return;
  const std::size_t n = forward_->stages.front().line().length();
  if (n < kLongLine) return;
  // As many lines as threads keep all threads busy, but then no cache holds a line for its later passes, where the
  // caches of all threads together would.
  constexpr std::size_t kWorthSharing = std::size_t{2} << 20, kTrialBytes = std::size_t{1} << 29;
  const bool many = problem_.batch >= threads_;
  if (many && n * sizeof(Complex) < kWorthSharing) return;
  // Two lines per thread, so that slower threads can do one, as in a batch.
  const std::size_t most = std::min(problem_.batch, 2 * threads_);
  const std::size_t lines = many ? std::clamp<std::size_t>(kTrialBytes / (2 * n * sizeof(Complex)), 1, most) : 1;
  const auto factors = TwoStep<T>::factors(n);
  if (factors.rows == 0) return;

  const double points = static_cast<double>(n), data = 2 * points * sizeof(Complex);
  const LineKernel<T>& whole = forward_->stages.front().line();
  planner::Options inner = options;
  inner.variant.clear();
  const bool float64 = sizeof(T) == sizeof(double);
  using Shared = std::shared_ptr<const SharedLine<T>>;
  const auto by_threads = [&](Shared shared) {
    return std::make_shared<const LineByThreads<T>>(whole, std::move(shared), threads_, lines, many);
  };
  const auto two_step = [&]() -> Shared {
    return std::make_shared<const TwoStep<T>>(choose_line<T>(device_, factors.rows, inner).kernel,
                                              choose_line<T>(device_, factors.columns, inner).kernel);
  };
  // The line's own two steps, if it has them.
  const auto of_line = [&] {
    const auto& kernel = *std::find_if(lines_.begin(), lines_.end(), [&](const auto& k) { return k.get() == &whole; });
    return Shared(kernel, shared_line_of(whole));
  };
  const planner::Cost shared_cost{.flops = whole.flops() + 12 * points,
                                  .bytes = 2 * data,
                                  .launches = 2,
                                  .efficiency = 0.35,
                                  .float64 = float64,
                                  .threads = threads_};
  using Entry = planner::Entry<LineByThreads<T>>;
  std::vector<Entry> entries{Entry{.candidate = planner::Candidate{.variant = "one_thread",
                                                                   .cost = {.flops = whole.flops(),
                                                                            .bytes = data,
                                                                            .efficiency = 0.4,
                                                                            .float64 = float64,
                                                                            .threads = many ? threads_ : 1}},
                                   .build = [&] { return by_threads(nullptr); }}};
  if (shared_line_of(whole) != nullptr) {
    entries.push_back(Entry{
        .candidate = planner::Candidate{.variant = "two_step", .parameters = {{"line", "own"}}, .cost = shared_cost},
        .build = [&] { return by_threads(of_line()); }});
  }
  entries.push_back(Entry{.candidate = planner::Candidate{.variant = "two_step",
                                                          .parameters = {{"columns", std::to_string(factors.rows)},
                                                                         {"rows", std::to_string(factors.columns)}},
                                                          .cost = shared_cost},
                          .build = [&] { return by_threads(two_step()); }});
  const planner::Decision& alone = decisions_.shared().front().get();
  ThreadTrials<T> trials(whole, alone.trials[alone.winner].measured_seconds);
  auto chosen = planner::choose(
      device_,
      {.workload = "fft",
       .key = fmt::format("fft threads {} {} threads {}{}", float64 ? "f64" : "f32", n, threads_, many ? " many" : ""),
       .flops = 5 * points * std::log2(points),
       .bytes = data},
      entries, options, trials);
  decisions_.add(std::move(chosen.decision));
  shared_ = chosen.winner->shared();
}

template <class T>
void Transform<T>::decide_alone() {
  if (problem_.storage != Storage::same) return;
  if (shared_ || problem_.batch != 1 || problem_.shape.size() != 1) return;
  const auto fits = [](std::size_t scratch) { return scratch * sizeof(Complex) <= kStackBytes; };
  if (plain_line()) {
    const LineKernel<T>& line = forward_->stages.front().line();
    if (!fits(line.scratch())) return;
    alone_ = &line;
    points_alone_ = line.length();
    scratch_alone_ = line.scratch();
    bare_lines_[0] = line.bare(Direction::forward);
    bare_lines_[1] = line.bare(Direction::inverse);
  } else if (real_ && forward_->real->plain() && inverse_->real->plain() && fits(real_->scratch())) {
    real_alone_ = real_.get();
    points_alone_ = real_->length();
    scratch_alone_ = real_->scratch();
  }
}

// A batch that one thread runs in a few hundred nanoseconds: checking for threads and borrowing scratch would double
// it.
template <class T>
void Transform<T>::decide_few() {
  if (problem_.storage != Storage::same || layout_.samples.aliases) return;
  if (shared_ || problem_.batch == 1 || problem_.shape.size() != 1) return;
  const auto fits = [](std::size_t scratch) { return scratch * sizeof(Complex) <= kStackBytes; };
  if (plain_line()) {
    const LineKernel<T>& line = forward_->stages.front().line();
    if (forward_->stages.front().points() >= kPointsWorthThreads || !fits(line.scratch())) return;
    few_ = &line;
    scratch_alone_ = line.scratch();
  } else if (real_ && forward_->real->plain() && inverse_->real->plain() && fits(real_->scratch())) {
    if (forward_->real->points() >= kPointsWorthThreads) return;
    real_few_ = real_.get();
    scratch_alone_ = real_->scratch();
  }
}

template <class T>
Transform<T>::Transform(const Device& device, const Problem& problem, const planner::Options& options)
    : device_(device), problem_(problem), layout_(resolve(problem)) {
  if (!device.is_host()) {
    throw Error(ErrorKind::unavailable, fmt::format("fft: this transform needs the host, got {}", device.id()));
  }
  threads_ = std::min(problem.threads == 0 ? base::hardware_threads() : problem.threads, base::kMostThreads);
  if (layout_.boxed) {
    const typename BoxedTransform<T>::Kernels kernels{
        .line = [&](std::size_t n) -> const LineKernel<T>& { return line(n, options); },
        .real = [&](std::size_t n) -> const RealKernel<T>& {  // both directions share the kernel of the real axis
          if (!real_) real_ = real_line(n, options);
          return *real_;
        }};
    boxed_ = std::make_unique<const BoxedTransform<T>>(problem, layout_, threads_, kernels);
    return;
  }
  forward_ = std::make_unique<DirectedStages>();
  inverse_ = std::make_unique<DirectedStages>();
  forward_->load = Factors<T>(problem.load_forward);
  forward_->store = Factors<T>(problem.store_forward, problem.scale_forward);
  inverse_->load = Factors<T>(problem.load_inverse);
  inverse_->store = Factors<T>(problem.store_inverse, problem.scale_inverse);
  if (problem.kind == Kind::real) {
    build_real(options);
  } else {
    build_complex(*forward_, layout_.samples, layout_.spectrum, options);
    build_complex(*inverse_, layout_.spectrum, layout_.samples, options);
  }
  decide_threads(options);
  decide_planes();
  decide_alone();
  decide_few();
  decide_streams();

  std::size_t each = 0, widest = 1;
  for (const DirectedStages* directed : {forward_.get(), inverse_.get()}) {
    if (directed->real) {
      each = std::max(each, lines_of(directed->real->tile()) + lines_of(directed->real->kernel_scratch()));
      widest = std::max(widest, threads_for(*directed->real));
    }
    for (const Stage<T>& stage : directed->stages) {
      each = std::max(each, lines_of(stage.tile()) + lines_of(stage.kernel_scratch()));
      widest = std::max(widest, threads_for(stage));
    }
  }
  std::size_t between = work_.batch;
  if (shared_) {
    each = std::max(each, shared_->own_scratch());
    widest = threads_;
    between = PipelinedLines<T>(*shared_, problem_.batch).work();
  }
  plane_at_ = each;
  each += plane_points_;
  const bool on_the_stack = alone_ != nullptr || real_alone_ != nullptr || few_ != nullptr || real_few_ != nullptr;
  pool_ = std::make_unique<ScratchPool<T>>(widest, each, between, on_the_stack ? 0 : kPreparedCallers);
}

template <class T>
template <class AnyStage>
std::size_t Transform<T>::threads_for(const AnyStage& stage) const {
  if (stage.points() < kPointsWorthThreads) return 1;
  return std::min(threads_, stage.units());
}

template <class T>
template <class AnyStage>
double Transform<T>::bytes_of(const AnyStage& stage) const {
  return 2 * stage.points() * sizeof(Complex);
}

template <class T>
void Transform<T>::decide_planes() {
  const auto worth_it = [&](std::size_t planes, double points) {
    const bool even = planes % threads_ == 0 || planes >= 4 * threads_;
    return planes > 1 && even && points / static_cast<double>(planes) * sizeof(Complex) <= kPlaneBytes;
  };
  for (DirectedStages* directed : {forward_.get(), inverse_.get()}) {
    if (directed->stages.size() < (real_ ? 1U : 2U)) continue;
    const bool rows_first = !real_ || directed == forward_.get();
    const Stage<T>& columns = directed->stages[real_ ? (rows_first ? 0 : directed->stages.size() - 1) : 1];
    const auto& rows = real_ ? directed->real->loops() : directed->stages[0].loops();
    directed->by_planes = columns.same_planes(rows, rows_first) && worth_it(columns.planes(), columns.points());
  }
}

// The same two stages through one plane of scratch: from the input to the plane and from there to the output.
template <class T>
void Transform<T>::build_through_plane(DirectedStages& directed, const Side& in, const Side& out) {
  const std::vector<std::size_t> axes = long_axes(in);
  const std::size_t across = axes[0], down = axes[1], pitch = plane_pitch(in.shape[across]);
  Side plane{.shape = in.shape};
  plane.strides[across] = 1;
  plane.strides[down] = pitch;
  const bool last = directed.stages.size() == 2;
  std::vector<Stage<T>> stages;
  stages.emplace_back(directed.stages[0].line(), across, in, plane, problem_.batch, &directed.load, nullptr);
  stages.emplace_back(directed.stages[1].line(), down, plane, out, problem_.batch, nullptr,
                      last ? &directed.store : nullptr);
  stages[1].stream_large_results(threads_for(stages[1]));
  if (!stages[1].streams()) return;
  directed.through_plane = std::move(stages);
  plane_points_ = in.shape[down] * pitch;
}

// Data that the next stage reads should stay in cache. Arm cores write whole cache lines without reading them first.
template <class T>
void Transform<T>::decide_streams() {
#if defined(__x86_64__)
  static const auto last_cache = static_cast<double>(machine::host_caches().back().size);  // reads /sys: 0.5 ms
  for (DirectedStages* directed : {forward_.get(), inverse_.get()}) {
    std::vector<Stage<T>>& stages = directed->stages;
    if (stages.empty() || directed->real) continue;
    const bool beyond = bytes_of(stages.back()) > last_cache;
    if (stages.size() > 1 || !problem_.in_place) stages.back().stream_large_results(threads_for(stages.back()));
    if (!beyond || !directed->by_planes) continue;
    const bool forward = directed == forward_.get();
    build_through_plane(*directed, forward ? layout_.samples : layout_.spectrum,
                        forward ? layout_.spectrum : layout_.samples);
  }
#endif
}

// Function that runs the units begin .. end of a stage: all units, or those of one plane.
template <class T>
auto Transform<T>::units_of(const Stage<T>& stage, Direction direction, const void* in, Complex* out,
                            Scratch<T>& scratch) const {
  return [&stage, &scratch, direction, in, out](std::size_t thread, std::size_t begin, std::size_t end) {
    Complex* const own = scratch.of_thread[thread];
    stage.run(direction, in, out, begin, end, {own, own + lines_of(stage.tile())});
  };
}

template <class T>
auto Transform<T>::units_of(const RealStage<T>& stage, Direction direction, const void* in, void* out,
                            Scratch<T>& scratch) const {
  return [&stage, &scratch, direction, in, out](std::size_t thread, std::size_t begin, std::size_t end) {
    Complex* const own = scratch.of_thread[thread];
    const StageScratch<T> parts{own, own + lines_of(stage.tile())};
    if (direction == Direction::forward) {
      stage.forward(in, static_cast<Complex*>(out), begin, end, parts);
    } else {
      stage.inverse(static_cast<const Complex*>(in), static_cast<T*>(out), begin, end, parts);
    }
  };
}

template <class T>
void Transform<T>::run_stages(Direction direction, std::span<const Stage<T>> stages, const void* in, Complex* out,
                              Scratch<T>& scratch) const {
  for (const Stage<T>& stage : stages) {
    run_all(threads_for(stage), stage.units(), bytes_of(stage), units_of(stage, direction, in, out, scratch));
    in = out;
  }
}

template <class T>
void Transform<T>::run_complex(Direction direction, const DirectedStages& directed, const void* in, Complex* out,
                               Scratch<T>& scratch) const {
  std::span<const Stage<T>> stages = directed.stages;
  if (!directed.through_plane.empty()) {
    const Stage<T>&rows = directed.through_plane[0], &columns = directed.through_plane[1];
    const auto through = [&](std::size_t thread, std::size_t begin, std::size_t end) {
      Complex* const plane = scratch.of_thread[thread] + plane_at_;
      for (std::size_t i = begin; i < end; ++i) {
        units_of(rows, direction, in, plane, scratch)(thread, i * units_per_plane(rows),
                                                      (i + 1) * units_per_plane(rows));
        units_of(columns, direction, plane, out, scratch)(thread, i * units_per_plane(columns),
                                                          (i + 1) * units_per_plane(columns));
      }
    };
    run_all(threads_for(columns), columns.planes(), bytes_of(columns), through);
    stages = stages.subspan(2);
    in = out;
  } else if (directed.by_planes) {
    const Stage<T>&rows = stages[0], &columns = stages[1];
    run_by_planes(threads_for(columns), columns.planes(), bytes_of(columns), units_per_plane(rows),
                  units_of(rows, direction, in, out, scratch), units_per_plane(columns),
                  units_of(columns, direction, out, out, scratch));
    stages = stages.subspan(2);
    in = out;
  }
  run_stages(direction, stages, in, out, scratch);
}

template <class T>
void Transform<T>::run_real_forward(const void* in, Complex* out, Scratch<T>& scratch) const {
  constexpr Direction kForward = Direction::forward;
  const RealStage<T>& rows = *forward_->real;
  std::span<const Stage<T>> stages = forward_->stages;
  const auto row_units = units_of(rows, kForward, in, out, scratch);
  if (forward_->by_planes) {
    const Stage<T>& columns = stages[0];
    run_by_planes(threads_for(columns), columns.planes(), bytes_of(columns), units_per_plane(rows), row_units,
                  units_per_plane(columns), units_of(columns, kForward, out, out, scratch));
    stages = stages.subspan(1);
  } else {
    run_all(threads_for(rows), rows.units(), bytes_of(rows), row_units);
  }
  run_stages(kForward, stages, out, out, scratch);
}

template <class T>
void Transform<T>::run_real_inverse(const Complex* in, T* out, Scratch<T>& scratch) const {
  constexpr Direction kInverse = Direction::inverse;
  const RealStage<T>& rows = *inverse_->real;
  std::span<const Stage<T>> stages = inverse_->stages;
  if (stages.empty()) {
    run_all(threads_for(rows), rows.units(), bytes_of(rows), units_of(rows, kInverse, in, out, scratch));
    return;
  }
  Complex* const work = scratch.shared.data();
  const Stage<T>& columns = stages.back();
  if (inverse_->by_planes) stages = stages.first(stages.size() - 1);
  for (std::size_t b = 0; b < problem_.batch; ++b) {
    const Complex* const spectrum = in + b * layout_.spectrum.batch;
    run_stages(kInverse, stages, spectrum, work, scratch);
    const auto row_units = units_of(rows, kInverse, work, out + b * layout_.samples.batch, scratch);
    if (inverse_->by_planes) {
      const Complex* const from = stages.empty() ? spectrum : work;
      run_by_planes(threads_for(columns), columns.planes(), bytes_of(columns), units_per_plane(columns),
                    units_of(columns, kInverse, from, work, scratch), units_per_plane(rows), row_units);
    } else {
      run_all(threads_for(rows), rows.units(), bytes_of(rows), row_units);
    }
  }
}

template <class T>
void Transform<T>::run_shared(Direction direction, const Complex* in, Complex* out, Scratch<T>& scratch) const {
  const bool forward = direction == Direction::forward;
  const Side& from = forward ? layout_.samples : layout_.spectrum;
  const Side& to = forward ? layout_.spectrum : layout_.samples;
  const bool past =
      problem_.batch > 1 && in != out && past_caches(problem_.batch * shared_->points() * sizeof(Complex));
  PipelinedLines<T>(*shared_, problem_.batch)
      .run(direction, in, from.batch, out, to.batch, threads_, scratch.shared.data(), scratch.of_thread.data(), past);
}

template <class T>
void Transform<T>::run_alone(Direction direction, const Complex* in, Complex* out) const {
  with_stack<T>(scratch_alone_, *alone_, direction, in, out);
}

template <class T>
void Transform<T>::run_alone(const T* in, Complex* out) const {
  with_stack<T>(scratch_alone_, *real_alone_, in, out);
}

template <class T>
void Transform<T>::run_alone(const Complex* in, T* out) const {
  with_stack<T>(scratch_alone_, *real_alone_, in, out);
}

template <class T>
void Transform<T>::run_few(Direction direction, const void* in, void* out) const {
  const bool forward = direction == Direction::forward;
  const std::size_t from = (forward ? layout_.samples : layout_.spectrum).batch,
                    to = (forward ? layout_.spectrum : layout_.samples).batch, lines = problem_.batch;
  if (few_ != nullptr) {
    with_stack<T>(scratch_alone_, *few_, direction, static_cast<const Complex*>(in), from, static_cast<Complex*>(out),
                  to, lines);
  } else if (forward) {
    with_stack<T>(scratch_alone_, *real_few_, static_cast<const T*>(in), from, static_cast<Complex*>(out), to, lines);
  } else {
    with_stack<T>(scratch_alone_, *real_few_, static_cast<const Complex*>(in), from, static_cast<T*>(out), to, lines);
  }
}

template <class T>
void Transform<T>::run(Direction direction, const void* in, void* out) const {
  if (boxed_) return boxed_->run(direction, in, out);
  const auto scratch = pool_->lend();
  Complex* const target = static_cast<Complex*>(out);
  if (real_) {
    if (direction == Direction::forward) {
      run_real_forward(in, target, *scratch);
    } else {
      run_real_inverse(static_cast<const Complex*>(in), static_cast<T*>(out), *scratch);
    }
  } else if (shared_) {
    run_shared(direction, static_cast<const Complex*>(in), target, *scratch);
  } else {
    run_complex(direction, direction == Direction::forward ? *forward_ : *inverse_, in, target, *scratch);
  }
}

template <class T>
double Transform<T>::done_flops() const {
  if (boxed_) return boxed_->done_flops();
  if (shared_) return shared_->flops_done() * static_cast<double>(problem_.batch);
  double sum = real_ ? real_->flops() * static_cast<double>(forward_->real->units()) : 0;
  for (const Stage<T>& stage : forward_->stages) {
    sum += stage.line().flops() * stage.points() / static_cast<double>(stage.line().length());
  }
  return sum;
}

template <class T>
std::string Transform<T>::explain() const {
  std::string text = fmt::format("fft {} {} {}, batch {}, {} threads\n", shape_text(problem_),
                                 problem_.kind == Kind::real ? "real" : "complex",
                                 sizeof(T) == sizeof(float) ? "float" : "double", problem_.batch, threads_);
  if (boxed_) {
    text += boxed_->explain();
  } else if (shared_) {
    text += "  passes: columns and twiddle, then rows, each over all threads\n";
  } else {
    if (real_) text += fmt::format("  pass over real rows of {}: {}\n", real_->length(), real_->describe());
    for (const Stage<T>& stage : forward_->stages) {
      text += fmt::format("  pass over lines of {}, {}: {}\n", stage.line().length(), access_text(stage.access()),
                          stage.line().describe());
    }
  }
  text += fmt::format("  {:.4g} flops executed, {:.4g} by the conventional count; at least {} moved\n", done_flops(),
                      usual_flops(problem_), base::human_bytes(least_bytes(layout_, problem_, sizeof(T))));
  for (const planner::Decision& decision : decisions_.all()) text += decision.explain();
  return text;
}

template class Transform<float>;
template class Transform<double>;

}  // namespace ridge::fft
