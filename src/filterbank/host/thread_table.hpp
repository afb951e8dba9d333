// Families of threads as the SVP model of the LOFAR study's many-core machine has them: a family is a range of indices
// with one thread each; a core takes at most a block of them at a time, all cores together no more than the thread
// table has entries; whoever creates a family goes on when all its threads have ended, and works on it meanwhile.
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
  // The threads of indices `begin` to `end`, one after the other on a core.
  using Body = std::function<void(std::size_t core, std::size_t begin, std::size_t end)>;

  ThreadTable(std::size_t cores, std::size_t entries) : cores_(cores), free_(entries) {}

  // The first family, on all cores. Its threads may create() families, those of them not.
  void run(std::size_t count, std::size_t block, const Body& body);
  void create(std::size_t core, std::size_t count, std::size_t block, const Body& body);
  std::size_t most_used() const { return most_used_; }  // entries at one time, so far

 private:
  struct Family {
    std::size_t count, block;
    const Body& body;
    bool leaf;
    std::size_t next = 0, ended = 0;
    std::exception_ptr failure{};
  };

  void work(std::size_t core);
  // Takes a block of the family's threads and runs it; false where there is none left to take, or no room.
  bool step(std::unique_lock<std::mutex>& lock, Family& family, std::size_t core, bool own_entry);

  std::size_t cores_, free_, used_ = 0, most_used_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Family*> families_;  // not all of whose threads have been taken
  bool over_ = false;
};

}  // namespace ridge::filterbank
