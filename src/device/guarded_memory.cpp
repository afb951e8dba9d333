// Maps memory between inaccessible pages, and records accesses to them in a signal handler.
#include "device/guarded_memory.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace ridge::detail {
namespace {

constexpr std::size_t kGuard = std::size_t{1} << 20;  // bytes of reserved address space without memory behind it
// Alignment of the first byte, which must suit the largest element of a kernel: 16 bytes on x86, where aligned vector
// loads fault otherwise; 8 on ARM, which loads vectors from any address. Accesses to the bytes between the end of the
// data and the guard, fewer than one alignment, raise no fault.
#if defined(__x86_64__) || defined(__i386__)
constexpr std::size_t kAlignment = 16;
#else
constexpr std::size_t kAlignment = 8;
#endif

// The handler may run in any thread at any time: it reads atomics and calls mprotect, nothing else.
struct Slot {
  std::atomic<std::uintptr_t> begin{0}, end{0};  // guarded; begin 0: free
  std::atomic<std::uintptr_t> touched{0};        // the first address
};
std::array<Slot, 4096> slots;
std::mutex slots_mutex;  // held while slots are taken and freed
struct sigaction before {};
std::uintptr_t page_bytes = 4096;

void note_touch(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Slot& slot : slots) {
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= slot.end.load(std::memory_order_acquire)) continue;
    std::uintptr_t none = 0;
    slot.touched.compare_exchange_strong(none, address);
    auto* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
    if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0) return;  // the access is repeated and succeeds
  }
  // Not our page: calls the previous handler.
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN && before.sa_handler != nullptr) {
    before.sa_handler(signal);
  } else {
    sigaction(signal, &before, nullptr);  // the fault is raised again
  }
}

bool handler_ready() {
  static const bool ready = [] {
    page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = note_touch;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &before) == 0;
  }();
  return ready;
}

}  // namespace

std::unique_ptr<GuardedMemory> GuardedMemory::make(std::size_t bytes) {
  if (!handler_ready() || bytes == 0 || bytes > SIZE_MAX / 2) return nullptr;
  const std::lock_guard lock(slots_mutex);
  std::size_t slot = 0;
  while (slot < slots.size() && slots[slot].begin != 0) ++slot;
  if (slot == slots.size()) return nullptr;
  const std::size_t pages = (bytes + kAlignment + page_bytes - 1) / page_bytes * page_bytes;
  void* const whole = mmap(nullptr, pages + kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) return nullptr;
  if (mprotect(whole, pages, PROT_READ | PROT_WRITE) != 0) {
    munmap(whole, pages + kGuard);
    return nullptr;
  }
  std::unique_ptr<GuardedMemory> memory(new GuardedMemory);
  memory->whole_ = static_cast<std::byte*>(whole);
  memory->mapped_ = pages + kGuard;
  memory->end_ = memory->whole_ + pages;
  memory->slack_ = (kAlignment - bytes % kAlignment) % kAlignment;
  memory->data_ = memory->end_ - memory->slack_ - bytes;
  memory->slot_ = slot;
  const auto end = reinterpret_cast<std::uintptr_t>(memory->end_);
  slots[slot].touched = 0;
  slots[slot].end.store(end + kGuard, std::memory_order_release);
  slots[slot].begin.store(end, std::memory_order_release);
  return memory;
}

GuardedMemory::~GuardedMemory() {
  {
    const std::lock_guard lock(slots_mutex);
    slots[slot_].begin = 0;
  }
  munmap(whole_, mapped_);
}

std::optional<GuardedTouch> GuardedMemory::touched() {
  const std::uintptr_t address = slots[slot_].touched.exchange(0);
  if (address == 0) return std::nullopt;
  mprotect(end_, kGuard, PROT_NONE);
  return GuardedTouch{slack_ + (address - reinterpret_cast<std::uintptr_t>(end_))};
}

}  // namespace ridge::detail
