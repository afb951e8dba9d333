// Products of functions given by their modes, computed without aliasing on a padded grid.
#include <ridge/fft/dealias.hpp>

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "plan/arguments.hpp"

namespace ridge::fft {
namespace {

// The shortest length from `least` on without factors above 5.
std::size_t smooth_length(std::size_t least) {
  for (std::size_t n = least;; ++n) {
    std::size_t rest = n;
    for (const std::size_t p : {2, 3, 5}) {
      while (rest % p == 0) rest /= p;
    }
    if (rest == 1) return n;
  }
}

Problem padded_modes(const DealiasedProblem& problem) {
  if (problem.modes.empty() || problem.modes.size() > 3 || std::ranges::count(problem.modes, 0) > 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("fft: a dealiased product needs one to three axes of at least one mode, got {} axes{}",
                            problem.modes.size(), std::ranges::count(problem.modes, 0) > 0 ? " and 0 modes" : ""));
  }
  Problem whole{.kind = problem.kind, .threads = problem.threads};
  whole.wanted.count = problem.modes;
  for (std::size_t axis = 0; axis < problem.modes.size(); ++axis) {
    const std::size_t n = problem.modes[axis];
    const bool half = problem.kind == Kind::real && axis + 1 == problem.modes.size();
    // Sums of two frequencies must not wrap into the modes: they reach -2 (n/2) and 2 (n-1), from -(n-1) for halves.
    const std::size_t points = smooth_length(half ? 3 * n - 2 : (3 * n + 1) / 2);
    whole.shape.push_back(points);
    whole.wanted.first.push_back(half ? 0 : (points - n / 2) % points);
    whole.scale_forward /= static_cast<double>(points);
  }
  return whole;
}

}  // namespace

template <class T>
DealiasedProduct<T>::DealiasedProduct(const DealiasedProblem& problem, const planner::Options& options)
    : plan_(host(), padded_modes(problem), options) {}

template <class T>
std::size_t DealiasedProduct<T>::size() const {
  return plan_.output_size();
}
template <class T>
const std::vector<std::size_t>& DealiasedProduct<T>::grid() const {
  return plan_.problem().shape;
}

template <class T>
void DealiasedProduct<T>::run(std::span<const Complex> a, std::span<const Complex> b, std::span<Complex> out) const {
  for (const std::size_t length : {a.size(), b.size(), static_cast<std::span<const Complex>>(out).size()}) {
    planner::check_length("fft", "modes", length * sizeof(Complex), size() * sizeof(Complex));
  }
  const auto product = [&]<class Value>(Value) {
    std::vector<Value> first(plan_.input_size()), second(first.size());
    plan_.inverse(a, std::span(first));
    plan_.inverse(b, std::span(second));
    for (std::size_t i = 0; i < first.size(); ++i) {
      const Value u = first[i], v = second[i];
      if constexpr (std::is_same_v<Value, T>) {
        first[i] = u * v;
      } else {
        first[i] = {u.real() * v.real() - u.imag() * v.imag(), u.real() * v.imag() + u.imag() * v.real()};
      }
    }
    plan_.forward(std::span<const Value>(first), out);
  };
  plan_.problem().kind == Kind::real ? product(T()) : product(Complex());
}

template class DealiasedProduct<float>;
template class DealiasedProduct<double>;

}  // namespace ridge::fft
