// Communicator functions built from its other calls, without calling MPI directly.
#include <ridge/mpi/communicator.hpp>

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/threads.hpp"
#include "mpi/launched.hpp"

namespace ridge::mpi {

void Communicator::agree(const std::function<void()>& check) const {
  if (count() == 1) return check();
  std::string text;
  std::uint64_t failed = 0;  // 0: no failure; else 1 + the ErrorKind
  try {
    check();
  } catch (const Error& error) {
    failed = 1 + static_cast<std::uint64_t>(error.kind());
    text = error.what();
  } catch (const std::bad_alloc&) {
    failed = 1 + static_cast<std::uint64_t>(ErrorKind::out_of_memory);
    text = "not enough memory on this machine for that";
  } catch (const std::exception& error) {
    failed = 1 + static_cast<std::uint64_t>(ErrorKind::internal);
    text = error.what();
  }
  if (largest(static_cast<double>(failed)) == 0) return;
  struct Failure {
    std::uint64_t kind;
    char text[1000];
  } mine{failed, {}};
  std::memcpy(mine.text, text.data(), std::min(text.size(), sizeof mine.text - 1));
  std::vector<Failure> all(count());
  gather(&mine, sizeof mine, all.data());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    Failure& theirs = all[rank];
    if (theirs.kind == 0) continue;
    theirs.text[sizeof theirs.text - 1] = '\0';  // terminated whatever the peer sent
    const std::uint64_t kind = std::min(theirs.kind - 1, static_cast<std::uint64_t>(ErrorKind::internal));
    throw Error(static_cast<ErrorKind>(kind), fmt::format("rank {}: {}", rank, theirs.text));
  }
}

void Communicator::must_be_equal(const std::string& words) const {
  if (count() == 1) return;
  struct Words {
    std::uint64_t length;
    char text[500];
  } roots{words.size(), {}};
  std::memcpy(roots.text, words.data(), std::min(words.size(), sizeof roots.text - 1));
  const Words mine = roots;
  broadcast(&roots, sizeof roots);
  roots.text[sizeof roots.text - 1] = '\0';  // terminated whatever the root sent
  agree([&] {
    if (mine.length == roots.length && std::memcmp(mine.text, roots.text, sizeof roots.text) == 0) return;
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("got {}, but rank 0 has {}: all ranks must pass the same arguments", mine.text, roots.text));
  });
}

void Communicator::send(std::size_t to, const void* data, std::size_t bytes) const {
  exchange({{to, 100, const_cast<void*>(data), bytes}}, {});
}

void Communicator::receive(std::size_t from, void* data, std::size_t bytes) const {
  exchange({}, {{from, 100, data, bytes}});
}

void Communicator::exchange(const std::vector<Message>& out, const std::vector<Message>& in) const {
  Pending pending;
  post(pending, out, in);
  pending.wait();
}

void divide_cores(const Communicator& all) {
  if (all.count_here() < 2 || std::getenv("RIDGE_THREADS") != nullptr) return;
  struct Mine {
    std::uint64_t machine;
    cpu_set_t cores;
  } mine{all.machine_of(all.rank()), {}};
  const bool known = sched_getaffinity(0, sizeof mine.cores, &mine.cores) == 0;
  std::vector<Mine> masks(all.count());
  all.gather(&mine, sizeof mine, masks.data());
  if (!known) return;
  std::size_t before = 0, equal = 0;
  for (std::size_t rank = 0; rank < masks.size(); ++rank) {
    if (masks[rank].machine != mine.machine || CPU_EQUAL(&masks[rank].cores, &mine.cores) == 0) continue;
    ++equal;
    if (rank < all.rank()) ++before;
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mine.cores)) cores.push_back(core);
  }
  if (equal < 2 || cores.empty()) return;
  cpu_set_t share;
  CPU_ZERO(&share);
  if (cores.size() < equal) {  // fewer cores than processes
    CPU_SET(cores[before % cores.size()], &share);
  } else {
    const base::Share part = base::share(cores.size(), before, equal);
    for (std::size_t i = part.begin; i < part.end; ++i) CPU_SET(cores[i], &share);
  }
  sched_setaffinity(0, sizeof share, &share);
}

}  // namespace ridge::mpi
