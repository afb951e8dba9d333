// Redistribution of a grid from one set of boxes to another in a single exchange.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

class Route;  // src/mpi/route.hpp

// Element: float, double, std::complex of them, std::int32_t, std::uint8_t.
template <class Element>
class Redistribute {
 public:
  // This process's boxes; on each side the boxes of all processes must tile the shape. `batch` grids, consecutive in
  // memory.
  Redistribute(const Communicator& communicator, const Shape& shape, const Box& from, const Box& to,
               std::size_t batch = 1);
  void run(std::span<const Element> in, std::span<Element> out) const;
  std::size_t bytes_sent() const;  // by this process, per run
  // The redistribution back, which is also the inverse. Collective: every process of the communicator calls it.
  Redistribute adjoint() const;

 private:
  Shape shape_;
  Box from_, to_;
  std::size_t batch_;
  std::shared_ptr<const Route> route_;
};

}  // namespace ridge::mpi
