// Chooses the steps of a tensor problem: whole plans of fft, or lines gathered and scattered.
#include "fft/tensor/builder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/host/lines.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, fmt::format("fft: {}", what));
}

template <class T>
class ComplexLine final : public LineOperation<T, std::complex<T>, std::complex<T>> {
 public:
  ComplexLine(std::shared_ptr<const LineKernel<T>> line, Direction direction)
      : line_(std::move(line)), direction_(direction) {}
  std::size_t scratch() const override { return line_->scratch(); }
  bool in_place() const override { return true; }
  void run(const std::complex<T>* in, std::complex<T>* out, std::complex<T>* scratch) const override {
    line_->run(direction_, in, out, scratch);
  }

 private:
  std::shared_ptr<const LineKernel<T>> line_;
  Direction direction_;
};

template <class T>
class RealForwardLine final : public LineOperation<T, T, std::complex<T>> {
 public:
  explicit RealForwardLine(std::shared_ptr<const RealKernel<T>> real) : real_(std::move(real)) {}
  std::size_t scratch() const override { return real_->scratch(); }
  bool in_place() const override { return false; }
  void run(const T* in, std::complex<T>* out, std::complex<T>* scratch) const override {
    real_->forward(in, out, scratch);
  }

 private:
  std::shared_ptr<const RealKernel<T>> real_;
};

template <class T>
class RealInverseLine final : public LineOperation<T, std::complex<T>, T> {
 public:
  explicit RealInverseLine(std::shared_ptr<const RealKernel<T>> real) : real_(std::move(real)) {}
  std::size_t scratch() const override { return real_->scratch(); }
  bool in_place() const override { return false; }
  void run(const std::complex<T>* in, T* out, std::complex<T>* scratch) const override {
    real_->inverse(in, out, scratch);
  }

 private:
  std::shared_ptr<const RealKernel<T>> real_;
};

template <class T>
class RealToRealLine final : public LineOperation<T, T, T> {
 public:
  explicit RealToRealLine(std::unique_ptr<RealLine<T>> line) : line_(std::move(line)) {}
  std::size_t scratch() const override { return line_->scratch(); }
  bool in_place() const override { return true; }
  void run(const T* in, T* out, std::complex<T>* scratch) const override { line_->run(in, out, scratch); }

 private:
  std::unique_ptr<RealLine<T>> line_;
};

// Uses the output strides on both sides.
std::vector<Dimension> within_output(std::vector<Dimension> dimensions) {
  for (Dimension& d : dimensions) d.input = d.output;
  return dimensions;
}

std::vector<Dimension> within_input(std::vector<Dimension> dimensions) {
  for (Dimension& d : dimensions) d.output = d.input;
  return dimensions;
}

std::vector<Dimension> with(std::vector<Dimension> first, const std::vector<Dimension>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<Dimension> all_but(const std::vector<Dimension>& dimensions, std::size_t one) {
  std::vector<Dimension> rest = dimensions;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(one));
  return rest;
}

bool same_places(const std::vector<Dimension>& dimensions) {
  return std::all_of(dimensions.begin(), dimensions.end(),
                     [](const Dimension& d) { return d.length < 2 || d.input == d.output; });
}

// Replaces the strides of one side by those of a packed array; the other side is unchanged.
void pack(std::vector<Dimension>& axes, std::vector<Dimension>& loops, TensorSide side) {
  const std::vector<Dimension> together = packed(with(loops, axes));
  for (std::size_t i = 0; i < together.size(); ++i) {
    Dimension& d = i < loops.size() ? loops[i] : axes[i - loops.size()];
    (side == TensorSide::input ? d.input : d.output) = together[i].input;
  }
}

}  // namespace

template <class T>
TensorBuilder<T>::TensorBuilder(const TensorProblem& problem, const planner::Options& options)
    : scale_(problem.scale), problem_(problem), options_(options) {
  build();
  if (scale_ == 1 || count(problem.loops) == 0) return;
  std::vector<Dimension> all = problem.axes;
  if (problem.kind == TensorKind::real_forward && !all.empty()) all.back().length = all.back().length / 2 + 1;
  all = with(problem.loops, all);
  const bool pairs = problem.kind != TensorKind::real_to_real && problem.kind != TensorKind::real_inverse;
  if (pairs && !problem.split_output) {
    steps.push_back(std::make_unique<ScaleStep<T, Complex>>(static_cast<T>(scale_), false, std::move(all)));
  } else {
    steps.push_back(std::make_unique<ScaleStep<T, T>>(static_cast<T>(scale_), pairs, std::move(all)));
  }
}

