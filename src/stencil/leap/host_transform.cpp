// Transforms of a grid to the modes of its basis, on the host.
#include "stencil/leap/host_transform.hpp"

#include "base/aligned.hpp"

namespace ridge::stencil::leap {
namespace {

using fft::Dimension;
using fft::RealKind;
using fft::TensorKind;
using fft::TensorProblem;

RealKind kind_of(Basis basis, bool back) {
  if (basis == Basis::sine) return RealKind::dst1;
  return back ? RealKind::dct3 : RealKind::dct2;
}

TensorProblem turned(TensorProblem problem, double scale) {
  if (problem.kind == TensorKind::real_forward) problem.kind = TensorKind::real_inverse;
  for (RealKind& kind : problem.real_kinds) {
    if (kind == RealKind::dct2) kind = RealKind::dct3;
  }
  for (auto* dimensions : {&problem.axes, &problem.loops}) {
    for (Dimension& dimension : *dimensions) std::swap(dimension.input, dimension.output);
  }
  problem.scale = scale;
  return problem;
}

}  // namespace

template <class T>
HostTransform<T>::HostTransform(const std::vector<TransformAxis>& axes, std::size_t fields, std::ptrdiff_t field_place,
                                std::size_t threads, bool and_back) {
  bool waves = false, real = false;
  double norm = 1;
  for (const TransformAxis& one : axes) {
    waves = waves || one.axis->basis == Basis::fourier;
    real = real || one.axis->basis == Basis::sine || one.axis->basis == Basis::cosine;
    norm *= one.axis->norm;
  }
  std::vector<std::ptrdiff_t> in_work(axes.size()), in_spectrum(axes.size());
  std::ptrdiff_t cells = 1, modes = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    in_work[i] = cells;
    in_spectrum[i] = modes;
    cells *= static_cast<std::ptrdiff_t>(axes[i].axis->cells);
    modes *= static_cast<std::ptrdiff_t>(axes[i].axis->modes);
  }
  numbers_ = static_cast<std::size_t>(modes) * fields * (waves ? 2 : 1);
  TensorProblem first{.kind = TensorKind::real_to_real, .threads = threads};
  TensorProblem second{.kind = TensorKind::real_forward, .threads = threads};
  const bool both = waves && real;
  if (both) between_ = static_cast<std::size_t>(cells) * fields;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = *axes[i].axis;
    const Dimension there{axis.cells, axes[i].place, both ? in_work[i] : in_spectrum[i]};
    const Dimension on{axis.cells, both ? in_work[i] : axes[i].place, in_spectrum[i]};
    const bool fourier = axis.basis == Basis::fourier, none = axis.basis == Basis::none;
    (fourier || none ? first.loops : first.axes).push_back(there);
    if (!fourier && !none) first.real_kinds.push_back(kind_of(axis.basis, false));
    (fourier ? second.axes : second.loops).push_back(on);
  }
  first.loops.push_back({fields, field_place, both ? cells : modes});
  second.loops.push_back({fields, both ? cells : field_place, modes});
  const planner::Options quick{.effort = Effort::quick};
  if (real || !waves) first_.emplace(host(), first, quick);
  if (waves) second_.emplace(host(), second, quick);
  if (!and_back) return;
  if (waves) back_first_.emplace(host(), turned(second, both ? 1 : 1 / norm), quick);
  if (real || !waves) back_second_.emplace(host(), turned(first, 1 / norm), quick);
}

template <class T>
void HostTransform<T>::forward(const T* cells, T* spectrum) const {
  if (!first_ || !second_) return (first_ ? *first_ : *second_).run(cells, spectrum);
  base::AlignedArray<T> between(between_);
  first_->run(cells, between.data());
  second_->run(between.data(), spectrum);
}

template <class T>
void HostTransform<T>::inverse(const T* spectrum, T* cells) const {
  if (!back_first_ || !back_second_) return (back_first_ ? *back_first_ : *back_second_).run(spectrum, cells);
  base::AlignedArray<T> between(between_);
  back_first_->run(spectrum, between.data());
  back_second_->run(between.data(), cells);
}

template class HostTransform<float>;
template class HostTransform<double>;

}  // namespace ridge::stencil::leap
