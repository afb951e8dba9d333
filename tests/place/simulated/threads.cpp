// A replacement of libgomp's and the thread sanitizer's run time for random programs: runs a parallel loop as several
// threads one after another, hands out single iterations in a random order, and reports two iterations that access the
// same byte if one of them writes it. It finds every race of the run, whatever the timing, and needs no second thread.
// Programs are compiled with -fopenmp -fsanitize=thread and linked with this file instead of both libraries.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace simulated {

unsigned long seed = 1;  // of the order of iterations
long conflicts = 0;      // pairs of iterations found since it was last set
long regions = 0;        // parallel regions that were run

namespace {

constexpr int kThreads = 3;
constexpr std::size_t kBytes = std::size_t{1} << 22;

struct Byte {
  std::uintptr_t address = 0;
  std::uint32_t region = 0, writer = 0, reader = 0, other_reader = 0;  // iterations, counted from one
};

struct Loop {
  bool open = false, wide = false;
  long first = 0, step = 1;
  std::vector<long> order{};
  std::size_t next = 0, until = 0;  // the iterations of the current thread
};

std::unique_ptr<Byte[]> bytes(new Byte[kBytes]);
Loop loop;
std::uint32_t region = 0, iteration = 0;  // iteration 0: outside the loop, nothing is recorded
int thread = 0, team = 1, parallel = 0;
const char* frame = nullptr;  // the stack below belongs to the simulated thread

unsigned long random(unsigned long n) {
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  return (seed >> 33) % n;
}

void touch(const void* at, std::size_t size, bool write) {
  if (iteration == 0) return;
  const char* const from = static_cast<const char*>(at);
  const char* const here = static_cast<const char*>(__builtin_frame_address(0));
  if (from >= here - 4096 && from < frame) return;
  for (std::size_t k = 0; k < size; ++k) {
    const auto address = reinterpret_cast<std::uintptr_t>(from + k);
    Byte& b = bytes[address % kBytes];
    if (b.region != region || b.address != address) b = {address, region, 0, 0, 0};
    const auto other = [](std::uint32_t i) { return i != 0 && i != iteration; };
    if (other(b.writer) || (write && (other(b.reader) || other(b.other_reader)))) ++conflicts;
    if (write)
      b.writer = iteration;
    else if (b.reader == 0 || b.reader == iteration)
      b.reader = iteration;
    else
      b.other_reader = iteration;
  }
}

// A private variable that is read before it is set gets other values in each thread.
__attribute__((noinline)) void spoil_stack() {
  volatile char unset[1 << 14];
  const char with = static_cast<char>(random(255) + 1);
  for (volatile char& c : unset) c = with;
}

void start(long first, long end, long step) {
  if (!loop.open) {
    loop = {true, false, first, step, {}, 0, 0};
    const long count = step > 0 ? (end - first + step - 1) / step : (first - end - step - 1) / -step;
    for (long i = 0; i < count; ++i) loop.order.push_back(i);
    for (std::size_t i = loop.order.size(); i > 1; --i) std::swap(loop.order[i - 1], loop.order[random(i)]);
  }
  const std::size_t left = loop.order.size() - loop.next;
  loop.until = loop.next + (thread + 1 == team ? left : random(left + 1));
}

bool next(long* from, long* to) {
  iteration = 0;
  if (loop.next >= loop.until) return false;
  const long at = loop.first + loop.order[loop.next++] * loop.step;
  *from = at;
  *to = at + loop.step;
  iteration = static_cast<std::uint32_t>(loop.next);
  return true;
}

}  // namespace
}  // namespace simulated

using simulated::touch;

#define RIDGE_LOOP(name)                                                                   \
  bool GOMP_loop_##name##_next(long* from, long* to) { return simulated::next(from, to); } \
  bool GOMP_loop_ull_##name##_next(unsigned long long* from, unsigned long long* to) {     \
    return simulated::next(reinterpret_cast<long*>(from), reinterpret_cast<long*>(to));    \
  }
#define RIDGE_CHUNKED(name)                                                                                          \
  RIDGE_LOOP(name)                                                                                                   \
  bool GOMP_loop_##name##_start(long first, long end, long step, long, long* from, long* to) {                       \
    simulated::start(first, end, step);                                                                              \
    return simulated::next(from, to);                                                                                \
  }                                                                                                                  \
  bool GOMP_loop_ull_##name##_start(bool, unsigned long long first, unsigned long long end, unsigned long long step, \
                                    unsigned long long, unsigned long long* from, unsigned long long* to) {          \
    simulated::start(static_cast<long>(first), static_cast<long>(end), static_cast<long>(step));                     \
    return simulated::next(reinterpret_cast<long*>(from), reinterpret_cast<long*>(to));                              \
  }
