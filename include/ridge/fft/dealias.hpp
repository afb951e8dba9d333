// Products of fields that are given by their Fourier modes, without aliasing (the 3/2 rule): both fields are
// transformed to a grid of 3/2 as many points per axis, multiplied, and transformed back to the modes. The zeros around
// the modes are neither stored nor transformed. On the host.
//
//   ridge::fft::DealiasedProduct<double> product({.modes = {64, 64, 64}});
//   product.run(u, v, uv);                            // uv[k] = sum of u[p] v[q] over all modes with p + q = k
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

struct DealiasedProblem {
  // Modes per axis, one to three axes. An axis of n modes has the frequencies -(n/2) ... (n-1)/2 in ascending order;
  // the last axis of real fields has the frequencies 0 ... n-1.
  std::vector<std::size_t> modes = {};
  Kind kind = Kind::complex;
  std::size_t threads = 0;  // 0 = all
};

// Cheap to copy. Any number of threads may run it.
template <class T>
class DealiasedProduct {
 public:
  using Complex = std::complex<T>;
  explicit DealiasedProduct(const DealiasedProblem& problem,
                            const planner::Options& options = {.effort = Effort::quick});
  // `out` may be `a` or `b`.
  void run(std::span<const Complex> a, std::span<const Complex> b, std::span<Complex> out) const;
  std::size_t size() const;                      // modes of all axes
  const std::vector<std::size_t>& grid() const;  // points per axis of the padded transforms
  std::string explain() const { return plan_.explain(); }

 private:
  Plan<T> plan_;
};

}  // namespace ridge::fft
