// Text of the functions that emitted OpenMP programs call.
#include "place/emit/openmp_helpers.hpp"

#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

// Helpers of the emitted program, in C. In C++ they are in the namespace placed, without the prefix.
constexpr const char* kIntegers = R"(
typedef int64_t placed_Int;
static inline placed_Int placed_max(placed_Int a, placed_Int b) { return a < b ? b : a; }
static inline placed_Int placed_min(placed_Int a, placed_Int b) { return b < a ? b : a; }
static inline placed_Int placed_floord(placed_Int n, placed_Int d) { return n < 0 ? -((-n + d - 1) / d) : n / d; }
)";

constexpr const char* kHelpers = R"(
static inline double placed_longer(double a, double b) { return a < b ? b : a; }
// Iterations per chunk: few, because with equal parts all threads wait for the slowest, but at least 2 us of work, and
// `line` if that many iterations write to one cache line. `work`: estimated time of all iterations on one thread, in ns.
#ifdef _OPENMP
static inline placed_Int placed_share(placed_Int iterations, double work, placed_Int line) {
  const placed_Int threads = omp_get_max_threads(), least = (placed_Int)(2000.0 * (double)iterations / (work + 1));
  return placed_max(1, placed_max(iterations / (32 * threads), placed_min(placed_max(line, least), iterations / (4 * threads))));
}
#endif
// PLACED_ALWAYS in the environment: threads run also where they are slower, for comparisons.
static placed_Int placed_starts = 0;  // nests that ran on threads
static inline bool placed_always(void) {
  static int state = -1;
  int set;
#pragma omp atomic read
  set = state;
  if (set < 0) {
    const char* const value = getenv("PLACED_ALWAYS");
    set = value != 0 && *value != 0;
#pragma omp atomic write
    state = set;
  }
  return set != 0;
}
#ifdef _OPENMP
static inline double placed_region(void) {  // ns per parallel region: median of 7, after the one that creates the threads
  double times[7] = {0};
  for (int i = -1; i < 7; ++i) {
    const double start = omp_get_wtime();
#pragma omp parallel
    {
#pragma omp barrier
    }
    const double time = 1e9 * (omp_get_wtime() - start);
    int at = i;
    for (; at > 0 && times[at - 1] > time; --at) times[at] = times[at - 1];
    if (at >= 0) times[at] = time;
  }
  return times[3] + 1;
}
#endif
// True if threads may be faster for loops whose longest nest takes `work` ns on one thread.
static inline bool placed_may_pay(double work) {
#ifdef _OPENMP
  return (work >= 5000 && omp_get_max_threads() > 1 && !omp_in_parallel()) || placed_always();
#else
  return work > 0 && placed_always();
#endif
}
// True if a nest that takes `work` ns on one thread is faster on all. A parallel region is timed when it may pay for the
// first time. Threads are not created before 50 us of such work per thread.
static inline bool placed_pays(double work) {
  if (!placed_may_pay(work)) return false;
  bool pays = placed_always();
#ifdef _OPENMP
  static double before = 0, known = 0;
  const int threads = omp_get_max_threads();
  double all, cost;
#pragma omp atomic read
  cost = known;
  if (!pays && cost == 0) {
#pragma omp atomic capture
    {
      before += work;
      all = before;
    }
    if (all < 50000.0 * threads) return false;
    cost = placed_region();
#pragma omp atomic write
    known = cost;
  }
  pays = pays || work * (threads - 1) > 2 * cost * threads;
#endif
  if (pays) {
#pragma omp atomic
    ++placed_starts;
  }
  return pays;
}
// Sums are added in blocks from 20 us of work on, and in the order of the original below: the result depends on the
// sizes only, never on the number of threads.
static inline bool placed_sums(double work) { return placed_always() || work >= 20000; }
typedef struct {  // blocks of iterations summed by one thread, at most 512
  placed_Int all, each, count;
} placed_Blocks;
static inline placed_Blocks placed_blocks(placed_Int iterations) {
  const placed_Int all = placed_max(0, iterations), each = placed_max(1, (all + 511) / 512);
  const placed_Blocks made = {all, each, (all + each - 1) / each};
  return made;
}
static inline placed_Int placed_block_from(placed_Blocks b, placed_Int block) { return block * b.each; }
static inline placed_Int placed_block_to(placed_Blocks b, placed_Int block) {
  return placed_min(b.all, block * b.each + b.each);
}
)";

constexpr const char* kCopied = R"(
static inline void* placed_copied(const void* from, placed_Int bytes) {  // to be freed; null if there is no memory
  char* const to = (char*)malloc((size_t)placed_max(1, bytes));
#pragma omp parallel for schedule(static) if (bytes > 65536)
  for (placed_Int i = 0; i < (to == 0 ? 0 : (bytes + 4095) / 4096); ++i)
    memcpy(to + i * 4096, (const char*)from + i * 4096, (size_t)placed_min(4096, bytes - i * 4096));
  return to;
}
)";

