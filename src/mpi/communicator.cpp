// The part of Communicator that calls no MPI itself (communicator_state.hpp).
#include <ridge/mpi/communicator.hpp>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/temporaries.hpp"
#include "base/threads.hpp"
#include "mpi/communicator_state.hpp"
#include "mpi/launched.hpp"

namespace ridge::mpi {
namespace {

constexpr Services kServices{base::remove_temporaries, base::hardware_threads};

}  // namespace

Communicator::Pending::Pending() = default;
Communicator::Pending::Pending(Pending&&) noexcept = default;
Communicator::Pending& Communicator::Pending::operator=(Pending&&) noexcept = default;
Communicator::Pending::~Pending() {
  try {
    wait();
  } catch (const std::exception&) {  // already reported by the earlier wait
  }
}
bool Communicator::Pending::test() { return !state_ || state_->test(); }
void Communicator::Pending::wait() {
  if (state_) state_->wait();
}

Communicator Communicator::alone() {
  auto state = std::make_shared<State>();
  state->threads = base::hardware_threads();
  return Communicator(std::move(state));
}
Communicator Communicator::world() {
  auto state = mpi_world(kServices);
  return state ? Communicator(std::move(state)) : alone();
}
Communicator Communicator::from(int handle) { return Communicator(mpi_from(handle, kServices)); }

std::size_t Communicator::rank() const { return state_->rank; }
std::size_t Communicator::count() const { return state_->count; }
std::size_t Communicator::rank_here() const { return state_->rank_here; }
std::size_t Communicator::count_here() const { return state_->count_here; }
std::size_t Communicator::machines() const { return state_->machines; }
std::size_t Communicator::machine_of(std::size_t rank) const { return state_->machine_of[rank]; }
std::size_t Communicator::threads() const { return state_->threads; }
bool Communicator::can_overlap() const { return state_->can_overlap; }
bool Communicator::knows_cuda_memory() const { return count() > 1 && state_->knows_cuda_memory(); }
void Communicator::set_deadline(double seconds) const {
  if (std::getenv("RIDGE_MPI_DEADLINE") == nullptr) state_->deadline = seconds;
}

Communicator Communicator::split(std::size_t group) const {
  return count() == 1 ? *this : Communicator(state_->split(group));
}
void Communicator::barrier() const {
  if (count() > 1) state_->barrier();
}
void Communicator::broadcast(void* data, std::size_t bytes) const {
  if (count() > 1 && bytes > 0) state_->broadcast(data, bytes);
}
double Communicator::largest(double value) const { return count() == 1 ? value : state_->largest(value); }
double Communicator::sum(double value) const { return count() == 1 ? value : state_->sum(value); }
void Communicator::gather(const void* mine, std::size_t bytes, void* all) const {
  if (count() > 1) return state_->gather(mine, bytes, all);
  if (bytes > 0) std::memcpy(all, mine, bytes);
}
void Communicator::post(Pending& pending, std::span<const Message> out, std::span<const Message> in) const {
  if (!out.empty() || !in.empty()) state_->post(pending.state_, out, in);
}

void Communicator::exchange_during(const std::vector<Message>& out, const std::vector<Message>& in,
                                   const std::function<void()>& work) const {
  Pending pending;
  post(pending, out, in);
  const auto exchange_then_work = [&] {
    pending.wait();
    work();
  };
  if (!can_overlap()) return exchange_then_work();
  // This thread computes and makes no MPI call until the messenger is joined, as MPI_THREAD_SERIALIZED requires.
  std::exception_ptr failure;
  std::thread messenger;
  try {
    messenger = std::thread([&] {
      try {
        pending.wait();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  } catch (const std::system_error&) {  // no thread could be started
    return exchange_then_work();
  }
  try {
    work();
  } catch (...) {
    messenger.join();
    throw;
  }
  messenger.join();
  if (failure) std::rethrow_exception(failure);
}

Communicator::Shared Communicator::share(std::size_t bytes) const {
  Shared memory;
  if (machines() != 1 || count() == 1) return memory;
  memory.window_ = share_memory(*this, bytes, memory.parts_);
  return memory;
}

void Communicator::publish(const Shared&) const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  barrier();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Communicator::abort(int code) const {
  base::remove_temporaries();
  state_->end_all(code);
  std::_Exit(code);  // g++ 12 assumes that a virtual function returns
}

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
    theirs.text[sizeof theirs.text - 1] = '\0';  // terminated for any message
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
  roots.text[sizeof roots.text - 1] = '\0';  // terminated for any message
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