template <class T>
std::shared_ptr<const LineKernel<T>> TensorBuilder<T>::line(std::size_t n) {
  ChosenLine<T> chosen = choose_line<T>(host(), n, options_);
  decisions.push_back(std::move(chosen.decision));
  return chosen.kernel;
}

template <class T>
std::shared_ptr<const RealKernel<T>> TensorBuilder<T>::real(std::size_t n) {
  const std::size_t inner = real_line_length(n);
  const std::shared_ptr<const LineKernel<T>> base = inner == 0 ? nullptr : line(inner);
  return make_real<T>(n, [&](std::size_t length) {
    return length == inner ? base : std::shared_ptr<const LineKernel<T>>(default_line<T>(length));
  });
}

template <class T>
void TensorBuilder<T>::check_problem(const std::vector<Dimension>& in_axes, const std::vector<Dimension>& out_axes,
                                     const std::vector<Dimension>& loops) {
  reach(with(loops, in_axes), TensorSide::input);
  reach(with(loops, out_axes), TensorSide::output);
  if (shares_elements(with(loops, out_axes), TensorSide::output)) {
    refuse("the output's strides make two points share an element");
  }
  if (problem_.kind == TensorKind::real_to_real && problem_.real_kinds.size() != in_axes.size()) {
    refuse(fmt::format("got {} kinds of real transforms for {} axes: give one per axis", problem_.real_kinds.size(),
                       in_axes.size()));
  }
}

template <class T>
void TensorBuilder<T>::copy_to_work(bool split, std::vector<Dimension> sized, std::vector<Dimension>& axes,
                                    std::vector<Dimension>& loops) {
  std::vector<Dimension> packed = loops;
  pack(sized, packed, TensorSide::output);
  steps.push_back(std::make_unique<CopyStep<T, Complex>>(Slot::input, Slot::work, split, false, with(packed, sized)));
  for (std::size_t i = 0; i < loops.size(); ++i) loops[i].input = packed[i].output;
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i].input = sized[i].output;
}

template <class T>
void TensorBuilder<T>::build_kind(Slot from, Slot to, const std::vector<Dimension>& axes,
                                  const std::vector<Dimension>& loops, bool in_place) {
  switch (problem_.kind) {
    case TensorKind::real_to_real:
      return build_real_to_real(from, to, axes, loops);
    case TensorKind::real_forward:
      return build_real_forward(from, to, axes, loops);
    case TensorKind::real_inverse:
      return build_real_inverse(from, to, axes, loops);
    case TensorKind::complex_forward:
      return build_complex(from, to, Direction::forward, axes, loops, in_place);
    case TensorKind::complex_inverse:
      return build_complex(from, to, Direction::inverse, axes, loops, in_place);
  }
}

