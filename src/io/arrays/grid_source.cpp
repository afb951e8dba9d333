// Delivers the slabs of a grid in memory, and checks names and sizes of fields.
#include "io/arrays/grid_source.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"

namespace ridge::io {

std::size_t GridSource::slab_cells() const {
  std::size_t cells = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) cells *= shape[axis];
  return cells;
}

std::size_t GridSource::cells() const { return shape.empty() ? 0 : shape[0] * slab_cells(); }

std::size_t slabs_at_a_time(const GridSource& source, std::size_t bytes) {
  const std::size_t slab = std::max<std::size_t>(1, source.slab_cells() * bytes_of(source.type));
  return std::clamp<std::size_t>(bytes / slab, 1, std::max<std::size_t>(1, source.shape.at(0)));
}

void check(const GridSource& source) {
  if (source.shape.empty() || source.shape.size() > 3) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("needs a grid of one to three axes, got {}", source.shape.size()));
  }
  std::size_t bytes = bytes_of(source.type);
  for (const std::size_t side : source.shape) {
    if (side == 0 || __builtin_mul_overflow(bytes, side, &bytes)) {
      throw Error(ErrorKind::invalid_argument, "a grid has a side of 0, or more cells than can be addressed");
    }
  }
  if (source.names.empty() || is_complex(source.type)) {
    throw Error(ErrorKind::invalid_argument, "a grid without fields, or of complex numbers, cannot be written");
  }
}

void for_each_piece(const GridSource& source, std::size_t field, const UseSlabs& use) {
  const std::size_t at_a_time = slabs_at_a_time(source);
  base::AlignedArray<std::byte> piece(at_a_time * source.slab_cells() * bytes_of(source.type));
  for (std::size_t begin = 0; begin < source.shape[0]; begin += at_a_time) {
    const std::size_t end = std::min(source.shape[0], begin + at_a_time);
    source.read(field, begin, end, piece.data());
    use(field, begin, end, piece.data());
  }
}

void for_each_piece(const GridSource& source, const UseSlabs& use) {
  for (std::size_t field = 0; field < source.names.size(); ++field) for_each_piece(source, field, use);
}

void copy_slabs(const void* field, std::size_t slab_bytes, std::size_t begin, std::size_t end, void* to) {
  std::memcpy(to, static_cast<const std::byte*>(field) + begin * slab_bytes, (end - begin) * slab_bytes);
}

}  // namespace ridge::io