// Rows of a table of pointers. Threads run only if each row begins after the end of the row before: then no two rows
// overlap, and all are between the begin of the first and the end of the last.
constexpr const char* kTables = R"(
// Address of byte `at` of a row; null if no row from `first` to `last` is accessed.
static inline const char* placed_row(const void* table, placed_Int first, placed_Int last, placed_Int row, placed_Int at) {
  const char* address = 0;
  if (last < first) return address;
  memcpy(&address, (const char*)table + row * (placed_Int)sizeof(address), sizeof(address));
  return address + at;
}
// True if the bytes `from` to `to` of each row follow those of the row before.
static inline bool placed_stacked(const void* table, placed_Int first, placed_Int last, placed_Int from, placed_Int to) {
  for (placed_Int i = first; i < last; ++i)
    if (placed_row(table, first, last, i, to) > placed_row(table, first, last, i + 1, from)) return false;
  return true;
}
)";

constexpr const char* kPermuted = R"(
static inline placed_Int placed_permuted(placed_Int at, placed_Int n) {  // odd numbers upwards, then even numbers downwards
  return at < n / 2 ? 2 * at + 1 : 2 * (n - 1 - at);
}
)";

// Tests ranges of memory: true if no written range overlaps another.
constexpr const char* kApart = R"(
namespace placed {
struct Range {
  const void* data;
  Int bytes;
  bool written = false;
};
inline bool apart(std::initializer_list<Range> ranges) {
  for (const Range& a : ranges)
    for (const Range& b : ranges) {
      const char *x = static_cast<const char*>(a.data), *y = static_cast<const char*>(b.data);
      if (&a != &b && (a.written || b.written) && a.bytes > 0 && b.bytes > 0 && x < y + b.bytes && y < x + a.bytes) return false;
    }
  return true;
}
}  // namespace placed

)";

constexpr const char* kApartInC = R"(
static inline bool placed_apart(int count, ...) {  // ranges as (address, bytes, written)
  const char* data[64];
  placed_Int bytes[64];
  int written[64];
  va_list ranges;
  va_start(ranges, count);
  for (int i = 0; i < count && count <= 64; ++i) {
    data[i] = va_arg(ranges, const char*);
    bytes[i] = va_arg(ranges, placed_Int);
    written[i] = va_arg(ranges, int);
  }
  va_end(ranges);
  for (int i = 0; i < count && count <= 64; ++i)
    for (int k = 0; k < i; ++k)
      if ((written[i] || written[k]) && bytes[i] > 0 && bytes[k] > 0 && data[i] < data[k] + bytes[k] && data[k] < data[i] + bytes[i])
        return false;
  return count <= 64;
}

)";

// The helpers as C++.
std::string in_namespace(const std::string& c, const std::string& name = "placed") {
  return "namespace " + name + " {" +
         text::each_word(c,
                         [&](const std::string& word, std::size_t& at) -> std::string {
                           if (word == "static" && c.compare(at, 8, " inline ") == 0) return at += 7, "inline";
                           if (word == "static" && c.compare(at, 8, " placed_") == 0) return "inline";
                           return word.rfind("placed_", 0) == 0 ? word.substr(7) : word;
                         }) +
         "}  // namespace " + name + "\n";
}

// Replaces a local std::vector of zeros or a copy. Its pages are first touched by the threads that use them; those of a
// std::vector would all be touched by one thread. Large arrays use huge pages, because threads that touch thousands of
// small pages wait for each other in the kernel, and freeing them takes as long again. Each huge page is touched by one
// thread beforehand, because the others would wait while it is cleared.
constexpr const char* kArray = R"(
#ifdef __linux__
#include <sys/mman.h>
#endif
namespace placed {
template <class T>
class Array {
 public:
  explicit Array(std::size_t count) : count_(count) {
    if (count > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
#ifdef __linux__
    if (mapped()) {
      void* const pages = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED) throw std::bad_alloc();
      madvise(pages, count * sizeof(T), MADV_HUGEPAGE);
      data_ = static_cast<T*>(pages);
      char* const bytes = static_cast<char*>(pages);
#pragma omp parallel for schedule(static)
      for (Int at = 0; at < Int(count * sizeof(T)); at += Int(2) << 20) bytes[at] = 0;
      return;
    }
#endif
    data_ = static_cast<T*>(std::calloc(count > 0 ? count : 1, sizeof(T)));
    if (data_ == nullptr) throw std::bad_alloc();
  }
  Array(const T* from, const T* to) : Array(static_cast<std::size_t>(to - from)) {
#pragma omp parallel for
    for (Int i = 0; i < Int(count_); ++i) data_[i] = from[i];
  }
  ~Array() {
#ifdef __linux__
    if (mapped()) {
      munmap(data_, count_ * sizeof(T));
      return;
    }
#endif
    std::free(data_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::size_t count_;
  T* data_ = nullptr;
  bool mapped() const { return count_ * sizeof(T) >= std::size_t{4} << 20; }
};
}  // namespace placed

)";

}  // namespace

std::string openmp_helpers(const OpenmpHelpers& needed) {
  const std::string helpers = (needed.session.empty() ? kIntegers : std::string()) + kHelpers +
                              (needed.copies ? kCopied : "") + (needed.permuted ? kPermuted : ""),
                    tables = needed.tables ? kTables : "";
  const auto in = [&](const std::string& name) {
    return in_namespace(helpers, name) + (tables.empty() ? "" : in_namespace(tables, name));
  };
  if (!needed.session.empty()) return in(needed.session);
  return needed.c ? helpers + tables + kApartInC : in("placed") + kApart + (needed.arrays ? kArray : "");
}

}  // namespace ridge::place::emit
