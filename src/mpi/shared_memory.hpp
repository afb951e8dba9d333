// Memory of the processes of one machine, by files that have no name. MPI's windows do the same, but freeing one waits
// for the others, which a process that has failed must not, and their backing file may lie where there is little room.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

// By all processes, all on one machine: where each one's `bytes` lie here, one after the other, each a whole number
// of pages. What is returned holds them; nothing, and no
// parts, where one process could not have its own or see another's.
std::shared_ptr<void> share_memory(const Communicator& all, std::size_t bytes, std::vector<void*>& parts);

}  // namespace ridge::mpi
