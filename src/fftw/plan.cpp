// Executes an fftw_plan on its own or on other arrays, and caches tensor plans.
#include "fftw/plan.hpp"

#include <algorithm>

#include "base/fork_gate.hpp"

namespace ridge::fftw {
namespace {

planner::Options options_of(Rigor rigor) {
  const double limit = settings().time_limit;
  planner::Options options{.save_wisdom = false};
  if (rigor == Rigor::estimate || limit == 0) {
    options.effort = Effort::quick;
    return options;
  }
  if (rigor == Rigor::measure) {
    options.most_trials = 4;  // about 0.1 s for a short transform
  } else if (rigor == Rigor::exhaustive) {
    options.most_trials = 1000;
  }
  if (limit > 0) options.most_seconds = std::min(options.most_seconds, limit);
  return options;
}

}  // namespace

Settings& settings() {
  static Settings the_settings;
  return the_settings;
}

template <class T>
fft::TensorPlan<T> tensor_plan(const fft::TensorProblem& problem, Rigor rigor) {
  return fft::cached_tensor_plan<T>(problem, options_of(rigor));
}

template <class T>
Plan<T>::Plan(const fft::TensorProblem& problem, Rigor rigor, const Arrays<T>& arrays)
    : plan_(tensor_plan<T>(problem, rigor)),
      rigor_(rigor),
      arrays_(arrays),
      plain_(arrays.in != nullptr && arrays.out != nullptr && !problem.split_input && !problem.split_output &&
             problem.in_place == (arrays.in == arrays.out)) {}

template <class T>
const fft::TensorPlan<T>& Plan<T>::variant(std::optional<Tensor>& made, const fft::TensorProblem& problem) const {
  const base::ForkGate gate;
  const std::lock_guard lock(mutex_);
  if (!made) made = tensor_plan<T>(problem, Rigor::estimate);
  return *made;
}

template <class T>
void Plan<T>::execute(const Arrays<T>& arrays) const {
  if (arrays.in == nullptr || arrays.out == nullptr) return;  // planned without arrays, as FFTW_ESTIMATE allows
  const fft::TensorProblem& problem = plan_.problem();
  const bool in_place = static_cast<void*>(arrays.in) == static_cast<void*>(arrays.out);
  const Tensor* plan = &plan_;
  if (in_place != problem.in_place) {
    fft::TensorProblem other = problem;
    other.in_place = in_place;
    plan = &variant(other_placement_, other);
  }
  if (problem.split_input || problem.split_output) {
    plan->run(arrays.in, arrays.in_imaginary, arrays.out, arrays.out_imaginary);
  } else {
    plan->run(arrays.in, arrays.out);
  }
}

template <class T>
void Plan<T>::execute_split(const Arrays<T>& arrays) const {
  fft::TensorProblem problem = plan_.problem();
  const bool complex_in = problem.kind != fft::TensorKind::real_forward;
  const bool complex_out = problem.kind != fft::TensorKind::real_inverse;
  if (problem.split_input || problem.split_output) return execute(arrays);
  if (arrays.in == nullptr || arrays.out == nullptr) return;
  // Interleaved complex numbers are split arrays one real apart, and a backward transform is a forward one with the
  // parts exchanged. The caller's pointers therefore define the transform.
  if (complex_in && complex_out) problem.kind = fft::TensorKind::complex_forward;
  problem.split_input = complex_in;
  problem.split_output = complex_out;
  problem.in_place = arrays.in == arrays.out;
  for (auto* dimensions : {&problem.axes, &problem.loops}) {
    for (fft::Dimension& d : *dimensions) {
      if (complex_in) d.input *= 2;
      if (complex_out) d.output *= 2;
    }
  }
  variant(problem.in_place ? split_in_place_ : split_, problem)
      .run(arrays.in, arrays.in_imaginary, arrays.out, arrays.out_imaginary);
}

template <class T>
double Plan<T>::cost() const {
  double seconds = 0;
  for (const planner::Decision& decision : plan_.decisions()) {
    const planner::Trial& winner = decision.trials[decision.winner];
    seconds += winner.measured_seconds > 0 ? winner.measured_seconds : winner.predicted_seconds;
  }
  return std::max(seconds, plan_.done_flops() * 1e-10) * 1e9;
}

template class Plan<float>;
template class Plan<double>;
template fft::TensorPlan<float> tensor_plan(const fft::TensorProblem&, Rigor);
template fft::TensorPlan<double> tensor_plan(const fft::TensorProblem&, Rigor);

}  // namespace ridge::fftw
