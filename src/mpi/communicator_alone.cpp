// Communicator of a single process: built instead of communicator_mpi.cpp if MPI was not found.
#include <ridge/mpi/communicator.hpp>

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/temporaries.hpp"
#include "base/threads.hpp"
#include "mpi/launched.hpp"

namespace ridge::mpi {

struct Communicator::State {};
struct Communicator::Pending::State {};

Communicator::Pending::Pending() = default;
Communicator::Pending::~Pending() = default;
Communicator::Pending::Pending(Pending&&) noexcept = default;
Communicator::Pending& Communicator::Pending::operator=(Pending&&) noexcept = default;
bool Communicator::Pending::test() { return true; }
void Communicator::Pending::wait() {}

Communicator Communicator::alone() { return Communicator(nullptr); }
Communicator Communicator::world() {
  if (const Launch found = launch(); found.others()) {
    throw Error(
        ErrorKind::unavailable,
        fmt::format("several processes were started ({}), but this ridge was built without MPI (apt-get install "
                    "libopenmpi-dev openmpi-bin, then build again)",
                    found.variable));
  }
  return alone();
}
Communicator Communicator::from(int) {
  throw Error(ErrorKind::unavailable, "this ridge was built without MPI: only a single process is available");
}
bool Communicator::knows_cuda_memory() const { return false; }
Communicator Communicator::split(std::size_t) const { return *this; }
std::size_t Communicator::rank() const { return 0; }
std::size_t Communicator::count() const { return 1; }
std::size_t Communicator::rank_here() const { return 0; }
std::size_t Communicator::count_here() const { return 1; }
std::size_t Communicator::machines() const { return 1; }
std::size_t Communicator::machine_of(std::size_t) const { return 0; }
std::size_t Communicator::threads() const { return base::hardware_threads(); }
bool Communicator::can_overlap() const { return false; }
void Communicator::set_deadline(double) const {}
void Communicator::barrier() const {}
void Communicator::broadcast(void*, std::size_t) const {}
double Communicator::largest(double value) const { return value; }
double Communicator::sum(double value) const { return value; }
void Communicator::gather(const void* mine, std::size_t bytes, void* all) const {
  if (bytes > 0) std::memcpy(all, mine, bytes);
}
void Communicator::post(Pending&, std::span<const Message> out, std::span<const Message> in) const {
  if (!out.empty() || !in.empty()) throw Error(ErrorKind::internal, "messages between processes without MPI");
}
void Communicator::exchange_during(const std::vector<Message>& out, const std::vector<Message>& in,
                                   const std::function<void()>& work) const {
  exchange(out, in);
  work();
}
Communicator::Shared Communicator::share(std::size_t) const { return {}; }
void Communicator::publish(const Shared&) const {}
void Communicator::abort(int code) const {
  base::remove_temporaries();
  std::_Exit(code);
}

}  // namespace ridge::mpi
