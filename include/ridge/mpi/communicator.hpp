// Groups of processes. Needs no MPI header; a single process needs no MPI at all.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ridge::mpi {

// A handle, cheap to copy. All processes make the same calls in the same order. agree() reports a failure of one
// process to all; the deadline reports a process that does not arrive.
class Communicator {
 public:
  static Communicator alone();  // this process only
  // All processes that were started together. Initializes MPI if necessary, and then finalizes it at program exit.
  static Communicator world();
  // Duplicates an MPI communicator, given by MPI_Comm_c2f(communicator), so that messages do not interfere with the
  // caller's. MPI must be initialized; after MPI_Init (no thread support) plans use one thread per process.
  static Communicator from(int handle);

  // Collective: groups the processes that pass the same number, in the order of their ranks.
  Communicator split(std::size_t group) const;

  std::size_t rank() const;
  std::size_t count() const;
  std::size_t rank_here() const;   // rank among the processes of this machine
  std::size_t count_here() const;  // processes on this machine
  std::size_t machines() const;
  std::size_t machine_of(std::size_t rank) const;
  std::size_t threads() const;  // this process's share of its machine's cores
  bool root() const { return rank() == 0; }

  // Maximum time to wait for another process; then the missing ranks are reported and all processes are terminated. 0:
  // no limit, unless RIDGE_MPI_DEADLINE gives a number of seconds.
  void set_deadline(double seconds) const;

  // Collective calls.
  void barrier() const;
  void broadcast(void* data, std::size_t bytes) const;  // from the root
  double largest(double value) const;
  double sum(double value) const;
  void gather(const void* mine, std::size_t bytes, void* all) const;  // all-gather, in the order of ranks
  // Runs `check` in every process. If it throws in any of them, all throw the error of the lowest failing rank: "rank
  // 2: ...".
  void agree(const std::function<void()>& check) const;
  // Error{invalid_argument} showing both texts unless all processes pass the same text.
  void must_be_equal(const std::string& words) const;

  // Point-to-point messages.
  void send(std::size_t to, const void* data, std::size_t bytes) const;
  void receive(std::size_t from, void* data, std::size_t bytes) const;

  struct Message {
    std::size_t rank;
    int tag;
    void* data;
    std::size_t bytes;
  };
  // Messages in flight. Lengths are checked on arrival.
  class Pending {
   public:
    Pending();
    ~Pending();  // waits
    Pending(Pending&&) noexcept;
    Pending& operator=(Pending&&) noexcept;
    bool test();  // makes progress; true if all have arrived
    void wait();
    struct State;  // implementation

   private:
    friend class Communicator;
    std::unique_ptr<State> state_;
  };
  void post(Pending& pending, std::span<const Message> out, std::span<const Message> in) const;
  void exchange(const std::vector<Message>& out, const std::vector<Message>& in) const;
  // Exchanges messages while `work` runs, on a second thread; before `work` if this MPI does not support threads.
  void exchange_during(const std::vector<Message>& out, const std::vector<Message>& in,
                       const std::function<void()>& work) const;
  bool can_overlap() const;
  // True if this MPI reports that messages may be in CUDA device memory.
  bool knows_cuda_memory() const;

  // Memory shared by all processes of one machine, writable by each; allocated and freed collectively.
  class Shared {
   public:
    Shared() = default;
    void* of(std::size_t rank) const { return parts_[rank]; }
    bool empty() const { return parts_.empty(); }

   private:
    friend class Communicator;
    std::shared_ptr<void> window_;
    std::vector<void*> parts_;
  };
  // Empty if unavailable. The parts are consecutive, each a whole number of pages, and 0 after the next barrier.
  Shared share(std::size_t bytes) const;
  void publish(const Shared& memory) const;  // barrier: stores made before it are visible to all afterwards

  // Terminates all processes with an exit code, after a failure for which the others would wait.
  [[noreturn]] void abort(int code) const;
  struct State;  // implementation

 private:
  explicit Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace ridge::mpi
