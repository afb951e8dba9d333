// Grids in memory for the tests of writers.
#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "io/arrays/grid_source.hpp"
#include "support/error_of.hpp"

namespace ridge::test {

template <class T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr auto value = io::ElementType::float32;
};
template <>
struct TypeOf<double> {
  static constexpr auto value = io::ElementType::float64;
};
template <>
struct TypeOf<std::int32_t> {
  static constexpr auto value = io::ElementType::int32;
};

template <class T>
struct MemoryGrid {
  std::vector<std::size_t> shape;
  std::vector<std::string> names;
  std::vector<std::vector<T>> fields;

  MemoryGrid(std::vector<std::size_t> shape_, std::vector<std::string> names_)
      : shape(std::move(shape_)), names(std::move(names_)) {
    std::size_t cells = 1;
    for (const std::size_t side : shape) cells *= side;
    fields.assign(names.size(), std::vector<T>(cells));
    for (std::size_t field = 0; field < fields.size(); ++field) {
      for (std::size_t i = 0; i < cells; ++i) {
        fields[field][i] = static_cast<T>((i * 7919 + field * 104729) % 1009) / T(8);
      }
    }
  }

  io::GridSource source() const {
    io::GridSource source{shape, TypeOf<T>::value, names, {1, 1, 1}, {}};
    source.read = [this, bytes = source.slab_cells() * sizeof(T)](std::size_t field, std::size_t begin, std::size_t end,
                                                                  void* to) {
      io::copy_slabs(fields[field].data(), bytes, begin, end, to);
    };
    return source;
  }
};

inline std::string contents(const std::filesystem::path& path) {
  const auto bytes = base::read_file(path, std::size_t{1} << 30);
  EXPECT_TRUE(bytes) << path;
  return bytes.value_or("");
}

}  // namespace ridge::test
