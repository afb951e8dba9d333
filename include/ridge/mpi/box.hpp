// The part of a grid that a process holds, and its memory layout.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace ridge::mpi {

using Shape = std::vector<std::size_t>;  // one to three axes, slowest first

// The points begin <= i < end of each axis; axes missing in a shape are 0 to 1. Empty if one extent is 0.
struct Box {
  std::array<std::size_t, 3> begin{0, 0, 0}, end{1, 1, 1};
  std::array<int, 3> order{0, 1, 2};  // axes from the slowest in memory to the fastest; packed
  std::size_t extent(std::size_t axis) const { return end[axis] - begin[axis]; }
  std::size_t size() const { return extent(0) * extent(1) * extent(2); }
  std::array<std::size_t, 3> strides() const;  // per axis, in elements
  bool same_points(const Box& other) const { return begin == other.begin && end == other.end; }
  bool operator==(const Box&) const = default;
};

std::string to_string(const Box& box);         // "[0,64) x [0,128) x [0,128)"
Box intersection(const Box& a, const Box& b);  // in a's order

// Part i of n items divided into p parts whose sizes differ by at most one.
struct Part {
  std::size_t begin, end;
};
Part part(std::size_t n, std::size_t i, std::size_t p);

// One box per process. slabs: one axis is divided. pencils: the two axes other than `whole` are divided into rows x
// columns, slower axis first. bricks: all axes, as evenly as the number of processes allows.
std::vector<Box> slabs(const Shape& shape, std::size_t processes, std::size_t axis = 0);
std::vector<Box> pencils(const Shape& shape, std::size_t rows, std::size_t columns, std::size_t whole);
std::vector<Box> bricks(const Shape& shape, std::size_t processes);

// Error{invalid_argument} unless every point of the shape is in exactly one box; names the rank at fault.
void must_tile(const Shape& shape, const std::vector<Box>& boxes, const std::string& what);

}  // namespace ridge::mpi
