// FFTW's C interface: the bytes choose a planner of each family, ranks, sizes, strides, pointers and flags. A planner
// returns NULL or a plan. If the strides stay within small arrays, the plan runs on memory of exactly that size.
#include <fftw3.h>
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// A failed allocation returns NULL, as in normal use; planners then return NULL too.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=1024"; }

namespace {

constexpr std::ptrdiff_t kMostElements = 4096;
constexpr int kMostRank = 9;

struct Reach {
  std::ptrdiff_t low = 0, high = 0;
  bool small = true;
  void add(std::ptrdiff_t length, std::ptrdiff_t stride) {
    if (length < 1 || length > kMostElements || stride < -kMostElements || stride > kMostElements) {
      small = false;
      return;
    }
    (stride < 0 ? low : high) += (length - 1) * stride;
    if (high - low >= kMostElements) small = false;
  }
};

// Memory next to an inaccessible page, so that out-of-bounds accesses of kernels that are not instrumented are detected
// too.
class Guarded {
 public:
  Guarded() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = static_cast<std::byte*>(mmap(nullptr, kRoom + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + page_, kRoom, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  double* place(std::size_t numbers, bool at_end) const {
    std::byte* const room = base_ + page_;
    return reinterpret_cast<double*>(at_end ? room + kRoom - numbers * sizeof(double) : room);
  }

 private:
  static constexpr std::size_t kRoom = std::size_t{1} << 18;
  std::size_t page_;
  std::byte* base_;
};

// An array of exactly the elements that the strides reach.
class Elements {
 public:
  Elements(int array, bool at_end, const Reach& reach, std::size_t numbers) {
    static const Guarded arrays[4];
    const std::size_t count = static_cast<std::size_t>(reach.high - reach.low + 1) * numbers;
    double* const memory = arrays[array].place(count, at_end);
    for (std::size_t i = 0; i < count; ++i) memory[i] = static_cast<double>(i % 7);
    origin_ = memory - reach.low * static_cast<std::ptrdiff_t>(numbers);
  }
  double* reals() const { return origin_; }
  fftw_complex* pairs() const { return reinterpret_cast<fftw_complex*>(origin_); }

 private:
  double* origin_;
};

class Call {
 public:
  Call(const std::uint8_t* data, std::size_t size) : drawn_(data, size) {}

  void make() {
    switch (drawn_.ConsumeIntegralInRange<int>(0, 5)) {
      case 0:
        return guru();
      case 1:
        return advanced();
      case 2:
        return basic();
      case 3:
        return wisdom();
      case 4:
        return split();
      default:
        return helpers();
    }
  }

 private:
  int rank() {
    constexpr int kOdd[] = {0, -1, INT_MAX, INT_MIN, 40, 8};
    return one_in(8) ? drawn_.PickValueInArray(kOdd) : drawn_.ConsumeIntegralInRange<int>(0, 4);
  }
  int length() {
    constexpr int kOdd[] = {0, -1, INT_MIN, INT_MAX, 1, 97, 256, 4096};
    return one_in(8) ? drawn_.PickValueInArray(kOdd) : drawn_.ConsumeIntegralInRange<int>(1, 12);
  }
  std::ptrdiff_t stride() {
    constexpr std::ptrdiff_t kOdd[] = {0, PTRDIFF_MAX, PTRDIFF_MIN, -1, std::ptrdiff_t{1} << 40};
    return one_in(8) ? drawn_.PickValueInArray(kOdd) : drawn_.ConsumeIntegralInRange<int>(-20, 60);
  }
  bool one_in(int n) { return drawn_.ConsumeIntegralInRange<int>(1, n) == 1; }
  unsigned flags() {
    constexpr unsigned kOthers[] = {0,       FFTW_WISDOM_ONLY, FFTW_PRESERVE_INPUT, FFTW_DESTROY_INPUT, FFTW_UNALIGNED,
                                    1u << 31};
    return FFTW_ESTIMATE | drawn_.PickValueInArray(kOthers);
  }
  fftw_r2r_kind kind() { return static_cast<fftw_r2r_kind>(drawn_.ConsumeIntegralInRange<int>(-1, 12)); }
  // Occasionally a null pointer, which FFTW_ESTIMATE allows.
  double* maybe(double* pointer) { return one_in(16) ? nullptr : pointer; }

  // Makes the remaining calls on a plan, then destroys it.
  void finish(fftw_plan plan, bool run) {
    if (plan == nullptr) return;
    if (run) fftw_execute(plan);
    double add = 0, multiply = 0, fused = 0;
    fftw_flops(plan, &add, &multiply, &fused);
    fftw_cost(plan);
    std::free(fftw_sprint_plan(plan));
    fftw_destroy_plan(plan);
  }

  void guru() {
    const int axes = rank(), loops = rank();
    std::vector<fftw_iodim64> dims(static_cast<std::size_t>(std::clamp(axes, 0, kMostRank))),
        loop_dims(static_cast<std::size_t>(std::clamp(loops, 0, kMostRank)));
    if (axes > kMostRank ||
        loops > kMostRank) {  // more than the arrays hold: allowed only if rejected before they are read
      finish(fftw_plan_guru64_dft(axes, nullptr, loops, nullptr, nullptr, nullptr, FFTW_FORWARD, flags()), false);
      return;
    }
    Reach in, out;
    std::ptrdiff_t points = 1;
    for (auto* list : {&dims, &loop_dims}) {
      for (fftw_iodim64& d : *list) {
        d = {length(), stride(), stride()};
        in.add(d.n, d.is);
        out.add(d.n, d.os);
        points = points > kMostElements ? points : points * std::max<std::ptrdiff_t>(d.n, 1);
      }
    }
    const bool small = in.small && out.small && points <= kMostElements && axes >= 0 && loops >= 0;
    const Reach nothing;
    const bool end = one_in(2);
    const Elements from(0, end, small ? in : nothing, 2), to(1, end, small ? out : nothing, 2);
    double* const a = maybe(from.reals());
    double* const b = one_in(6) ? a : maybe(to.reals());
    const bool run = small && a != nullptr && b != nullptr && a != b;
    auto* const ca = reinterpret_cast<fftw_complex*>(a);
    auto* const cb = reinterpret_cast<fftw_complex*>(b);
    const fftw_iodim64* const d = one_in(16) ? nullptr : dims.data();
    const fftw_iodim64* const l = one_in(16) ? nullptr : loop_dims.data();
    if (d == nullptr && axes > 0) return finish(fftw_plan_guru64_dft(axes, d, loops, l, ca, cb, -1, flags()), false);
    if (l == nullptr && loops > 0) return finish(fftw_plan_guru64_dft(axes, d, loops, l, ca, cb, -1, flags()), false);
    std::vector<fftw_r2r_kind> kinds(static_cast<std::size_t>(kMostRank));
    for (auto& one : kinds) one = kind();
    switch (drawn_.ConsumeIntegralInRange<int>(0, 3)) {
      case 0:
        return finish(fftw_plan_guru64_dft(axes, d, loops, l, ca, cb, one_in(2) ? 1 : -1, flags()), run);
      case 1:
        return finish(fftw_plan_guru64_dft_r2c(axes, d, loops, l, a, cb, flags()), run);
      case 2:
        return finish(fftw_plan_guru64_dft_c2r(axes, d, loops, l, ca, b, flags()), run);
      default:
        return finish(fftw_plan_guru64_r2r(axes, d, loops, l, a, b, kinds.data(), flags()), run);
    }
  }

  void split() {
    const fftw_iodim64 axis{length(), stride(), stride()}, loop{length(), stride(), stride()};
    Reach in, out;
    for (const fftw_iodim64& d : {axis, loop}) in.add(d.n, d.is), out.add(d.n, d.os);
    const bool small = in.small && out.small;
    const Reach nothing;
    const bool end = one_in(2);
    const Elements a(0, end, small ? in : nothing, 1), b(1, end, small ? in : nothing, 1),
        c(2, end, small ? out : nothing, 1), e(3, end, small ? out : nothing, 1);
    finish(fftw_plan_guru64_split_dft(1, &axis, 1, &loop, a.reals(), b.reals(), c.reals(), e.reals(), flags()), small);
  }

  void advanced() {
    const int axes = rank(), howmany = length();
    std::vector<int> n(kMostRank), embed(kMostRank);
    for (int& one : n) one = length();
    for (int& one : embed) one = length();
    const int step = static_cast<int>(drawn_.ConsumeIntegralInRange<int>(-3, 20));
    const int distance = drawn_.ConsumeIntegral<int>();
    const int* const in_embed = one_in(2) ? nullptr : embed.data();
    double one[2] = {};
    auto* const complex = reinterpret_cast<fftw_complex*>(maybe(one));
    const int* const lengths = one_in(12) || axes > kMostRank ? nullptr : n.data();
    double product = 1;  // skips large plans, which take long and find nothing
    for (int i = 0; i < std::clamp(axes, 0, kMostRank); ++i) product *= std::max(n[static_cast<std::size_t>(i)], 1);
    if (product > 1e6) return;
    switch (drawn_.ConsumeIntegralInRange<int>(0, 2)) {
      case 0:
        return finish(fftw_plan_many_dft(axes, lengths, howmany, complex, in_embed, step, distance, complex, nullptr,
                                         step, distance, 1, flags()),
                      false);
      case 1:
        return finish(fftw_plan_many_dft_r2c(axes, lengths, howmany, one, in_embed, step, distance, complex, in_embed,
                                             step, distance, flags()),
                      false);
      default:
        return finish(fftw_plan_many_dft_c2r(axes, lengths, howmany, complex, nullptr, step, distance, one, in_embed,
                                             step, distance, flags()),
                      false);
    }
  }

  void basic() {
    const int n0 = length(), n1 = length();
    const bool small = n0 > 0 && n0 <= 40 && n1 > 0 && n1 <= 40;
    Reach all;
    all.add(small ? n0 * (n1 / 2 + 1) * 2 : 1, 1);
    const bool end = one_in(2);
    const Elements from(0, end, all, 2), to(1, end, all, 2);
    if (!small && (n0 > 1 << 16 || n1 > 1 << 16)) return;
    switch (drawn_.ConsumeIntegralInRange<int>(0, 3)) {
      case 0:
        return finish(fftw_plan_dft_2d(n0, n1, from.pairs(), one_in(3) ? from.pairs() : to.pairs(), -1, flags()),
                      small);
      case 1:
        return finish(fftw_plan_dft_r2c_2d(n0, n1, from.reals(), to.pairs(), flags()), small);
      case 2:
        return finish(fftw_plan_dft_c2r_2d(n0, n1, from.pairs(), to.reals(), flags()), small);
      default:
        return finish(
            fftw_plan_r2r_2d(n0, n1, from.reals(), one_in(3) ? from.reals() : to.reals(), kind(), kind(), flags()),
            small);
    }
  }

  void wisdom() {
    const std::string text = drawn_.ConsumeRandomLengthString(4096);
    fftw_import_wisdom_from_string(text.c_str());
    char* const kept = fftw_export_wisdom_to_string();
    if (kept == nullptr || fftw_import_wisdom_from_string(kept) != 1) std::abort();
    std::free(kept);
    fftw_forget_wisdom();
  }

  void helpers() {
    fftw_free(fftw_malloc(drawn_.ConsumeIntegralInRange<std::size_t>(0, 4096)));
    fftw_destroy_plan(nullptr);
    fftw_execute(nullptr);
    fftw_set_timelimit(drawn_.ConsumeFloatingPoint<double>());
    fftw_set_timelimit(-1);
    if (one_in(64)) fftw_cleanup();
  }

  FuzzedDataProvider drawn_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Call(data, size).make();
  return 0;
}
