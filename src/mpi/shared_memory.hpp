// Memory shared by the processes of one machine, through anonymous files (memfd). Freeing an MPI window waits for the
// other processes, which a failed process must not do, and its backing file may be on a small file system.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

// Collective, all processes on one machine. Maps every process's `bytes` consecutively, each part rounded up to whole
// pages, and returns the owner of the mappings. Returns null and no parts if a process cannot allocate its part or map
// another's.
std::shared_ptr<void> share_memory(const Communicator& all, std::size_t bytes, std::vector<void*>& parts);

}  // namespace ridge::mpi
