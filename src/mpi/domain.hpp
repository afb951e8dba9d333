// A grid over many processes: each owns a box of it, computes a deep halo besides, and exchanges halos once a temporal
// block.
#pragma once
#include <memory>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>
#include "stencil/domain.hpp"

namespace ridge::mpi {

// A part of a grid of so many axes as a box.
Box box_of(const ridge::stencil::Box& part, std::size_t axes);

// In one process a local domain.
template <class T>
std::unique_ptr<ridge::stencil::Domain<T>> make_domain(const Communicator& processes, const Device& device,
                                                       const ridge::stencil::Update<T>& update,
                                                       const ridge::stencil::Problem& problem,
                                                       const ridge::stencil::DomainOptions& options);

}  // namespace ridge::mpi
