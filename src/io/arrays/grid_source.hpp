// Input of all grid writers: named fields of one structured grid, delivered a few slabs of the slowest axis at a time,
// so that a distributed grid never has to fit the memory of one machine.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/arrays/npy.hpp"

namespace ridge::io {

struct GridSource {
  std::vector<std::size_t> shape;  // slowest axis first, one to three axes
  ElementType type = ElementType::float32;
  std::vector<std::string> names;          // one per field
  std::array<double, 3> spacing{1, 1, 1};  // per axis, in the order of the shape
  // Reads slabs [begin, end) of the slowest axis of one field, packed.
  std::function<void(std::size_t field, std::size_t begin, std::size_t end, void* to)> read;

  std::size_t slab_cells() const;  // cells per slab
  std::size_t cells() const;
};

// Slabs delivered at a time: about `bytes`, at least one slab.
std::size_t slabs_at_a_time(const GridSource& source, std::size_t bytes = std::size_t{4} << 20);

// Throws Error{invalid_argument} if the source does not describe a grid.
void check(const GridSource& source);

// Calls use(begin, end, bytes) block by block, for one field after another.
using UseSlabs = std::function<void(std::size_t field, std::size_t begin, std::size_t end, const std::byte* bytes)>;
void for_each_piece(const GridSource& source, const UseSlabs& use);
void for_each_piece(const GridSource& source, std::size_t field, const UseSlabs& use);

// Copies slabs of a field in memory.
void copy_slabs(const void* field, std::size_t slab_bytes, std::size_t begin, std::size_t end, void* to);

}  // namespace ridge::io
