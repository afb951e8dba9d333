// What every writer of grids takes: named fields of one structured grid, handed over a few slabs of the slowest axis at
// a time, so that a grid spread over many machines never has to lie whole in one of them.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/npy.hpp"

namespace ridge::io {

struct GridSource {
  std::vector<std::size_t> shape;  // slowest axis first, one to three axes
  ElementType type = ElementType::float32;
  std::vector<std::string> names;          // a field each
  std::array<double, 3> spacing{1, 1, 1};  // of the axes in the order of the shape
  // Slabs [begin, end) of the slowest axis of one field, packed.
  std::function<void(std::size_t field, std::size_t begin, std::size_t end, void* to)> read;

  std::size_t slab_cells() const;  // cells of one slab
  std::size_t cells() const;
};

// Slabs that are handed over at a time: about `bytes`, one at least.
std::size_t slabs_at_a_time(const GridSource& source, std::size_t bytes = std::size_t{4} << 20);

// Error{invalid_argument} for a source that describes no grid.
void check(const GridSource& source);

// Calls use(begin, end, bytes) for one field after the other piece by piece.
using UseSlabs = std::function<void(std::size_t field, std::size_t begin, std::size_t end, const std::byte* bytes)>;
void for_each_piece(const GridSource& source, const UseSlabs& use);
void for_each_piece(const GridSource& source, std::size_t field, const UseSlabs& use);

// Slabs of a shape that a field in memory has.
void copy_slabs(const void* field, std::size_t slab_bytes, std::size_t begin, std::size_t end, void* to);

}  // namespace ridge::io
