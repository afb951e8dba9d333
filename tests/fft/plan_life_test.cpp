// Plans created and destroyed one after another and in many threads concurrently: their memory is freed.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <complex>
#include <cstdint>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/fft.hpp>
#include <ridge/fft/tensor.hpp>

namespace ridge::fft {
namespace {

// Callers that know their arrays pay for no check and handle no exception.
static_assert(noexcept(std::declval<const TensorPlan<float>&>().run(nullptr, nullptr)));
static_assert(noexcept(std::declval<const TensorPlan<double>&>().run(nullptr, nullptr, nullptr, nullptr)));

// Resident memory of the process in bytes.
double resident() {
  malloc_trim(0);
  std::ifstream status("/proc/self/statm");
  double whole = 0, pages = 0;
  status >> whole >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Each plan has its own tables and scratch, tens of kilobytes, and is run once.
void make_some(std::size_t n) {
  const planner::Options quick{.effort = Effort::quick};
  std::vector<std::complex<float>> in(2 * n, 1.0f), out(2 * n);
  std::vector<std::uint16_t> words(2 * n), more(2 * n);
  const Plan<float> complex(host(), {.shape = {n}, .directions = Directions::forward}, quick);
  complex.forward(std::span<const std::complex<float>>(in), out);
  const Plan<float> real(host(), {.shape = {2 * n}, .kind = Kind::real, .threads = 1}, quick);
  real.forward(std::span<const float>(reinterpret_cast<const float*>(in.data()), 2 * n), out);
  const Plan<float> stored(host(), {.shape = {n}, .threads = 1, .storage = Storage::float16}, quick);
  stored.forward(std::span<const std::uint16_t>(words), more);
  const TensorProblem cosine{.kind = TensorKind::real_to_real,
                             .axes = {{.length = n, .input = 1, .output = 1}},
                             .real_kinds = {RealKind::dct2}};
  tensor_plan<float>(host(), cosine, quick).run(in.data(), out.data());
  cached_tensor_plan<float>(cosine, quick).run(in.data(), out.data());
  forget_cached_plans();
}

TEST(PlanLife, DestroyedPlansFreeTheirMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory that was given back for a while, and look for leaks themselves";
#endif
  for (const std::size_t n : {4096, 3125, 1009}) make_some(n);  // allocations that a process makes only once
  const double before = resident();
  for (int i = 0; i < 60; ++i) {
    for (const std::size_t n : {4096, 3125, 1009}) make_some(n);
  }
  // Five plans of at least 30 KB per round: leaking any one of them would add 5 MB.
  EXPECT_LT(resident() - before, 3e6);
}

TEST(PlanLife, MadeAndRunByManyThreadsAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 12; ++i) {
        const std::size_t n = 60 + 4 * ((static_cast<std::size_t>(t) + i) % 5);
        const TensorProblem problem{.axes = {{.length = n, .input = 1, .output = 1}}};
        std::vector<std::complex<double>> in(n, 0.0), first(n), second(n);
        in[1] = 1.0;
        cached_tensor_plan<double>(problem, {.effort = Effort::quick}).run(in.data(), first.data());
        const Plan<double> plan(host(), {.shape = {n}, .threads = 1}, {.effort = Effort::quick});
        plan.forward(std::span<const std::complex<double>>(in), second);
        for (std::size_t k = 0; k < n; ++k) {
          const auto root =
              std::polar(1.0, -2 * 3.14159265358979323846 * static_cast<double>(k) / static_cast<double>(n));
          if (!(std::abs(first[k] - root) < 1e-13) || !(std::abs(second[k] - root) < 1e-13)) ++wrong;
        }
        if (i % 4 == 3) forget_cached_plans();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ridge::fft