template <class T>
void TensorBuilder<T>::build() {
  std::vector<Dimension> axes = problem_.axes, loops = shortest(problem_.loops);
  if (count(loops) == 0) return;  // an empty problem
  const bool r2r = problem_.kind == TensorKind::real_to_real;
  const bool forward = problem_.kind == TensorKind::real_forward, inverse = problem_.kind == TensorKind::real_inverse;
  std::vector<Dimension> out_axes = axes, in_axes = axes;
  for (const Dimension& axis : axes) {
    if (axis.length == 0) refuse("needs axes of at least 1 point, got length 0");
  }
  if (forward && !axes.empty()) out_axes.back().length = axes.back().length / 2 + 1;
  if (inverse && !axes.empty()) in_axes.back().length = axes.back().length / 2 + 1;
  check_problem(in_axes, out_axes, loops);

  // Split sides, and in-place sides of different order, go through packed work memory.
  const bool complex_in = !r2r && !forward, complex_out = !r2r && !inverse;
  const bool gather = complex_in && problem_.split_input, scatter = complex_out && problem_.split_output;
  Slot from = Slot::input, to = Slot::output;
  if (axes.empty() && !gather && !scatter && !problem_.in_place) {
    if (complex_in && complex_out) {
      steps.push_back(std::make_unique<CopyStep<T, Complex>>(from, to, false, false, loops));
      return;
    }
    if (r2r) {
      steps.push_back(std::make_unique<CopyStep<T, T>>(from, to, false, false, loops));
      return;
    }
  }
  const std::size_t others = count(loops) * (axes.empty() ? 1 : count(axes) / axes.back().length);
  const std::size_t row = axes.empty() ? 1 : axes.back().length;
  const std::size_t work_points = others * (forward || inverse ? row / 2 + 1 : row);

  bool through_work = scatter || (problem_.in_place && !same_places(with(loops, axes)));
  if (gather) {  // later steps work in work memory or lead from there to the output
    copy_to_work(true, in_axes, axes, loops);
    from = Slot::work;
    work = work_points;
    through_work = scatter;  // the caller's input has been read: in place no longer matters
  }
  std::vector<Dimension> final_axes = out_axes, final_loops = loops;
  const bool in_place = problem_.in_place && !gather;
  if ((forward || inverse) && in_place)
    through_work = true;  // strides of reals and of complex numbers are not comparable

  if (!through_work) return build_kind(from, to, axes, loops, in_place);

  // Transforms into work memory first. If the input is already there, the transform is in place.
  if ((forward || inverse) && in_place && !scatter &&  // the caller's memory holds interleaved complex numbers
      try_plan(from, to, Kind::real, forward ? Direction::forward : Direction::inverse, axes, loops, true)) {
    return;
  }
  work = std::max(work, work_points);
  std::vector<Dimension> work_axes = axes, work_loops = loops;
  {
    std::vector<Dimension> sized = complex_out ? out_axes : axes;
    pack(sized, work_loops, TensorSide::output);
    for (std::size_t i = 0; i < axes.size(); ++i) work_axes[i].output = sized[i].output;
    for (std::size_t i = 0; i < axes.size(); ++i) final_axes[i].input = sized[i].output;
    for (std::size_t i = 0; i < loops.size(); ++i) final_loops[i].input = work_loops[i].output;
  }
  if (inverse) {  // copies the spectrum to work memory, then overwrites it with the samples
    copy_to_work(false, in_axes, axes, loops);
    return build_kind(Slot::work, to, axes, loops, false);
  }
  build_kind(from, Slot::work, work_axes, work_loops, from == Slot::work);
  const std::vector<Dimension> all = with(final_loops, final_axes);
  if (r2r) {
    steps.push_back(std::make_unique<CopyStep<T, T>>(Slot::work, to, false, false, all));
  } else {
    steps.push_back(std::make_unique<CopyStep<T, Complex>>(Slot::work, to, false, scatter, all));
  }
}

