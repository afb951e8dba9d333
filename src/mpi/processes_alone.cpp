// Built in place of processes_mpi.cpp where MPI was not found.
#include <cstdlib>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "mpi/processes.hpp"

namespace ridge::mpi {
namespace {

[[noreturn]] void impossible() { throw Error(ErrorKind::internal, "messages between processes without MPI"); }

}  // namespace

Processes::Processes() {
  if (const Launch found = launch(); found.others()) {
    throw Error(
        ErrorKind::unavailable,
        fmt::format("several processes were started ({}), but this ridge was built without MPI (apt-get install "
                    "libopenmpi-dev openmpi-bin, then build again)",
                    found.variable));
  }
}
Processes::~Processes() = default;
void Processes::broadcast(void*, std::size_t) const {}
double Processes::largest(double value) const { return value; }
void Processes::barrier() const {}
void Processes::send(std::size_t, const void*, std::size_t) const { impossible(); }
void Processes::receive(std::size_t, void*, std::size_t) const { impossible(); }
void Processes::exchange(const std::vector<Message>&, const std::vector<Message>&) const { impossible(); }
void Processes::exchange_during(const std::vector<Message>&, const std::vector<Message>&,
                                const std::function<void()>&) const {
  impossible();
}
void Processes::abort(int code) const { std::_Exit(code); }

}  // namespace ridge::mpi