#define RIDGE_UNCHUNKED(name)                                                                                        \
  RIDGE_LOOP(name)                                                                                                   \
  bool GOMP_loop_##name##_start(long first, long end, long step, long* from, long* to) {                             \
    simulated::start(first, end, step);                                                                              \
    return simulated::next(from, to);                                                                                \
  }                                                                                                                  \
  bool GOMP_loop_ull_##name##_start(bool, unsigned long long first, unsigned long long end, unsigned long long step, \
                                    unsigned long long* from, unsigned long long* to) {                              \
    simulated::start(static_cast<long>(first), static_cast<long>(end), static_cast<long>(step));                     \
    return simulated::next(reinterpret_cast<long*>(from), reinterpret_cast<long*>(to));                              \
  }

extern "C" {

RIDGE_CHUNKED(dynamic)
RIDGE_CHUNKED(nonmonotonic_dynamic)
RIDGE_CHUNKED(guided)
RIDGE_CHUNKED(nonmonotonic_guided)
RIDGE_UNCHUNKED(runtime)
RIDGE_UNCHUNKED(nonmonotonic_runtime)
RIDGE_UNCHUNKED(maybe_nonmonotonic_runtime)

void GOMP_loop_end() { simulated::iteration = 0; }
void GOMP_loop_end_nowait() { simulated::iteration = 0; }
void GOMP_barrier() {}
void GOMP_atomic_start() {}
void GOMP_atomic_end() {}
void GOMP_critical_start() {}
void GOMP_critical_end() {}

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned) {
  using namespace simulated;
  if (parallel > 0) {
    body(data);
    return;
  }
  ++regions;
  ++region;
  ++parallel;
  loop.open = false;
  frame = static_cast<const char*>(__builtin_frame_address(0));
  team = threads == 1 ? 1 : kThreads;
  for (thread = 0; thread < team; ++thread) {
    spoil_stack();
    body(data);
    iteration = 0;
  }
  thread = 0;
  team = 1;
  --parallel;
}

int omp_get_max_threads() { return simulated::kThreads; }
int omp_get_num_threads() { return simulated::team; }
int omp_get_thread_num() { return simulated::thread; }
int omp_in_parallel() { return simulated::parallel > 0; }
double omp_get_wtime() { return 0; }

#define RIDGE_TOUCH(bytes)                                                       \
  void __tsan_read##bytes(void* at) { touch(at, bytes, false); }                 \
  void __tsan_write##bytes(void* at) { touch(at, bytes, true); }                 \
  void __tsan_unaligned_read##bytes(const void* at) { touch(at, bytes, false); } \
  void __tsan_unaligned_write##bytes(void* at) { touch(at, bytes, true); }
RIDGE_TOUCH(1)
RIDGE_TOUCH(2)
RIDGE_TOUCH(4)
RIDGE_TOUCH(8)
RIDGE_TOUCH(16)
void __tsan_read_range(void* at, unsigned long size) { touch(at, size, false); }
void __tsan_write_range(void* at, unsigned long size) { touch(at, size, true); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

// Atomic operations are not recorded: they do not race.
#define RIDGE_ATOMIC(bits, type)                                                                                  \
  type __tsan_atomic##bits##_load(const volatile type* at, int) { return *at; }                                   \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int) { *at = value; }                           \
  type __tsan_atomic##bits##_fetch_add(volatile type* at, type value, int) {                                      \
    const type old = *at;                                                                                         \
    *at = static_cast<type>(old + value);                                                                         \
    return old;                                                                                                   \
  }                                                                                                               \
  type __tsan_atomic##bits##_fetch_sub(volatile type* at, type value, int) {                                      \
    const type old = *at;                                                                                         \
    *at = static_cast<type>(old - value);                                                                         \
    return old;                                                                                                   \
  }                                                                                                               \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected, type value, int, int) {   \
    if (*at == *expected) {                                                                                       \
      *at = value;                                                                                                \
      return true;                                                                                                \
    }                                                                                                             \
    *expected = *at;                                                                                              \
    return false;                                                                                                 \
  }                                                                                                               \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type value, int a, int b) { \
    return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, a, b);                              \
  }                                                                                                               \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* at, type expected, type value, int, int) {       \
    const type old = *at;                                                                                         \
    if (old == expected) *at = value;                                                                             \
    return old;                                                                                                   \
  }
RIDGE_ATOMIC(8, unsigned char)
RIDGE_ATOMIC(16, unsigned short)
RIDGE_ATOMIC(32, unsigned)
RIDGE_ATOMIC(64, unsigned long)

}  // extern "C"
