// The processes mpirun started, or this one alone. Everything here works without MPI too; only several processes need
// it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ridge::mpi {

// Starts MPI where mpirun (or srun) started this program with several processes; call once, before threads are made.
// Error{unavailable} where that is so and this was built without MPI, or where MPI does not find the others: alone,
// each would do the whole work over the same files. Cores that several processes may use are divided among them.
class Processes {
 public:
  Processes();
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  std::size_t rank() const { return rank_; }
  std::size_t count() const { return count_; }
  std::size_t rank_here() const { return rank_here_; }  // among those on this machine
  bool root() const { return rank_ == 0; }

  // All of these are called by every process.
  void broadcast(void* data, std::size_t bytes) const;  // from the root
  double largest(double value) const;
  void barrier() const;

  // Between two.
  void send(std::size_t to, const void* data, std::size_t bytes) const;
  void receive(std::size_t from, void* data, std::size_t bytes) const;

  // Messages to and from neighbours, all at once.
  struct Message {
    std::size_t rank;
    int tag;
    void* data;
    std::size_t bytes;
  };
  void exchange(const std::vector<Message>& out, const std::vector<Message>& in) const;
  // The same while `work` runs: a second thread sees to the messages. Plain exchange() and then `work` where this MPI
  // does not allow that.
  void exchange_during(const std::vector<Message>& out, const std::vector<Message>& in,
                       const std::function<void()>& work) const;
  bool can_overlap() const { return can_overlap_; }

  // Ends all processes at once with an exit code: where one has failed and the others wait for it.
  [[noreturn]] void abort(int code) const;

 private:
  std::size_t rank_ = 0, count_ = 1, rank_here_ = 0;
  bool started_ = false, can_overlap_ = false;
};

// What the environment says of the launcher that started this process.
struct Launch {
  std::string variable{};  // the one that says so, with its value; empty: none
  std::size_t count = 0;   // processes; 0 where a launcher was there that does not say
  std::size_t rank = 0;
  bool others() const { return count > 1 || rank > 0; }                    // certainly several
  bool perhaps_others() const { return !variable.empty() && count != 1; }  // MPI will know
};
Launch launch();

}  // namespace ridge::mpi
