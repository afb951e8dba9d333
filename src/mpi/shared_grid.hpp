// A grid in memory that the processes of one machine share. They take tiles from one counter, so that a slow core
// computes fewer of them; a grid that is divided among processes waits for the slowest one.
#pragma once
#include <memory>
#include <string>

#include <ridge/mpi/communicator.hpp>
#include "stencil/domain.hpp"

namespace ridge::mpi {

// Why the processes cannot share a grid of this update; empty if they can.
template <class T>
std::string why_not_shared(const Communicator& processes, const Device& device, const ridge::stencil::Update<T>& update,
                           const ridge::stencil::Problem& problem, const ridge::stencil::DomainOptions& options);

template <class T>
std::unique_ptr<ridge::stencil::Domain<T>> shared_grid(const Communicator& processes, const Device& device,
                                                       const ridge::stencil::Update<T>& update,
                                                       const ridge::stencil::Problem& problem,
                                                       const ridge::stencil::DomainOptions& options);

}  // namespace ridge::mpi