template <class T>
bool TensorBuilder<T>::try_plan(Slot from, Slot to, Kind kind, Direction direction, const std::vector<Dimension>& axes,
                                std::vector<Dimension> loops, bool in_place) {
  if (axes.empty() || axes.size() > kMostAxes) return false;
  const auto forwards = [](const Dimension& d) { return d.input > 0 && d.output > 0; };
  if (!std::all_of(axes.begin(), axes.end(), [&](const Dimension& d) { return d.length == 1 || forwards(d); })) {
    return false;
  }
  const bool forward = direction == Direction::forward;
  Problem problem;
  problem.kind = kind;
  problem.in_place = in_place;
  problem.threads = problem_.threads;
  const auto places = [&](const Dimension& d, Strides& strides, bool input) {
    strides.axes.push_back(d.length == 1 ? 1 : static_cast<std::size_t>(input ? d.input : d.output));
  };
  for (const Dimension& axis : axes) {
    problem.shape.push_back(axis.length);
    places(axis, problem.input, forward);
    places(axis, problem.output, !forward);
  }
  // One loop becomes the batch: the last one with positive strides that the plan accepts.
  loops = shortest(std::move(loops));
  std::vector<std::size_t> order(loops.size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return loops[a].length > 4 * loops[b].length; });
  order.push_back(loops.size());  // last candidate: no batch
  for (const std::size_t batch : order) {
    Problem whole = problem;
    std::vector<Dimension> rest = loops;
    if (batch < loops.size()) {
      if (!forwards(loops[batch])) continue;
      whole.batch = loops[batch].length;
      whole.input.batch = static_cast<std::size_t>(forward ? loops[batch].input : loops[batch].output);
      whole.output.batch = static_cast<std::size_t>(forward ? loops[batch].output : loops[batch].input);
      rest = all_but(loops, batch);
    }
    // In place, the remaining loops must have the same byte strides on both sides.
    if (in_place && !std::all_of(rest.begin(), rest.end(), [&](const Dimension& d) {
          return d.input * (kind == Kind::real && !forward ? 2 : 1) ==
                 d.output * (kind == Kind::real && forward ? 2 : 1);
        })) {
      continue;
    }
    // A single complex line may have any strides. Most plans are of this kind and take microseconds.
    const bool line = kind == Kind::complex && axes.size() == 1 && loops.empty() && (!in_place || same_places(axes));
    try {
      if (!line && resolve(whole).samples.aliases && !forward) continue;
    } catch (const Error&) {
      continue;  // strides that such a plan does not support
    }
    (forward ? whole.scale_forward : whole.scale_inverse) = std::exchange(scale_, 1.0);
    auto transform = std::make_shared<const Transform<T>>(host(), whole, options_);
    const std::vector<planner::SharedDecision>& decided = transform->decisions().shared();
    decisions.insert(decisions.end(), decided.begin(), decided.end());
    steps.push_back(std::make_unique<PlanStep<T>>(from, to, direction, std::move(transform), std::move(rest)));
    return true;
  }
  return false;
}

template <class T>
void TensorBuilder<T>::complex_pass(Slot from, Slot to, Direction direction, const Dimension& axis,
                                    const std::vector<Dimension>& loops) {
  auto kernel = line(axis.length);
  const double flops = kernel->flops() * static_cast<double>(count(loops));
  std::string name = fmt::format("lines of {}, gathered: {}", axis.length, kernel->describe());
  LinePass<T, Complex, Complex> pass(std::make_shared<ComplexLine<T>>(std::move(kernel), direction), axis.length,
                                     axis.length, axis, loops);
  steps.push_back(std::make_unique<PassStep<T, Complex, Complex>>(from, to, std::move(name), flops, std::move(pass)));
}

// The last axis leads from the input to the output; the other axes are transformed in place there.
template <class T>
void TensorBuilder<T>::build_complex(Slot from, Slot to, Direction direction, std::vector<Dimension> axes,
                                     const std::vector<Dimension>& loops, bool in_place) {
  std::erase_if(axes, [&](const Dimension& axis) { return axis.length == 1; });
  if (axes.empty()) {
    if (!in_place) steps.push_back(std::make_unique<CopyStep<T, Complex>>(from, to, false, false, loops));
    return;
  }
  bool first = true;
  std::vector<Dimension> all = axes;
  for (std::size_t end = axes.size(); end > 0;) {
    bool done = false;
    for (std::size_t take = std::min(end, kMostAxes); take > 0 && !done; --take) {
      const std::size_t begin = end - take;
      std::vector<Dimension> group(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                   all.begin() + static_cast<std::ptrdiff_t>(end));
      std::vector<Dimension> rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
      rest = with(loops, rest);
      const bool here = !first || in_place;
      if (here) group = within_output(std::move(group)), rest = within_output(std::move(rest));
      done = try_plan(first ? from : to, to, Kind::complex, direction, group, rest, here);
      if (!done && take == 1) {
        complex_pass(first ? from : to, to, direction, group.front(), rest);
        done = true;
      }
      if (done) end = begin;
    }
    first = false;
  }
}

