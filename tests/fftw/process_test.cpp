// Plans and their process: forks while other threads plan, large ranks, the effort of FFTW_MEASURE.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "fftw/drop_in.hpp"

namespace ridge::fftw_test {
namespace {

template <class R>
class Process : public DropIn<R> {};
TYPED_TEST_SUITE(Process, Precisions);

// The child of a fork plans and transforms, regardless of the parent's other threads.
TYPED_TEST(Process, ForkedWhileAnotherThreadPlans) {
  using R = TypeParam;
  std::vector<R> data(2 * 4096), mine(2 * 4096);
  std::atomic<bool> stop{false};
  std::thread planner([&] {
    for (int n = 1; !stop; n = n % 2000 + 1) {
      void* const plan = this->ours.call("plan_dft_1d", n, data.data(), data.data(), -1, kEstimate);
      this->ours.template call<void>("destroy_plan", plan);
      if (n % 100 == 0) this->ours.template call<void>("cleanup");
    }
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // SIGALRM ends a hanging child
      this->ours.template call<void>("plan_with_nthreads", 2);
      void* const plan = this->ours.call("plan_dft_1d", 1200 + i, mine.data(), mine.data(), -1, kEstimate);
      if (plan == nullptr) _exit(3);
      this->ours.template call<void>("execute", static_cast<const void*>(plan));
      std::free(this->ours.template call<char*>("export_wisdom_to_string"));
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "child " << i << " was ended by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0) << "child " << i;
    if (this->HasFailure()) break;
  }
  stop = true;
  planner.join();
}

// FFTW does not limit the rank; beyond 62 axes some have one point.
TYPED_TEST(Process, RanksAbove32) {
  using R = TypeParam;
  for (const int rank : {33, 70, 200}) {
    std::vector<int> n(static_cast<std::size_t>(rank), 1);
    n[3] = 4;
    n[30] = 3;
    n.back() = 5;
    std::vector<R> in(2 * 60), expected(2 * 60), got(2 * 60);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(R(i));
    const auto check = [&](const char* call, auto... more) {
      for (auto* side : {&expected, &got}) {
        const auto& library = side == &got ? this->ours : this->real;
        std::fill(side->begin(), side->end(), R(0));
        std::vector<R> copy = in;
        void* const plan = library.call(call, rank, n.data(), copy.data(), side->data(), more..., kEstimate);
        ASSERT_NE(plan, nullptr) << call << ", rank " << rank;
        library.template call<void>("execute", static_cast<const void*>(plan));
        library.template call<void>("destroy_plan", plan);
      }
      R largest = 0;
      for (const R x : expected) largest = std::max(largest, std::abs(x));
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected[i], 16 * largest * std::numeric_limits<R>::epsilon()) << call << " " << i;
      }
    };
    check("plan_dft", -1);
    check("plan_dft_r2c");
    check("plan_dft_c2r");
    std::vector<int> kinds(static_cast<std::size_t>(rank), 0);
    for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = i > 25 && i < 40 ? static_cast<int>(i) % 11 : 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] == 3 && n[i] == 1) kinds[i] = 5;  // REDFT00 needs two points
    }
    check("plan_r2r", static_cast<const int*>(kinds.data()));
    std::vector<IoDim64> loops(static_cast<std::size_t>(rank), {1, 7, 7});
    const IoDim64 axis{60, 1, 1};
    void* const plan =
        this->ours.call("plan_guru64_dft", 1, &axis, rank, loops.data(), in.data(), got.data(), -1, kEstimate);
    EXPECT_NE(plan, nullptr);
    this->ours.template call<void>("destroy_plan", plan);
  }
}

// Each real-to-real kind of one point is a constant factor, equal to FFTW's.
TYPED_TEST(Process, OnePointOfEveryKind) {
  using R = TypeParam;
  for (int kind = 0; kind < 11; ++kind) {
    if (kind == 3) continue;
    const int n[] = {1, 6}, kinds[] = {kind, 0};
    std::vector<R> in = {1, -2, 3, 5, 7, 11}, expected(6), got(6);
    for (auto* side : {&expected, &got}) {
      const auto& library = side == &got ? this->ours : this->real;
      void* const plan = library.call("plan_r2r", 2, n, in.data(), side->data(), kinds, kEstimate | kPreserve);
      ASSERT_NE(plan, nullptr) << kind;
      library.template call<void>("execute", static_cast<const void*>(plan));
      library.template call<void>("destroy_plan", plan);
    }
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(got[i], expected[i], 1e-4) << "kind " << kind << ", " << i;
  }
}

// "fastest of 4 run, 7 allowed" in the plan's text.
TYPED_TEST(Process, MeasureTriesFour) {
  using R = TypeParam;
  for (const int n : {1000, 4096, 60000, 1 << 17}) {
    std::vector<R> data(2 * static_cast<std::size_t>(n));
    this->ours.template call<void>("cleanup");
    void* const plan = this->ours.call("plan_dft_1d", n, data.data(), data.data(), -1, kMeasure);
    ASSERT_NE(plan, nullptr);
    char* const text = this->ours.template call<char*>("sprint_plan", static_cast<const void*>(plan));
    const std::string explained = text;
    std::free(text);
    this->ours.template call<void>("destroy_plan", plan);
    const std::size_t at = explained.find("the fastest of ");
    if (at == std::string::npos) {
      EXPECT_NE(explained.find("wisdom"), std::string::npos) << explained;  // from an earlier measurement
      continue;
    }
    int ran = 0, allowed = 0;
    ASSERT_EQ(std::sscanf(explained.c_str() + at, "the fastest of %d run, %d allowed", &ran, &allowed), 2) << explained;
    EXPECT_GE(ran, std::min(4, allowed)) << explained;
  }
}

}  // namespace
}  // namespace ridge::fftw_test
