// Invalid arguments that a C program may pass by mistake: the planners return NULL or a plan, nothing is read or
// written outside the arrays (each ends at an inaccessible page), and the process survives. RIDGE_SLOW=1 draws a
// hundred times as many.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fftw/drop_in.hpp"

namespace ridge::fftw_test {
namespace {

constexpr std::size_t kRoom = std::size_t{1} << 20;
constexpr std::size_t kMostRank = 1000;  // limit that the drop-in reads

// Memory between two inaccessible pages.
class Guarded {
 public:
  Guarded() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), size_(kRoom + 2 * page_) {
    base_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + page_, kRoom, PROT_READ | PROT_WRITE);
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  // Its last `bytes` bytes, or its first ones.
  void* last(std::size_t bytes) { return base_ + page_ + kRoom - bytes; }
  void* first() { return base_ + page_; }

 private:
  std::size_t page_, size_;
  std::byte* base_ = nullptr;
};

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}
  bool one_in(unsigned n) { return random_() % n == 0; }
  std::size_t up_to(std::size_t most) { return random_() % (most + 1); }
  // Mostly valid, sometimes any value.
  int number() {
    constexpr int kOdd[] = {0, -1, -7, 1, 2, 3, INT_MAX, INT_MIN, INT_MAX - 1, 1 << 30, 65536, 1 << 20, -(1 << 30)};
    return one_in(4) ? kOdd[up_to(std::size(kOdd) - 1)] : static_cast<int>(up_to(9));
  }
  // Very long lengths are valid and take long to plan.
  int length() {
    constexpr int kOdd[] = {0, -1, -7, INT_MIN, 1, 2, 3, 17, 64, 300};
    return one_in(4) ? kOdd[up_to(std::size(kOdd) - 1)] : 1 + static_cast<int>(up_to(9));
  }
  unsigned flags() { return one_in(4) ? static_cast<unsigned>(random_()) | 64U : 64U; }

 private:
  std::mt19937 random_;
};

template <class R>
class Hostile {
 public:
  Hostile(const Library<R>& library, unsigned seed) : library_(library), draw(seed) {}

  void basic() {
    int n[kMostRank], kinds[kMostRank];
    for (int& value : n) value = draw.length();
    for (int& value : kinds) value = draw.one_in(5) ? draw.number() : static_cast<int>(draw.up_to(10));
    const int rank = draw.one_in(4) ? draw.number() : static_cast<int>(draw.up_to(3));
    const int* const lengths = draw.one_in(20) ? nullptr : n;
    const int* const which = draw.one_in(20) ? nullptr : kinds;
    void *in = pointer(), *out = draw.one_in(3) ? in : pointer();
    const unsigned flags = draw.flags();
    switch (draw.up_to(6)) {
      case 0:
        return done(library_.call("plan_dft", rank, lengths, in, out, draw.number(), flags));
      case 1:
        return done(library_.call("plan_dft_r2c", rank, lengths, in, out, flags));
      case 2:
        return done(library_.call("plan_dft_c2r", rank, lengths, in, out, flags));
      case 3:
        return done(library_.call("plan_r2r", rank, lengths, in, out, which, flags));
      case 4:
        return done(library_.call("plan_dft_2d", n[0], n[1], in, out, draw.number(), flags));
      case 5:
        return done(library_.call("plan_r2r_1d", n[0], in, out, kinds[0], flags));
      default:
        return done(library_.call("plan_dft_1d", n[0], in, out, draw.number(), flags));
    }
  }

  void advanced() {
    int n[kMostRank], embed[kMostRank], kinds[kMostRank];
    for (int& value : n) value = draw.length();
    for (int& value : embed) value = draw.number();
    for (int& value : kinds) value = static_cast<int>(draw.up_to(10));
    const int rank = draw.one_in(4) ? draw.number() : static_cast<int>(draw.up_to(3));
    const int* const places = draw.one_in(2) ? nullptr : embed;
    void *in = pointer(), *out = draw.one_in(3) ? in : pointer();
    const int count = draw.number(), is = draw.number(), id = draw.number(), os = draw.number(), od = draw.number();
    const char* const name = draw.one_in(3) ? "plan_many_dft_r2c" : "plan_many_dft_c2r";
    if (draw.one_in(3)) {
      return done(
          library_.call("plan_many_r2r", rank, n, count, in, places, is, id, out, places, os, od, kinds, draw.flags()));
    }
    if (draw.one_in(2))
      return done(library_.call(name, rank, n, count, in, places, is, id, out, places, os, od, draw.flags()));
    done(library_.call("plan_many_dft", rank, n, count, in, places, is, id, out, places, os, od, draw.number(),
                       draw.flags()));
  }

  void guru() {
    IoDim64 dims[kMostRank], loops[kMostRank];
    const auto stride = [&] {
      return draw.one_in(10) ? PTRDIFF_MAX / (1 + static_cast<std::ptrdiff_t>(draw.up_to(9)))
                             : std::ptrdiff_t{draw.number()};
    };
    for (IoDim64& dim : dims) dim = {draw.length(), stride(), stride()};
    for (IoDim64& dim : loops) dim = {draw.number(), stride(), stride()};
    const int rank = draw.one_in(4) ? draw.number() : static_cast<int>(draw.up_to(3));
    const int count = draw.one_in(4) ? draw.number() : static_cast<int>(draw.up_to(3));
    const IoDim64* const axes = draw.one_in(20) ? nullptr : dims;
    const IoDim64* const over = draw.one_in(20) ? nullptr : loops;
    void *in = pointer(), *out = draw.one_in(3) ? in : pointer();
    switch (draw.up_to(3)) {
      case 0:
        return done(library_.call("plan_guru64_dft_r2c", rank, axes, count, over, in, out, draw.flags()));
      case 1:
        return done(library_.call("plan_guru64_dft_c2r", rank, axes, count, over, in, out, draw.flags()));
      case 2:
        return done(library_.call("plan_guru64_split_dft", rank, axes, count, over, in, pointer(), out, pointer(),
                                  draw.flags()));
      default:
        return done(library_.call("plan_guru64_dft", rank, axes, count, over, in, out, draw.number(), draw.flags()));
    }
  }

