// Fourier transform of the fine grid that computes only the lines that carry modes. The other columns are neither
// transformed nor read afterwards: with twice as many cells as modes per axis, 3/4 of the lines remain in 2D and 7/12
// in 3D. The lines are fixed units of work, so the answer does not depend on the number of threads.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::nufft {

// Parallel lines of one length, transformed in place, a fixed number of lines per unit.
template <class T>
class Lines {
 public:
  // `stride` is the distance between points of a line, `distance` that between lines, in complex numbers.
  Lines(std::size_t length, std::size_t count, std::size_t stride, std::size_t distance,
        const planner::Options& options);
  std::size_t units() const { return (count_ + each_ - 1) / each_; }
  void run(std::size_t unit, int sign, std::complex<T>* first_line) const;
  std::vector<planner::Decision> decisions() const;

 private:
  std::size_t count_, each_, distance_;
  std::shared_ptr<const fft::Plan<T>> whole_, rest_;  // plans of each_ lines, and of the last unit; null if unused
};

template <class T>
class PrunedTransform {
 public:
  PrunedTransform(const std::array<std::size_t, 3>& cells, const std::array<std::size_t, 3>& modes, std::size_t threads,
                  const planner::Options& options);
  // Transforms the grid in place, unscaled, with exp(sign * i ...). Only the modes are valid afterwards; frequency k is
  // at cell k modulo the axis.
  void to_modes(int sign, std::complex<T>* grid) const;
  // The same; all cells but the modes are zero before.
  void from_modes(int sign, std::complex<T>* grid) const;
  std::vector<planner::Decision> decisions() const;

 private:
  // Lines of one axis for the modes of the fastest axis: those at its beginning and those at its end.
  struct Columns {
    Lines<T> low, high;
    std::size_t high_offset;
    std::size_t units() const { return low.units() + high.units(); }
    void run(std::size_t unit, int sign, std::complex<T>* at) const;
  };
  void first_axis(int sign, std::complex<T>* grid) const;

  std::array<std::size_t, 3> cells_, modes_;
  std::size_t threads_;
  Lines<T> rows_;
  Columns second_, first_;
};

}  // namespace ridge::nufft
