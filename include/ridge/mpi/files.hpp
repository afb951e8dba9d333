// Parallel input and output of .npy files, last axis fastest: each process reads or writes its own points. Needs a file
// system that all processes share.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

// Element: float, double, std::complex of them, std::int32_t, std::uint8_t. Collective. The file must have that type
// and shape. The boxes need not cover it.
template <class Element>
void read_npy(const Communicator& all, const std::string& path, const Shape& shape, const Box& box,
              std::span<Element> data);

// Collective; the boxes must tile the shape. The file appears under its name only when it is complete.
template <class Element>
void write_npy(const Communicator& all, const std::string& path, const Shape& shape, const Box& box,
               std::span<const Element> data);

}  // namespace ridge::mpi
