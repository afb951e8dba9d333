// The dot-product test of adjoints: <A x, g> = <x, A^H g> for random x and g, summed in long double over every stored
// real number.
//
// To add a workload: write `Outcome adjoint_<name>(Draw&)` in a file of its own, declare it here and add one line to
// the list in src/check/adjoint.cpp.
#pragma once
#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "check/check.hpp"

namespace ridge::check {

Outcome adjoint_fft(Draw& draw);
Outcome adjoint_tensor(Draw& draw);
Outcome adjoint_convolution(Draw& draw);
Outcome adjoint_transpose(Draw& draw);
Outcome adjoint_filterbank(Draw& draw);
Outcome adjoint_correlator(Draw& draw);
Outcome adjoint_image(Draw& draw);
Outcome adjoint_stencil(Draw& draw);

// Allowed difference relative to |A x| |g|, for plans that compute in double and in float.
inline constexpr double kAdjointGateDouble = 1e-12, kAdjointGateFloat = 2e-5;

template <class Element>
using RealPart = std::conditional_t<std::is_floating_point_v<Element>, Element, decltype(std::abs(Element()))>;

// The real numbers of an array of real or complex elements.
template <class Element>
std::span<const RealPart<Element>> numbers_of(const std::vector<Element>& values) {
  return {reinterpret_cast<const RealPart<Element>*>(values.data()),
          values.size() * sizeof(Element) / sizeof(RealPart<Element>)};
}

template <class T>
long double dot(std::span<const T> a, std::span<const T> b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * static_cast<long double>(b[i]);
  return sum;
}

// Uniform numbers in [-1, 1).
template <class Element>
std::vector<Element> uniform_values(std::size_t count, std::uint64_t seed) {
  std::vector<Element> values(count);
  fill_values(std::as_writable_bytes(std::span(values)),
              sizeof(RealPart<Element>) == 4 ? Values::float32 : Values::float64, seed);
  return values;
}

// Describes the difference of the two products; empty if it is within the gate. `back` is A^H g.
template <class In, class Out>
std::string adjoint_error(const Draw& draw, const std::vector<In>& x, const std::vector<Out>& image,
                          const std::vector<Out>& g, std::vector<In>& back) {
  draw.answered(std::as_writable_bytes(std::span(back)));
  const long double left = dot(numbers_of(image), numbers_of(g)), right = dot(numbers_of(x), numbers_of(back));
  const long double size = std::sqrt(dot(numbers_of(image), numbers_of(image)) * dot(numbers_of(g), numbers_of(g)));
  const double error = static_cast<double>(std::abs(left - right) / (size > 0 ? size : 1.0L));
  const double allowed = sizeof(RealPart<In>) == 4 ? kAdjointGateFloat : kAdjointGateDouble;
  if (error <= allowed) return {};
  return fmt::format("<A x, g> and <x, A^H g> differ by {:.2e} of |A x| |g|, allowed {:.1e}", error, allowed);
}

}  // namespace ridge::check
