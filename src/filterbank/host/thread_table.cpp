// Scheduler for nested families of threads with a bounded thread table.
#include "filterbank/host/thread_table.hpp"

#include <algorithm>

#include "base/threads.hpp"

namespace ridge::filterbank {

bool ThreadTable::step(std::unique_lock<std::mutex>& lock, Family& family, std::size_t core, bool own_entry) {
  if (family.next == family.count) return false;
  // The core that waits for the family may use its own table entry, so that a full table cannot deadlock.
  const std::size_t room = std::max(free_, own_entry ? std::size_t{1} : std::size_t{0});
  const std::size_t taken = std::min({family.block, family.count - family.next, room});
  if (taken == 0) return false;
  const std::size_t begin = family.next, entries = std::min(taken, free_);
  family.next += taken;
  free_ -= entries;
  used_ += entries;
  most_used_ = std::max(most_used_, used_);
  if (family.next == family.count) families_.remove(&family);
  lock.unlock();
  std::exception_ptr failure;
  try {
    family.body(core, begin, begin + taken);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  free_ += entries;
  used_ -= entries;
  family.ended += taken;
  if (failure) family.failure = failure;
  changed_.notify_all();
  return true;
}

void ThreadTable::create(std::size_t core, std::size_t count, std::size_t block, const Body& body) {
  Family family{.count = count, .block = std::max<std::size_t>(block, 1), .body = body, .leaf = true};
  std::unique_lock lock(mutex_);
  if (count == 0) return;
  families_.push_front(&family);
  if (cores_ > 1) changed_.notify_all();
  while (family.ended < count) {
    if (!step(lock, family, core, true)) changed_.wait(lock);
  }
  if (family.failure) std::rethrow_exception(family.failure);
}

void ThreadTable::work(std::size_t core) {
  std::unique_lock lock(mutex_);
  while (!over_) {
    // Leaf families first, because a core waits for them.
    const auto found = std::find_if(families_.begin(), families_.end(), [](const Family* one) { return one->leaf; });
    Family* const family = found != families_.end() ? *found : families_.empty() ? nullptr : families_.front();
    if (family == nullptr || !step(lock, *family, core, false)) changed_.wait(lock);
  }
}

void ThreadTable::run(std::size_t count, std::size_t block, const Body& body) {
  Family family{.count = count, .block = std::max<std::size_t>(block, 1), .body = body, .leaf = false};
  if (count == 0) return;
  over_ = false;
  families_.push_back(&family);
  base::parallel(cores_, [&](std::size_t core, std::size_t cores) {
    if (core > 0 && cores > 1) return work(core);
    std::unique_lock lock(mutex_);
    while (family.ended < count) {
      if (!step(lock, family, core, true)) changed_.wait(lock);
    }
    over_ = true;
    changed_.notify_all();
  });
  if (family.failure) std::rethrow_exception(family.failure);
}

}  // namespace ridge::filterbank
