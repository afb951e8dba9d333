// Runs plans of fft over slices of a box.
#include "mpi/fft/pass.hpp"

#include <algorithm>

namespace ridge::mpi::fft {

std::size_t chunk_for(const Points& extent, std::size_t axis, std::size_t point_bytes, const Device& device) {
  // A host slice stays in one core's cache until it is stored. A device needs enough bytes per transfer.
  const std::size_t wanted = device.is_host() ? std::size_t{256} << 10 : std::size_t{32} << 20;
  std::size_t slice = point_bytes;
  for (std::size_t i = 0; i < 3; ++i) slice *= i == axis ? 1 : std::max<std::size_t>(1, extent[i]);
  // Neighbours along x share cache lines.
  const std::size_t least = axis == 2 ? 16 : 1;
  return std::clamp<std::size_t>(wanted / slice, least, std::max<std::size_t>(least, extent[axis]));
}

template <class T>
Pass<T>::Pass(const PassProblem& problem, const Device& device, const planner::Options& options) : problem_(problem) {
  const std::size_t axis = problem.axis;
  std::size_t other = axis;  // the other axis that is not transformed
  for (std::size_t i = 0; i < 3; ++i) {
    if (i != axis && !problem.axes[i]) other = i;
  }
  const bool along = other == axis || problem.extent[other] == 1 || axis == 2;
  batch_axis_ = along ? axis : other;
  loop_axis_ = along ? other : axis;
  if (!along) {
    whole_.emplace(make(problem.extent[other], device, options));
    return;
  }
  const std::size_t count = problem.extent[axis], tail = count % problem.chunk;
  if (count >= problem.chunk) whole_.emplace(make(problem.chunk, device, options));
  if (tail > 0) tail_.emplace(make(tail, device, options));
}

template <class T>
ridge::fft::Plan<T> Pass<T>::make(std::size_t batch, const Device& device, const planner::Options& options) const {
  ridge::fft::Problem plan{
      .batch = batch, .kind = problem_.real ? ridge::fft::Kind::real : ridge::fft::Kind::complex, .threads = 1};
  ridge::fft::Strides& from = problem_.inverse ? plan.output : plan.input;
  ridge::fft::Strides& to = problem_.inverse ? plan.input : plan.output;
  std::size_t last = 3;
  for (std::size_t i = 0; i < 3; ++i) {
    if (problem_.axes[i]) last = i;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (!problem_.axes[i] || (i != last && problem_.samples[i] == 1)) continue;
    plan.shape.push_back(problem_.samples[i]);
    from.axes.push_back(problem_.in[i]);
    to.axes.push_back(problem_.out[i]);
  }
  from.batch = problem_.in[batch_axis_];
  to.batch = problem_.out[batch_axis_];
  (problem_.inverse ? plan.scale_inverse : plan.scale_forward) = problem_.scale;
  return Plan(device, plan, options);
}

template <class T>
void Pass<T>::call(const Plan& plan, const void* in, void* out) const {
  using Complex = std::complex<T>;
  const std::size_t samples = plan.input_size(), spectrum = plan.output_size();
  const auto* complex_in = static_cast<const Complex*>(in);
  auto* complex_out = static_cast<Complex*>(out);
  if (problem_.real && !problem_.inverse) {
    plan.forward(std::span(static_cast<const T*>(in), samples), std::span(complex_out, spectrum));
  } else if (problem_.real) {
    plan.inverse(std::span(complex_in, spectrum), std::span(static_cast<T*>(out), samples));
  } else if (problem_.inverse) {
    plan.inverse(std::span(complex_in, spectrum), std::span(complex_out, samples));
  } else {
    plan.forward(std::span(complex_in, samples), std::span(complex_out, spectrum));
  }
}

template <class T>
void Pass<T>::run(const void* in, void* out, std::size_t begin, std::size_t end) const {
  const std::size_t in_bytes = problem_.real && !problem_.inverse ? sizeof(T) : 2 * sizeof(T);
  const std::size_t out_bytes = problem_.real && problem_.inverse ? sizeof(T) : 2 * sizeof(T);
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  const auto at = [&](const Plan& plan, std::size_t slice, std::size_t other) {
    const std::size_t a = problem_.axis, b = batch_axis_ == a ? loop_axis_ : batch_axis_;
    const std::size_t in_at = slice * problem_.in[a] + (b == a ? 0 : other * problem_.in[b]);
    const std::size_t out_at = slice * problem_.out[a] + (b == a ? 0 : other * problem_.out[b]);
    call(plan, from + in_at * in_bytes, to + out_at * out_bytes);
  };
  if (batch_axis_ != problem_.axis) {
    for (std::size_t i = begin; i < end; ++i) at(*whole_, i - begin, 0);
    return;
  }
  const std::size_t loops = loop_axis_ == problem_.axis ? 1 : problem_.extent[loop_axis_];
  for (std::size_t i = begin; i < end; i += problem_.chunk) {
    const bool full = end - i >= problem_.chunk;
    for (std::size_t other = 0; other < loops; ++other) at(full ? *whole_ : *tail_, i - begin, other);
  }
}

template <class T>
std::string Pass<T>::explain() const {
  return whole_ ? whole_->explain() : tail_ ? tail_->explain() : std::string();
}

template class Pass<float>;
template class Pass<double>;

}  // namespace ridge::mpi::fft
