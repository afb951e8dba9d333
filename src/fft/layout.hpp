// The resolved memory layout of a problem: all strides filled in, all limits checked, shared elements found.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

inline constexpr std::size_t kMostAxes = 3;

// One side of a transform: the samples or the spectrum.
struct Side {
  std::array<std::size_t, kMostAxes> shape{1, 1, 1};
  std::array<std::size_t, kMostAxes> strides{0, 0, 0};  // in elements of this side
  std::size_t batch = 0;
  std::size_t extent = 0;      // elements from the first to the last one used, inclusive
  bool aliases = false;        // two points share an element: may be read, not written
  std::size_t points() const;  // points of one transform
};

// Points of one axis, which may continue at its beginning.
struct AxisRange {
  std::size_t first = 0, count = 1;
};

struct Layout {
  std::size_t axes = 1;
  Side samples, spectrum;  // shapes are those of the boxes
  bool boxed = false;      // a box is smaller than the shape
  std::array<AxisRange, kMostAxes> given{}, wanted{};
};

// Throws Error{invalid_argument} for every problem that cannot be run with any data.
Layout resolve(const Problem& problem);

// 5 N log2 N over the batch, half of it for real; boxes do not change it.
double usual_flops(const Problem& problem);
// Bytes moved if samples and spectrum are accessed once each; `number`: bytes per number of the plan's type.
double least_bytes(const Layout& layout, const Problem& problem, std::size_t number);

// Bytes per number in the caller's arrays, except for integer samples.
inline std::size_t number_bytes(const Problem& problem, bool float64) {
  return problem.storage != Storage::same ? 2 : float64 ? 8 : 4;
}

// "1024", "64x64": for keys and messages.
std::string shape_text(const Problem& problem);

// Tests whether strides map two different index tuples to the same element.

// An index below `count` with a stride of `step` elements.
struct Run {
  std::size_t count, step;
};

// Returns true if two index tuples map to the same element. Nested runs do not. Other cases are enumerated if that is
// affordable, else assumed to share.
bool share_elements(std::vector<Run> runs);

// Weights of a half spectrum: the number of values of the whole spectrum that each stored value represents.
// 1 at frequency 0 and, for even n, at n/2; 2 elsewhere. n is the length of the real samples.
inline std::vector<double> half_spectrum_weights(std::size_t n) {
  std::vector<double> weights(n / 2 + 1, 2.0);
  weights.front() = 1;
  if (n % 2 == 0) weights.back() = 1;
  return weights;
}

}  // namespace ridge::fft
