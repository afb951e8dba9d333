// Processes that work together. No MPI header is needed to use it, and one process needs no MPI at all.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ridge::mpi {

// A handle, cheap to copy. Every process of it makes the same calls in the same order; a failure one of them can see by
// itself is told to all (agree), and a process that never comes is told by the deadline.
class Communicator {
 public:
  static Communicator alone();  // this process
  // All that were started together. Starts MPI where nobody has yet, and then ends it with the program.
  static Communicator world();
  // From MPI's own: MPI_Comm_c2f(communicator). It is duplicated, so messages never meet the caller's. MPI must have
  // been started; with MPI_Init (no threads) plans run on one thread a process.
  static Communicator from(int handle);

  // By all: those who say the same number, in the order of their ranks.
  Communicator split(std::size_t group) const;

  std::size_t rank() const;
  std::size_t count() const;
  std::size_t rank_here() const;   // among those on this machine
  std::size_t count_here() const;  // on this machine
  std::size_t machines() const;
  std::size_t machine_of(std::size_t rank) const;
  std::size_t threads() const;  // this process's share of its machine's cores
  bool root() const { return rank() == 0; }

  // How long anyone waits for another before it tells who is missing and ends all of them (0: for ever, unless
  // RIDGE_MPI_DEADLINE says a number of seconds).
  void set_deadline(double seconds) const;

  // By every process.
  void barrier() const;
  void broadcast(void* data, std::size_t bytes) const;  // from the root
  double largest(double value) const;
  double sum(double value) const;
  void gather(const void* mine, std::size_t bytes, void* all) const;  // everybody's, in the order of ranks, to all
  // Runs `check` everywhere; where it throws in one, all throw what the first of them met: "rank 2: ...".
  void agree(const std::function<void()>& check) const;
  // The same words everywhere, or Error{invalid_argument} that shows both.
  void must_be_equal(const std::string& words) const;

  // Between two.
  void send(std::size_t to, const void* data, std::size_t bytes) const;
  void receive(std::size_t from, void* data, std::size_t bytes) const;

  struct Message {
    std::size_t rank;
    int tag;
    void* data;
    std::size_t bytes;
  };
  // Messages on their way. Lengths are checked when they have come.
  class Pending {
   public:
    Pending();
    ~Pending();  // waits
    Pending(Pending&&) noexcept;
    Pending& operator=(Pending&&) noexcept;
    bool test();  // moves them on; whether all have arrived
    void wait();

   private:
    friend class Communicator;
    struct State;
    std::unique_ptr<State> state_;
  };
  void post(Pending& pending, std::span<const Message> out, std::span<const Message> in) const;
  void exchange(const std::vector<Message>& out, const std::vector<Message>& in) const;
  // While `work` runs: a second thread sees to the messages, or they come first where this MPI allows none.
  void exchange_during(const std::vector<Message>& out, const std::vector<Message>& in,
                       const std::function<void()>& work) const;
  bool can_overlap() const;
  // Whether messages may lie in memory of CUDA devices; this MPI is asked.
  bool knows_cuda_memory() const;

  // Memory of all processes of one machine that each of them can write; made and freed by all.
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
  // Empty where it cannot be had. The parts lie one after the other, each a whole number of pages.
  Shared share(std::size_t bytes) const;
  void publish(const Shared& memory) const;  // what anyone stored before is seen by all afterwards; a barrier

  // Ends all processes at once with an exit code: where one has failed and the others wait for it.
  [[noreturn]] void abort(int code) const;

 private:
  struct State;
  explicit Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace ridge::mpi
