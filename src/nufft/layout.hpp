// A nonuniform problem with checked sizes and all axes filled in: the input of every variant.
#pragma once
#include <array>
#include <cstddef>
#include <string>

#include <ridge/nufft.hpp>

namespace ridge::nufft {

struct Layout {
  Type type = Type::to_modes;
  std::size_t axes = 1;                       // of the problem
  std::array<std::size_t, 3> modes{1, 1, 1};  // slowest first; unused leading axes have one mode
  std::size_t points = 0;                     // expected, at least 1
  double epsilon = 1e-6;
  int sign = +1;
  std::size_t batch = 1;
  Order order = Order::centered;
  bool fold = true;
  double upsampling = 0;
  std::size_t threads = 1;
  bool float64 = false;
  bool real = false;   // strengths and values are real numbers
  bool turns = false;  // devices: buffers of coordinates hold 32-bit integers, 2^32 per period (type 3 in float)

  std::size_t parts() const { return real ? 1 : 2; }                         // numbers of a strength or value
  std::size_t first_axis() const { return 3 - axes; }                        // index of the coordinate x
  std::size_t mode_count() const { return modes[0] * modes[1] * modes[2]; }  // of one set
  std::size_t complex_bytes() const { return float64 ? 16 : 8; }
  double roundoff() const { return float64 ? 0x1p-53 : 0x1p-24; }
  std::string key() const;  // text that identifies the problem, equal in every process
};

// Throws Error{invalid_argument} for empty shapes, sizes beyond the address space, signs other than +1 and -1, and an
// epsilon that the type cannot deliver.
template <class T>
Layout resolve(const Problem& problem);

// Throws Error{invalid_argument} unless epsilon is at most 0.1 and at least `least`.
void check_epsilon(double epsilon, double least, bool float64);

// Position of frequency -(n/2) + i of an axis in an array of n modes.
inline std::size_t stored_at(Order order, std::size_t n, std::size_t i) {
  return order == Order::centered ? i : (i + (n - n / 2)) % n;
}

}  // namespace ridge::nufft
