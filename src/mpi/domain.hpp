// A grid distributed over processes: each owns a box, computes a deep halo around it, and exchanges halos once per
// temporal block.
#pragma once
#include <memory>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>
#include "stencil/domain.hpp"

namespace ridge::mpi {

// Converts a stencil box of a grid with `axes` axes to an MPI box.
Box box_of(const ridge::stencil::Box& part, std::size_t axes);

// Returns a local domain if there is only one process.
template <class T>
std::unique_ptr<ridge::stencil::Domain<T>> make_domain(const Communicator& processes, const Device& device,
                                                       const ridge::stencil::Update<T>& update,
                                                       const ridge::stencil::Problem& problem,
                                                       const ridge::stencil::DomainOptions& options);

}  // namespace ridge::mpi
