// The public plan: every check of the caller's memory, before anything is touched.
#include <cstdint>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "fft/lines.hpp"
#include "fft/transform.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, fmt::format("fft: {}", what));
}

// One of the caller's arrays: `count` elements of `bytes` each, made of numbers of `number` bytes.
struct Memory {
  const void* data;
  std::size_t count, bytes, number;
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data); }
};

template <class Element>
Memory memory(std::span<Element> span, std::size_t number) {
  return {span.data(), span.size(), sizeof(Element), number};
}

void check_array(const char* what, const Memory& array, std::size_t needed) {
  if (array.data == nullptr) refuse(fmt::format("the {} is null", what));
  if (array.begin() % array.number != 0) {
    refuse(fmt::format("the {} at address {:#x} is not aligned to its numbers of {} bytes", what, array.begin(),
                       array.number));
  }
  if (array.count < needed)
    refuse(fmt::format("the {} has {} elements, this plan needs {}", what, array.count, needed));
}

template <class T>
void check(const Transform<T>& transform, Direction direction, const Memory& in, std::size_t in_needed,
           const Memory& out, std::size_t out_needed) {
  check_array("input", in, in_needed);
  check_array("output", out, out_needed);
  const bool apart =
      in.begin() + in_needed * in.bytes <= out.begin() || out.begin() + out_needed * out.bytes <= in.begin();
  if (transform.problem().in_place && in.data != out.data) {
    refuse("a plan made in place was given two different arrays");
  }
  if (!transform.problem().in_place && !apart) {
    refuse("input and output overlap; plan with in_place and give the same array, or give separate ones");
  }
  if (direction == Direction::inverse && transform.layout().samples.aliases) {
    refuse("the input's strides make points share elements: such a plan can only go forward");
  }
}

void check_kind(const Problem& problem, Kind kind, Samples samples, Direction direction) {
  if (problem.kind != kind) {
    refuse(kind == Kind::complex ? "a plan of real samples was given complex ones"
                                 : "a plan of complex samples was given real ones");
  }
  if (direction == Direction::forward && problem.load_forward.samples != samples) {
    refuse("the samples are not of the type load_forward.samples says");
  }
}

template <class T>
void forward_integers(const Transform<T>& transform, const Memory& in, const Memory& out, Samples samples) {
  const Problem& problem = transform.problem();
  check_kind(problem, problem.kind, samples, Direction::forward);
  const std::size_t each = problem.kind == Kind::complex ? 2 : 1;
  check(transform, Direction::forward, in, each * transform.layout().samples.extent, out,
        transform.layout().spectrum.extent);
  transform.run(Direction::forward, in.data, const_cast<void*>(out.data));
}

}  // namespace

template <class T>
Plan<T>::Plan(const Device& device, const Problem& problem, const planner::Options& options)
    : transform_(std::make_shared<const Transform<T>>(device, problem, options)) {}

template <class T>
void Plan<T>::forward(std::span<const Complex> in, std::span<Complex> out) const {
  if (transform_->run_short(Direction::forward, in, out)) return;
  check_kind(problem(), Kind::complex, Samples::same, Direction::forward);
  check(*transform_, Direction::forward, memory(in, sizeof(T)), transform_->layout().samples.extent,
        memory(out, sizeof(T)), transform_->layout().spectrum.extent);
  transform_->run(Direction::forward, in.data(), out.data());
}

template <class T>
void Plan<T>::inverse(std::span<const Complex> in, std::span<Complex> out) const {
  if (transform_->run_short(Direction::inverse, in, out)) return;
  check_kind(problem(), Kind::complex, Samples::same, Direction::inverse);
  check(*transform_, Direction::inverse, memory(in, sizeof(T)), transform_->layout().spectrum.extent,
        memory(out, sizeof(T)), transform_->layout().samples.extent);
  transform_->run(Direction::inverse, in.data(), out.data());
}

template <class T>
void Plan<T>::forward(std::span<const Real> in, std::span<Complex> out) const {
  if (transform_->run_short(in, out)) return;
  check_kind(problem(), Kind::real, Samples::same, Direction::forward);
  check(*transform_, Direction::forward, memory(in, sizeof(T)), transform_->layout().samples.extent,
        memory(out, sizeof(T)), transform_->layout().spectrum.extent);
  transform_->run(Direction::forward, in.data(), out.data());
}

template <class T>
void Plan<T>::inverse(std::span<const Complex> in, std::span<Real> out) const {
  if (transform_->run_short(in, out)) return;
  check_kind(problem(), Kind::real, Samples::same, Direction::inverse);
  check(*transform_, Direction::inverse, memory(in, sizeof(T)), transform_->layout().spectrum.extent,
        memory(out, sizeof(T)), transform_->layout().samples.extent);
  transform_->run(Direction::inverse, in.data(), out.data());
}

template <class T>
void Plan<T>::forward(std::span<const std::int8_t> in, std::span<Complex> out) const {
  forward_integers(*transform_, memory(in, 1), memory(out, sizeof(T)), Samples::int8);
}

template <class T>
void Plan<T>::forward(std::span<const std::int16_t> in, std::span<Complex> out) const {
  forward_integers(*transform_, memory(in, 2), memory(out, sizeof(T)), Samples::int16);
}

template <class T>
std::size_t Plan<T>::input_size() const {
  const bool pairs = problem().kind == Kind::complex && problem().load_forward.samples != Samples::same;
  return (pairs ? 2 : 1) * transform_->layout().samples.extent;
}
template <class T>
std::size_t Plan<T>::output_size() const {
  return transform_->layout().spectrum.extent;
}
template <class T>
double Plan<T>::flops() const {
  return transform_->flops();
}
template <class T>
double Plan<T>::bytes() const {
  return transform_->bytes();
}
template <class T>
std::string Plan<T>::explain() const {
  return transform_->explain();
}
template <class T>
const std::vector<planner::Decision>& Plan<T>::decisions() const {
  return transform_->decisions();
}
template <class T>
const Problem& Plan<T>::problem() const {
  return transform_->problem();
}

template <class T>
std::vector<planner::Candidate> candidates(const Device& device, std::size_t n) {
  if (!device.is_host()) return {};
  if (n == 0) refuse("an axis of length 0");
  return line_candidates<T>(n);
}

template class Plan<float>;
template class Plan<double>;
template std::vector<planner::Candidate> candidates<float>(const Device&, std::size_t);
template std::vector<planner::Candidate> candidates<double>(const Device&, std::size_t);

}  // namespace ridge::fft
