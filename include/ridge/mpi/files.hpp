// Files that many processes read and write together, each its own points. A .npy file, last axis fastest; a file system
// that all of them see.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

// Element: float, double, std::complex of them, std::int32_t, std::uint8_t. By all; the file must hold that type and
// shape. The boxes need not tile it.
template <class Element>
void read_npy(const Communicator& all, const std::string& path, const Shape& shape, const Box& box,
              std::span<Element> data);

// By all; the boxes tile the shape. The file appears under its name when all of it is written, and not at all else.
template <class Element>
void write_npy(const Communicator& all, const std::string& path, const Shape& shape, const Box& box,
               std::span<const Element> data);

}  // namespace ridge::mpi
