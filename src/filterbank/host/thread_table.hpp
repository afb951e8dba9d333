// Families of threads as in the SVP model of the LOFAR study's many-core machine. A family is a range of indices with
// one thread each. A core takes at most one block of them at a time, and all cores together at most as many as the
// thread table has entries. The creator of a family works on it and continues when all its threads have ended.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <mutex>

namespace ridge::filterbank {

class ThreadTable {
 public:
  // Runs the threads of indices `begin` to `end` one after another on a core.
  using Body = std::function<void(std::size_t core, std::size_t begin, std::size_t end)>;

  ThreadTable(std::size_t cores, std::size_t entries) : cores_(cores), free_(entries) {}

  // Runs the first family on all cores. Its threads may create() families; the threads of those may not.
  void run(std::size_t count, std::size_t block, const Body& body);
  void create(std::size_t core, std::size_t count, std::size_t block, const Body& body);
  std::size_t most_used() const { return most_used_; }  // largest number of entries in use so far

 private:
  struct Family {
    std::size_t count, block;
    const Body& body;
    bool leaf;
    std::size_t next = 0, ended = 0;
    std::exception_ptr failure{};
  };

  void work(std::size_t core);
  // Takes a block of the family's threads and runs it; false if none is left or the table is full.
  bool step(std::unique_lock<std::mutex>& lock, Family& family, std::size_t core, bool own_entry);

  std::size_t cores_, free_, used_ = 0, most_used_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Family*> families_;  // with threads not yet taken
  bool over_ = false;
};

}  // namespace ridge::filterbank
