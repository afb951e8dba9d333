// A communicator's calls of MPI behind an interface: communicator_mpi.cpp implements it, in libridge_mpi and in the
// plugin that the command opens only when a launcher started several processes.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include <ridge/error.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

// Messages in flight.
struct Communicator::Pending::State {
  virtual ~State() = default;
  virtual bool test() = 0;
  virtual void wait() = 0;
};

// The default is a single process, whose Communicator calls none of the functions.
struct Communicator::State : std::enable_shared_from_this<State> {
  std::size_t rank = 0, count = 1, rank_here = 0, count_here = 1, machines = 1, threads = 1;
  std::vector<std::size_t> machine_of{0};
  bool can_overlap = false;
  double deadline = 0;

  virtual ~State() = default;
  virtual std::shared_ptr<State> split(std::size_t) const { alone(); }
  virtual bool knows_cuda_memory() const { alone(); }
  virtual void barrier() const { alone(); }
  virtual void broadcast(void*, std::size_t) const { alone(); }
  virtual double largest(double) const { alone(); }
  virtual double sum(double) const { alone(); }
  virtual void gather(const void*, std::size_t, void*) const { alone(); }
  virtual void post(std::unique_ptr<Pending::State>&, std::span<const Message>, std::span<const Message>) const {
    alone();
  }
  [[noreturn]] virtual void end_all(int code) const { std::_Exit(code); }

 private:
  [[noreturn]] static void alone() { throw Error(ErrorKind::internal, "messages between processes without MPI"); }
};

// Functions of the program that opened the plugin: the plugin's own copies of them have data of their own.
struct Services {
  void (*remove_temporaries)() noexcept;
  std::size_t (*hardware_threads)();
};

// The processes started together, or null if this is the only one. Defined in communicator_mpi.cpp, and for the command
// in src/command/mpi_plugin.cpp.
std::shared_ptr<Communicator::State> mpi_world(const Services& services);
// The processes of an MPI communicator (Communicator::from).
std::shared_ptr<Communicator::State> mpi_from(int handle, const Services& services);

// Memory shared by the processes of one machine, through anonymous files (memfd). Freeing an MPI window waits for the
// other processes, which a failed process must not do, and its backing file may be on a small file system.
// Collective, all processes on one machine. Maps every process's `bytes` consecutively, each part rounded up to whole
// pages, and returns the owner of the mappings. Returns null and no parts if a process cannot allocate its part or map
// another's.
std::shared_ptr<void> share_memory(const Communicator& all, std::size_t bytes, std::vector<void*>& parts);

}  // namespace ridge::mpi