template <class T>
void TensorBuilder<T>::build_real_forward(Slot from, Slot to, const std::vector<Dimension>& axes,
                                          const std::vector<Dimension>& loops) {
  if (axes.empty()) refuse("a real transform needs at least one axis, got none");
  if (axes.size() <= kMostAxes && try_plan(from, to, Kind::real, Direction::forward, axes, loops, from == to)) return;
  const Dimension last = axes.back();
  const std::vector<Dimension> others(axes.begin(), axes.end() - 1);
  auto kernel = real(last.length);
  const std::vector<Dimension> rest = with(loops, others);
  const double flops = kernel->flops() * static_cast<double>(count(rest));
  std::string name = fmt::format("real lines of {}, gathered: {}", last.length, kernel->describe());
  LinePass<T, T, Complex> pass(std::make_shared<RealForwardLine<T>>(std::move(kernel)), last.length,
                               last.length / 2 + 1, last, rest);
  steps.push_back(std::make_unique<PassStep<T, T, Complex>>(from, to, std::move(name), flops, std::move(pass)));
  if (others.empty()) return;
  Dimension spectrum = last;
  spectrum.length = last.length / 2 + 1;
  build_complex(to, to, Direction::forward, within_output(others), within_output(with(loops, {spectrum})), true);
}

template <class T>
void TensorBuilder<T>::build_real_inverse(Slot from, Slot to, const std::vector<Dimension>& axes,
                                          const std::vector<Dimension>& loops) {
  if (axes.empty()) refuse("a real transform needs at least one axis, got none");
  if (try_plan(from, to, Kind::real, Direction::inverse, axes, loops, false)) return;
  Dimension last = axes.back();
  std::vector<Dimension> others(axes.begin(), axes.end() - 1), around = loops;
  if (!others.empty()) {
    // The other axes are transformed first, in work memory, because the caller's spectrum must not change.
    Dimension spectrum = last;
    spectrum.length = last.length / 2 + 1;
    std::vector<Dimension> work_axes = with(others, {spectrum}), work_loops = loops;
    if (from != Slot::work) {
      pack(work_axes, work_loops, TensorSide::output);
    } else {
      work_axes = within_input(std::move(work_axes)), work_loops = within_input(std::move(work_loops));
    }
    work = std::max(work, count(work_axes) * count(work_loops));
    const std::vector<Dimension> moved(work_axes.begin(), work_axes.end() - 1);
    build_complex(from, Slot::work, Direction::inverse, moved, with(work_loops, {work_axes.back()}),
                  from == Slot::work);
    for (std::size_t i = 0; i < others.size(); ++i) others[i].input = work_axes[i].output;
    for (std::size_t i = 0; i < around.size(); ++i) around[i].input = work_loops[i].output;
    last.input = work_axes.back().output;
    from = Slot::work;
  }
  auto kernel = real(last.length);
  const std::vector<Dimension> rest = with(around, others);
  const double flops = kernel->flops() * static_cast<double>(count(rest));
  std::string name = fmt::format("real lines of {}, gathered: {}", last.length, kernel->describe());
  LinePass<T, Complex, T> pass(std::make_shared<RealInverseLine<T>>(std::move(kernel)), last.length / 2 + 1,
                               last.length, last, rest);
  steps.push_back(std::make_unique<PassStep<T, Complex, T>>(from, to, std::move(name), flops, std::move(pass)));
}

template <class T>
void TensorBuilder<T>::build_real_to_real(Slot from, Slot to, const std::vector<Dimension>& axes,
                                          const std::vector<Dimension>& loops) {
  const LineSource<T> source{.line = [this](std::size_t n) { return line(n); },
                             .real = [this](std::size_t n) { return real(n); }};
  if (axes.empty()) steps.push_back(std::make_unique<CopyStep<T, T>>(from, to, false, false, loops));
  std::vector<Dimension> places = axes, around = loops;
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    auto kernel = make_real_line<T>(problem_.real_kinds[axis], axes[axis].length, source);
    const std::vector<Dimension> rest = with(around, all_but(places, axis));
    const double flops = kernel->flops() * static_cast<double>(count(rest));
    std::string name = fmt::format("lines of {}: {}", axes[axis].length, kernel->describe());
    LinePass<T, T, T> pass(std::make_shared<RealToRealLine<T>>(std::move(kernel)), axes[axis].length, axes[axis].length,
                           places[axis], rest);
    steps.push_back(std::make_unique<PassStep<T, T, T>>(from, to, std::move(name), flops, std::move(pass)));
    from = to;
    places = within_output(std::move(places)), around = within_output(std::move(around));
  }
}

template class TensorBuilder<float>;
template class TensorBuilder<double>;

}  // namespace ridge::fft
