// The drop-in library against the real FFTW: same problems, same results, NULL where FFTW returns NULL.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "base/worst.hpp"
#include "fftw/drop_in.hpp"

namespace ridge::fftw_test {
namespace {

TYPED_TEST_SUITE(DropIn, Precisions);

constexpr const char* kFunctions[] = {"version",
                                      "cc",
                                      "codelet_optim",
                                      "execute",
                                      "plan_dft",
                                      "plan_dft_1d",
                                      "plan_dft_2d",
                                      "plan_dft_3d",
                                      "plan_many_dft",
                                      "plan_guru_dft",
                                      "plan_guru_split_dft",
                                      "plan_guru64_dft",
                                      "plan_guru64_split_dft",
                                      "execute_dft",
                                      "execute_split_dft",
                                      "plan_many_dft_r2c",
                                      "plan_dft_r2c",
                                      "plan_dft_r2c_1d",
                                      "plan_dft_r2c_2d",
                                      "plan_dft_r2c_3d",
                                      "plan_many_dft_c2r",
                                      "plan_dft_c2r",
                                      "plan_dft_c2r_1d",
                                      "plan_dft_c2r_2d",
                                      "plan_dft_c2r_3d",
                                      "plan_guru_dft_r2c",
                                      "plan_guru_dft_c2r",
                                      "plan_guru_split_dft_r2c",
                                      "plan_guru_split_dft_c2r",
                                      "plan_guru64_dft_r2c",
                                      "plan_guru64_dft_c2r",
                                      "plan_guru64_split_dft_r2c",
                                      "plan_guru64_split_dft_c2r",
                                      "execute_dft_r2c",
                                      "execute_dft_c2r",
                                      "execute_split_dft_r2c",
                                      "execute_split_dft_c2r",
                                      "plan_many_r2r",
                                      "plan_r2r",
                                      "plan_r2r_1d",
                                      "plan_r2r_2d",
                                      "plan_r2r_3d",
                                      "plan_guru_r2r",
                                      "plan_guru64_r2r",
                                      "execute_r2r",
                                      "destroy_plan",
                                      "forget_wisdom",
                                      "cleanup",
                                      "set_timelimit",
                                      "plan_with_nthreads",
                                      "planner_nthreads",
                                      "init_threads",
                                      "cleanup_threads",
                                      "threads_set_callback",
                                      "make_planner_thread_safe",
                                      "export_wisdom_to_filename",
                                      "export_wisdom_to_file",
                                      "export_wisdom_to_string",
                                      "export_wisdom",
                                      "import_system_wisdom",
                                      "import_wisdom_from_filename",
                                      "import_wisdom_from_file",
                                      "import_wisdom_from_string",
                                      "import_wisdom",
                                      "fprint_plan",
                                      "print_plan",
                                      "sprint_plan",
                                      "malloc",
                                      "alloc_real",
                                      "alloc_complex",
                                      "free",
                                      "flops",
                                      "estimate_cost",
                                      "cost",
                                      "alignment_of",
                                      "copy_plan"};

TYPED_TEST(DropIn, EveryFunctionIsExported) {
  for (const char* call : kFunctions) {
    EXPECT_NE(this->ours.symbol(Library<TypeParam>::name(call)), nullptr) << call;
  }
  const std::string fortran = std::is_same_v<TypeParam, float> ? "sfftw_" : "dfftw_";
  for (const char* call : {"plan_dft_1d", "execute_dft", "destroy_plan", "plan_many_dft_r2c", "plan_r2r_3d"}) {
    EXPECT_NE(this->ours.symbol(fortran + call + "_"), nullptr) << call;
    EXPECT_NE(this->ours.symbol(fortran + call + "__"), nullptr) << call;
  }
  EXPECT_EQ(this->ours.symbol("_ZN5ridge4hostEv"), nullptr) << "internal symbols are not exported";
  EXPECT_STREQ(static_cast<const char*>(this->ours.symbol(Library<TypeParam>::name("version"))), "fftw-3.3.10");
}

TYPED_TEST(DropIn, BasicAndAdvanced) {
  using R = TypeParam;
  std::mt19937 random(3);
  std::uniform_real_distribution<R> uniform(R(-0.5), R(0.5));
  const auto both = [&](const auto& plan, std::size_t size, bool in_place, std::size_t answers = 0) {
    std::vector<R> mine(2 * size), theirs;
    for (R& x : mine) x = uniform(random);
    theirs = mine;
    for (auto* side : {&mine, &theirs}) {
      const Library<R>& library = side == &mine ? this->ours : this->real;
      void* const made = plan(library, side->data(), in_place ? side->data() : side->data() + size);
      ASSERT_NE(made, nullptr);
      library.template call<void>("execute", made);
      library.template call<void>("destroy_plan", made);
    }
    double error = 0, norm = 0;
    const std::size_t from = in_place ? 0 : size;
    for (std::size_t i = from; i < (answers == 0 ? 2 * size : from + answers); ++i) {
      error += std::pow(static_cast<double>(mine[i]) - theirs[i], 2);
      norm += std::pow(static_cast<double>(theirs[i]), 2);
    }
    EXPECT_LE(std::sqrt(error / norm), 10 * std::numeric_limits<R>::epsilon());
  };
  using L = Library<R>;
  for (const bool in_place : {false, true}) {
    for (const int n : {1, 2, 3, 64, 97, 1000}) {
      both([n](const L& l, R* in, R* out) { return l.call("plan_dft_1d", n, in, out, -1, kEstimate); }, 4096, in_place);
      both([n](const L& l, R* in, R* out) { return l.call("plan_dft_r2c_1d", n, in, out, kEstimate); }, 4096, in_place);
      both([n](const L& l, R* in, R* out) { return l.call("plan_dft_c2r_1d", n, in, out, kEstimate); }, 4096, in_place,
           static_cast<std::size_t>(n));
      both([n](const L& l, R* in, R* out) { return l.call("plan_r2r_1d", n, in, out, 5, kEstimate); }, 4096, in_place);
    }
    both([](const L& l, R* in, R* out) { return l.call("plan_dft_3d", 4, 6, 10, in, out, 1, kEstimate); }, 4096,
         in_place);
    both([](const L& l, R* in, R* out) { return l.call("plan_dft_r2c_3d", 4, 6, 10, in, out, kEstimate); }, 4096,
         in_place);
    both([](const L& l, R* in, R* out) { return l.call("plan_dft_c2r_3d", 4, 6, 9, in, out, kEstimate); }, 4096,
         in_place, 9);
    both(
        [](const L& l, R* in, R* out) {
          const int n[] = {6, 10}, embed[] = {7, 12};
          const int* const where = embed;
          return l.call("plan_many_dft", 2, static_cast<const int*>(n), 5, in, where, 5, 1, out, where, 5, 1, -1,
                        kEstimate);
        },
        4096, in_place);
  }
}

TYPED_TEST(DropIn, ImpossibleProblemsGiveNull) {
  using R = TypeParam;
  std::vector<R> data(64);
  R* const p = data.data();
  const Library<R>& l = this->ours;
  const int none = 0, minus = -3, four = 4;
  const int* nowhere = nullptr;
  EXPECT_EQ(l.call("plan_dft_1d", 0, p, p, -1, kEstimate), nullptr);
  EXPECT_EQ(l.call("plan_dft_1d", -5, p, p, -1, kEstimate), nullptr);
  EXPECT_EQ(l.call("plan_dft", -1, &four, p, p, -1, kEstimate), nullptr);
  EXPECT_EQ(l.call("plan_dft", 1, &none, p, p, -1, kEstimate), nullptr);
  EXPECT_EQ(l.call("plan_dft", 1, nowhere, p, p, -1, kEstimate), nullptr);
  EXPECT_EQ(l.call("plan_dft", 2000000000, &four, p, p, -1, kEstimate), nullptr);
  EXPECT_EQ(l.call("plan_many_dft", 1, &four, minus, p, nowhere, 1, 4, p, nowhere, 1, 4, -1, kEstimate), nullptr);
  EXPECT_EQ(l.call("plan_r2r_1d", 1, p, p, 3, kEstimate), nullptr);   // REDFT00 of one point
  EXPECT_EQ(l.call("plan_r2r_1d", 8, p, p, 11, kEstimate), nullptr);  // no such kind
  EXPECT_EQ(l.call("plan_r2r_1d", 8, p, p, -1, kEstimate), nullptr);
  const int huge[] = {2000000000, 2000000000, 2000000000};
  EXPECT_EQ(l.call("plan_dft", 3, static_cast<const int*>(huge), p, p, -1, kEstimate), nullptr);
  // A loop of length 0 gives a plan that does nothing; calls without a plan do nothing.
  void* const idle = l.call("plan_many_dft", 1, &four, 0, p, nowhere, 1, 4, p, nowhere, 1, 4, -1, kEstimate);
  ASSERT_NE(idle, nullptr);
  l.template call<void>("execute", idle);
  l.template call<void>("destroy_plan", idle);
  l.template call<void>("destroy_plan", static_cast<void*>(nullptr));
  l.template call<void>("execute", static_cast<void*>(nullptr));
  void* const empty = l.call("malloc", std::size_t{0});
  EXPECT_NE(empty, nullptr);
  std::free(empty);
  EXPECT_EQ(l.call("alloc_complex", std::numeric_limits<std::size_t>::max()), nullptr);
}

TYPED_TEST(DropIn, OtherArraysThanPlanned) {
  using R = TypeParam;
  const Library<R>& l = this->ours;
  std::vector<R> a(128), b(128, 0), c(128), d(128, 0);
  for (std::size_t i = 0; i < 128; ++i) a[i] = c[i] = std::sin(R(i));
  // Planned without arrays, as programs do with FFTW_ESTIMATE; executed out of place and in place.
  R* const nothing = nullptr;
  void* const plan = l.call("plan_dft_1d", 64, nothing, nothing, -1, kEstimate);
  ASSERT_NE(plan, nullptr);
  l.template call<void>("execute_dft", plan, a.data(), b.data());
  EXPECT_EQ(a, c);
  l.template call<void>("execute_dft", plan, c.data(), c.data());
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(b[i], c[i], 1e-4);
  // The same numbers as split arrays one real apart, and backward by exchanging them.
  l.template call<void>("execute_split_dft", plan, a.data(), a.data() + 1, d.data(), d.data() + 1);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(b[i], d[i], 1e-4);
  l.template call<void>("execute_split_dft", plan, b.data() + 1, b.data(), d.data() + 1, d.data());
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(d[i] / 64, a[i], 1e-4);
  // Planned in place, executed out of place.
  void* const here = l.call("plan_dft_1d", 64, d.data(), d.data(), -1, kEstimate);
  ASSERT_NE(here, nullptr);
  std::fill(d.begin(), d.end(), R(0));
  const std::vector<R> before = a;
  l.template call<void>("execute_dft", here, a.data(), d.data());
  EXPECT_EQ(a, before);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(b[i], d[i], 1e-4);
  l.template call<void>("destroy_plan", here);
  void* const again = l.call("copy_plan", plan);
  EXPECT_EQ(again, plan);
  l.template call<void>("destroy_plan", plan);
  l.template call<void>("execute_dft", again, a.data(), d.data());
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(b[i], d[i], 1e-4);
  l.template call<void>("destroy_plan", again);
}

// A transposed spectrum: in place it needs work memory, which the plan for separate arrays does not have.
TYPED_TEST(DropIn, TransposedSpectraInPlaceByAPlanForSeparateArrays) {
  using R = TypeParam;
  const Library<R>& l = this->ours;
  constexpr std::size_t kRows = 300, kColumns = 500, kReals = 2 * kRows * kColumns;
  std::vector<R> a(kReals), b(kReals, 0), c(kReals);
  for (std::size_t i = 0; i < kReals; ++i) a[i] = c[i] = std::sin(R(i % 1009));
  const IoDim64 dims[] = {{kRows, kColumns, 1}, {kColumns, 1, kRows}};
  void* const plan = l.call("plan_guru64_dft", 2, dims, 0, dims, a.data(), b.data(), -1, kEstimate);
  ASSERT_NE(plan, nullptr);
  l.template call<void>("execute_dft", plan, a.data(), b.data());
  l.template call<void>("execute_dft", plan, c.data(), c.data());
  base::Worst worst, largest;
  for (std::size_t i = 0; i < kReals; ++i) {
    worst.add(std::abs(static_cast<double>(b[i]) - static_cast<double>(c[i])));
    largest.add(std::abs(static_cast<double>(b[i])));
  }
  EXPECT_LT(worst.value(), 1e-5 * largest.value());
  EXPECT_GT(largest.value(), 100);
  l.template call<void>("destroy_plan", plan);
}

// Spectra of real samples as split arrays one real apart, although the plans were made for interleaved ones.
TYPED_TEST(DropIn, SplitArraysOfRealTransforms) {
  using R = TypeParam;
  const Library<R>& l = this->ours;
  std::vector<R> samples(16), spectrum(18, 0), split(18, 0), back(16, 0);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = std::sin(R(3 * i));
  void* const there = l.call("plan_dft_r2c_1d", 16, samples.data(), spectrum.data(), kEstimate);
  void* const home = l.call("plan_dft_c2r_1d", 16, spectrum.data(), back.data(), kEstimate);
  ASSERT_NE(there, nullptr);
  ASSERT_NE(home, nullptr);
  l.template call<void>("execute", there);
  l.template call<void>("execute_split_dft_r2c", there, samples.data(), split.data(), split.data() + 1);
  for (std::size_t i = 0; i < 18; ++i) EXPECT_NEAR(split[i], spectrum[i], 1e-5) << i;
  l.template call<void>("execute_split_dft_c2r", home, split.data(), split.data() + 1, back.data());
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(back[i] / 16, samples[i], 1e-5) << i;
  for (void* made : {there, home}) l.template call<void>("destroy_plan", made);
}

TYPED_TEST(DropIn, Wisdom) {
  using R = TypeParam;
  const Library<R>& l = this->ours;
  std::vector<R> data(512);
  R* const p = data.data();
  l.template call<void>("forget_wisdom");
  EXPECT_EQ(l.call("plan_dft_1d", 100, p, p, -1, kEstimate | kWisdomOnly), nullptr);
  void* const plan = l.call("plan_dft_1d", 100, p, p, -1, kMeasure);
  ASSERT_NE(plan, nullptr);
  for (const R x : data) ASSERT_EQ(x, 0) << "planning touched the array";
  void* const known = l.call("plan_dft_1d", 100, p, p, -1, kMeasure | kWisdomOnly);
  EXPECT_NE(known, nullptr);
  EXPECT_EQ(l.call("plan_dft_1d", 100, p, p, -1, kPatient | kWisdomOnly), nullptr) << "measured only";
  char* const text = l.template call<char*>("export_wisdom_to_string");
  ASSERT_NE(text, nullptr);
  l.template call<void>("forget_wisdom");
  EXPECT_EQ(l.call("plan_dft_1d", 100, p, p, -1, kMeasure | kWisdomOnly), nullptr);
  EXPECT_EQ(l.template call<int>("import_wisdom_from_string", static_cast<const char*>("(fftw-3.3.10 fftw_wisdom)")),
            0);
  EXPECT_EQ(l.template call<int>("import_wisdom_from_string", static_cast<const char*>("")), 0);
  EXPECT_EQ(l.template call<int>("import_wisdom_from_string", static_cast<const char*>("((((")), 0);
  EXPECT_EQ(
      l.template call<int>("import_wisdom_from_string", static_cast<const char*>((std::string(text) + "tail").c_str())),
      1);
  void* const back = l.call("plan_dft_1d", 100, p, p, -1, kMeasure | kWisdomOnly);
  EXPECT_NE(back, nullptr);
  std::free(text);
  for (void* made : {plan, known, back}) l.template call<void>("destroy_plan", made);
}

TYPED_TEST(DropIn, PlansOfTheRealLibraryAreItsOwn) {
  using R = TypeParam;
  std::vector<R> in(32), out(32, 0);
  for (std::size_t i = 0; i < 32; ++i) in[i] = std::cos(R(i));
  void* const theirs = this->real.call("plan_dft_1d", 16, in.data(), out.data(), -1, kEstimate | kPreserve);
  this->ours.template call<void>("execute", theirs);
  R sum = 0;
  for (std::size_t i = 0; i < 32; i += 2) sum += in[i];
  EXPECT_NEAR(out[0], sum, 1e-5);
  this->ours.template call<void>("destroy_plan", theirs);
}

struct Loops {
  int loops = 0, jobs = 0;
};
void callers_loop(void* (*work)(char*), char* jobs, std::size_t bytes, int count, void* data) {
  auto& seen = *static_cast<Loops*>(data);
  ++seen.loops;
  for (int job = count; job-- > 0; ++seen.jobs) work(jobs + static_cast<std::size_t>(job) * bytes);
}

TYPED_TEST(DropIn, UsesTheProgramsOwnLoop) {
  using R = TypeParam;
  const int n = 256;
  std::vector<R> in(2 * n * n), alone(2 * n * n), looped(2 * n * n);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<R>(std::sin(0.1 * static_cast<double>(i)));
  this->ours.template call<void>("plan_with_nthreads", 4);
  void* const plan = this->ours.call("plan_dft_2d", n, n, in.data(), looped.data(), -1, 1U << 6);
  this->ours.template call<void>("plan_with_nthreads", 1);
  ASSERT_NE(plan, nullptr);
  const auto run = [&](std::vector<R>& out) {
    this->ours.template call<void>("execute_dft", plan, in.data(), out.data());
  };
  run(alone);
  Loops seen;
  this->ours.template call<void>("threads_set_callback", &callers_loop, static_cast<void*>(&seen));
  run(looped);
  this->ours.template call<void>("threads_set_callback", static_cast<decltype(&callers_loop)>(nullptr),
                                 static_cast<void*>(nullptr));
  EXPECT_GE(seen.loops, 1);
  EXPECT_EQ(seen.jobs, 4 * seen.loops);
  EXPECT_EQ(alone, looped);
  const int loops = seen.loops;
  run(looped);
  EXPECT_EQ(seen.loops, loops);
  this->ours.template call<void>("destroy_plan", plan);
}

TYPED_TEST(DropIn, ManyThreadsPlanAndExecute) {
  using R = TypeParam;
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<R> in(2 * 240), out(2 * 240), back(2 * 240);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(R(i + static_cast<std::size_t>(t)));
      for (int n = 1; n <= 240; n += 7) {
        void* const there = this->ours.call("plan_dft_1d", n, in.data(), out.data(), -1, kEstimate);
        void* const home = this->ours.call("plan_dft_1d", n, out.data(), back.data(), 1, kEstimate);
        this->ours.template call<void>("execute", there);
        this->ours.template call<void>("execute", home);
        for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(n); ++i) {
          if (!(std::abs(back[i] / R(n) - in[i]) < 1e-4)) ++wrong[static_cast<std::size_t>(t)];
        }
        this->ours.template call<void>("destroy_plan", there);
        this->ours.template call<void>("destroy_plan", home);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

}  // namespace
}  // namespace ridge::fftw_test