  // A valid plan on arrays that end at the inaccessible page.
  void honest() {
    const int n = 1 + static_cast<int>(draw.up_to(300)), batch = 1 + static_cast<int>(draw.up_to(4));
    const std::size_t complexes = static_cast<std::size_t>(n) * static_cast<std::size_t>(batch) * 2 * sizeof(R);
    const std::size_t reals = complexes / 2,
                      half = static_cast<std::size_t>(n / 2 + 1) * static_cast<std::size_t>(batch) * 2 * sizeof(R);
    const bool front = draw.one_in(2);
    const auto at = [&](Guarded& memory, std::size_t bytes) { return front ? memory.first() : memory.last(bytes); };
    void* plan = nullptr;
    switch (draw.up_to(3)) {
      case 0:
        plan = library_.call("plan_many_dft", 1, &n, batch, at(a_, complexes), (int*)nullptr, 1, n, at(b_, complexes),
                             (int*)nullptr, 1, n, -1, 64U);
        break;
      case 1:
        plan = library_.call("plan_many_dft_r2c", 1, &n, batch, at(a_, reals), (int*)nullptr, 1, n, at(b_, half),
                             (int*)nullptr, 1, n / 2 + 1, 64U);
        break;
      case 2:
        plan = library_.call("plan_many_dft_c2r", 1, &n, batch, at(a_, half), (int*)nullptr, 1, n / 2 + 1,
                             at(b_, reals), (int*)nullptr, 1, n, 64U);
        break;
      default: {
        const int kind = static_cast<int>(draw.up_to(10));
        if (kind == 3 && n == 1) return;
        plan = library_.call("plan_many_r2r", 1, &n, batch, at(a_, reals), (int*)nullptr, 1, n, at(b_, reals),
                             (int*)nullptr, 1, n, &kind, 64U);
      }
    }
    ASSERT_NE(plan, nullptr) << n << " x " << batch;
    library_.template call<void>("execute", static_cast<const void*>(plan));
    library_.template call<void>("destroy_plan", plan);
  }

  void words() {
    std::string text;
    for (std::size_t i = draw.up_to(200); i-- > 0;)
      text += draw.one_in(3) ? "()\" \\"[draw.up_to(4)] : static_cast<char>(draw.up_to(255));
    if (draw.one_in(3)) text = "(fftw-3.3.10 fftw_wisdom #x" + text;
    EXPECT_EQ(library_.template call<int>("import_wisdom_from_string", text.c_str()) & ~1, 0);
    if (draw.one_in(50)) library_.template call<void>("forget_wisdom");
    library_.template call<void>("set_timelimit", draw.one_in(2) ? -1.0 : 0.0);
    library_.template call<void>("plan_with_nthreads", draw.one_in(9) ? draw.number() : 1);
    library_.template call<void>("plan_with_nthreads", 1);
  }

  int planned = 0, refused = 0;

 private:
  void* pointer() { return draw.one_in(8) ? nullptr : draw.one_in(2) ? a_.first() : b_.first(); }

  // The plan may have any strides: it is inspected, never run on its arrays; without arrays execution does nothing.
  void done(void* plan) {
    ++(plan == nullptr ? refused : planned);
    double add = 0, mul = 0, fma = 0;
    library_.template call<void>("flops", static_cast<const void*>(plan), &add, &mul, &fma);
    library_.template call<double>("cost", static_cast<const void*>(plan));
    std::free(library_.template call<char*>("sprint_plan", static_cast<const void*>(plan)));
    library_.template call<void>("execute_dft", static_cast<const void*>(plan), (void*)nullptr, (void*)nullptr);
    library_.template call<void>("execute_r2r", static_cast<const void*>(plan), (void*)nullptr, (void*)nullptr);
    library_.template call<void>("destroy_plan", plan);
  }

  const Library<R>& library_;
  Drawn draw;
  Guarded a_, b_;
};

template <class R>
void hostile() {
  const Library<R> library(RIDGE_FFTW_LIBRARY);
  ASSERT_TRUE(library.here());
  Hostile<R> hostile(library, 11);
  const int rounds = std::getenv("RIDGE_SLOW") != nullptr ? 100000 : 1000;
  for (int i = 0; i < rounds; ++i) {
    hostile.basic();
    hostile.advanced();
    hostile.guru();
    hostile.words();
    if (i % 4 == 0) hostile.honest();
  }
  EXPECT_GT(hostile.planned, rounds / 4);  // not all refused
  EXPECT_GT(hostile.refused, rounds / 4);  // not all accepted
}

TEST(Hostile, CallsInDouble) { hostile<double>(); }
TEST(Hostile, CallsInFloat) { hostile<float>(); }

}  // namespace
}  // namespace ridge::fftw_test
