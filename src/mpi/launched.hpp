// What a program that mpirun or srun may have started begins with.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

// What the environment says of the launcher that started this process.
struct Launch {
  std::string variable{};  // the one that says so, with its value; empty: none
  std::size_t count = 0;   // processes; 0 where a launcher was there that does not say
  std::size_t rank = 0;
  bool others() const { return count > 1 || rank > 0; }                    // certainly several
  bool perhaps_others() const { return !variable.empty() && count != 1; }  // MPI will know
};
Launch launch();

// Processes of one machine that may use the very same cores divide them: this one is tied to its share. Binding by the
// launcher is left alone. Call before threads are made.
void divide_cores(const Communicator& all);

}  // namespace ridge::mpi
