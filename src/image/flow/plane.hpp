// Planes of values that the reference stages of the flow exchange (packed rows, no border), and the flow's cost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ridge/image.hpp>

namespace ridge::image::flow {

struct Size {
  int rows = 0, columns = 0;
  bool operator==(const Size&) const = default;
  std::size_t cells() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
};

template <class T>
struct Plane {
  Size size = {};
  std::vector<T> cells = {};
  Plane() = default;
  explicit Plane(Size size_, T value = T{}) : size(size_), cells(size_.cells(), value) {}
  T& at(int r, int c) { return cells[index(r, c)]; }
  const T& at(int r, int c) const { return cells[index(r, c)]; }

 private:
  std::size_t index(int r, int c) const {
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(size.columns) + static_cast<std::size_t>(c);
  }
};

struct Pixel {  // three colours in any order: the flow does not depend on it
  std::uint8_t c[3];
  bool operator==(const Pixel&) const = default;
};
struct Vector {  // internal flow is (rows down, columns right); the output is (x, y)
  float u = 0, v = 0;
  bool operator==(const Vector&) const = default;
};
using Picture = Plane<Pixel>;
using Field = Plane<Vector>;
using Mask = Plane<std::uint8_t>;

inline Size half(Size size) { return {(size.rows + 1) / 2, (size.columns + 1) / 2}; }
inline int squared_distance(Pixel a, Pixel b) {
  const int x = a.c[0] - b.c[0], y = a.c[1] - b.c[1], z = a.c[2] - b.c[2];
  return x * x + y * y + z * z;
}
inline float squared_distance(Vector a, Vector b) { return (a.u - b.u) * (a.u - b.u) + (a.v - b.v) * (a.v - b.v); }

Picture picture_of(const Image& frame);  // 8-bit, 1, 3 or 4 channels

// Cost model of the flow, counted by its definition: 10 operations per product of the search; 16 and an exponential per
// pair of the filter.
double searched_pixels(const FlowProblem& problem);  // both directions, all levels; half the pixels of the finest
double filter_pairs(const FlowProblem& problem);
double plain_operations(const FlowProblem& problem);

}  // namespace ridge::image::flow

// Argument check of flow fields.
namespace ridge::image {

// Throws if the image is not two channels of float.
void check_field(const Image& flow);

}  // namespace ridge::image
