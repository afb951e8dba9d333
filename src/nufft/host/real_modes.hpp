// Modes of real values: the transform between a real fine grid and the half of its spectrum that carries modes. The
// half has the frequencies 0 ... n/2 of the fastest axis and -(n/2) ... n/2 of the others; the other half is its
// conjugate.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "nufft/layout.hpp"

namespace ridge::nufft {

// The transform of a real grid of `cells`: forward() writes the half spectrum, inverse() reads it.
fft::Problem half_spectrum_problem(const Layout& layout, const std::array<std::size_t, 3>& cells);

template <class T>
class RealModes {
 public:
  using Complex = std::complex<T>;
  // `factors`: of the modes per axis, from frequency -(n/2) on.
  RealModes(const Layout& layout, const std::array<std::size_t, 3>& cells, std::array<std::vector<T>, 3> factors,
            const planner::Options& options);
  void to_modes(int sign, std::span<const T> grid, Complex* modes) const;
  // The grid whose values at points are the real part of the sum of modes[k] * exp(sign * i * k . x).
  void from_modes(int sign, const Complex* modes, std::span<T> grid) const;
  std::vector<planner::Decision> decisions() const { return transform_.decisions(); }

 private:
  Layout layout_;
  std::array<std::vector<T>, 3> factors_;
  fft::Plan<T> transform_;
  mutable base::AlignedArray<Complex> half_;
};

}  // namespace ridge::nufft
