// Times the parts of the thesis's transforms V1 and V2 (src/papers/fft/classic), 1024 floats, one core, and lets
// bench/classic_parts.py count their instructions. Compiled by that script for each instruction set, with VERSION 1
// or 2.
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>

#if VERSION == 1
#include "papers/fft/classic/v1.cpp"
#else
#include "papers/fft/classic/v2.cpp"
#endif

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::classic::HWY_NAMESPACE {
namespace {

using F = float;
constexpr size_t kN = 1024, kLanes = kFullLanes<F>;

struct Part {
  const char* name;
  std::function<void()> run;
};

struct alignas(4096) Memory {
  std::complex<F> in[kN], out[kN], scratch[2 * kN];
  F narrow[16 * kN];
};

struct Data {
  std::unique_ptr<Memory> memory = std::make_unique<Memory>();
  std::complex<F>*in = memory->in, *out = memory->out, *scratch = memory->scratch;
  F* narrow = memory->narrow;
  Arrays<F> x{}, y{};
  std::vector<std::complex<F>> wide;
  Data() : wide(kN) {
    std::mt19937 random(1);
    std::uniform_real_distribution<F> any(-1, 1);
    for (auto& value : memory->in) value = {any(random), any(random)};
    for (auto& value : memory->scratch) value = {any(random), any(random)};
    for (auto& value : memory->narrow) value = any(random);
    for (auto& value : wide) value = {any(random), any(random)};
    F* work = reinterpret_cast<F*>(scratch);
    x = {work, work + kN};
    y = {work + 2 * kN, work + 3 * kN};
  }
};

// Stages that keep one twiddle per vector: all but the last log2(kLanes) of V1 and log2(2 kLanes) of V2.
HWY_NOINLINE void run_wide(Data& d, size_t least) {
  for (size_t done = 1; kN / (2 * done) >= least; done *= 2) {
    wide_stage<F, kLanes>(kN, done, d.wide.data() + done - 1, d.x, d.y);
    std::swap(d.x, d.y);
  }
}
HWY_NOINLINE void run_split(Data& d) { split<F, kLanes>(Direction::forward, d.in, d.x, kN); }
HWY_NOINLINE void run_join(Data& d) { join<F, kLanes>(Direction::forward, d.x, d.out, kN); }

#if VERSION == 1
HWY_NOINLINE void run_narrow(Data& d) {
  Arrays<F> x = d.x, y = d.y;
  narrow_stages<F, kLanes, kLanes / 2>(kN, d.narrow, x, y);
}
std::vector<Part> parts(Data& d) {
  return {{"split input", [&d] { run_split(d); }},
          {"stages without permutation", [&d] { run_wide(d, kLanes); }},
          {"last stages", [&d] { run_narrow(d); }},
          {"join output", [&d] { run_join(d); }}};
}
#else
V2Tables<F> tables_of(RegisterLayout layout) {
  V2Tables<F> tables;
  tables.fused.assign(16 * kN, F(0.5));
  std::vector<std::size_t> order(2 * kLanes);
  for (std::size_t p = 0; p < order.size(); ++p) tables.output.push_back(static_cast<std::uint32_t>(p));
  (void)layout;
  return tables;
}
template <RegisterLayout kLayout>
HWY_NOINLINE void run_last(Data& d, const V2Tables<F>& tables) {
  last_stages<F, kLanes, kLayout>(Direction::forward, kN, tables, d.x, d.out);
}
// The same butterflies and exchanges without the order of the output: blocks are stored where they were.
template <RegisterLayout kLayout>
HWY_NOINLINE void run_fused(Data& d) {
  fused_group<F, kLanes, kLayout>(d.narrow, d.x, kN / (2 * kLanes), d.y.re, d.y.im);
}
std::vector<Part> parts(Data& d) {
  static const V2Tables<F> stage = tables_of(RegisterLayout::per_stage);
  static const V2Tables<F> constant = tables_of(RegisterLayout::constant_geometry);
  return {
      {"split input", [&d] { run_split(d); }},
      {"stages without permutation", [&d] { run_wide(d, 2 * kLanes); }},
      {"last stages in registers, unordered, per stage", [&d] { run_fused<RegisterLayout::per_stage>(d); }},
      {"last stages and order of output, per stage", [&d] { run_last<RegisterLayout::per_stage>(d, stage); }},
      {"last stages in registers, unordered, constant", [&d] { run_fused<RegisterLayout::constant_geometry>(d); }},
      {"last stages and order of output, constant", [&d] { run_last<RegisterLayout::constant_geometry>(d, constant); }},
      {"join, as after an unordered result", [&d] { run_join(d); }}};
}
#endif

}  // namespace
}  // namespace ridge::fft::classic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace {

namespace here = ridge::fft::classic::HWY_NAMESPACE;

// Whole transforms as the library runs them.
std::vector<here::Part> wholes(here::Data& d) {
  using ridge::fft::Direction;
  std::vector<here::Part> all;
#if VERSION == 1
  static const auto kernel = ridge::fft::make_cpu_v1<float>(here::kN);
  all.push_back({"whole", [&d] { kernel->run(Direction::forward, d.in, d.out, d.scratch); }});
#else
  using ridge::fft::RegisterLayout;
  static const auto stage = ridge::fft::make_cpu_v2<float>(here::kN, RegisterLayout::per_stage);
  static const auto constant = ridge::fft::make_cpu_v2<float>(here::kN, RegisterLayout::constant_geometry);
  all.push_back({"whole, per stage", [&d] { stage->run(Direction::forward, d.in, d.out, d.scratch); }});
  all.push_back({"whole, constant geometry", [&d] { constant->run(Direction::forward, d.in, d.out, d.scratch); }});
#endif
  return all;
}

// Address and count of every instruction that a part executes, by single steps between two breakpoints.
void count(const here::Part& part) {
  part.run();
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    __asm__ volatile("int3");
    part.run();
    __asm__ volatile("int3");
    _exit(0);
  }
  std::map<unsigned long long, long> seen;
  int status = 0;
  waitpid(child, &status, 0);  // the first breakpoint
  for (;;) {
    ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, child, nullptr, &registers);
    const long word = ptrace(PTRACE_PEEKTEXT, child, registers.rip, nullptr);
    if ((word & 0xff) == 0xcc) break;
    ++seen[registers.rip];
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  for (const auto& [address, times] : seen) std::printf("%llx %ld\n", address, times);
}

}  // namespace

int main(int argc, char** argv) {
  here::Data data;
  std::vector<here::Part> all = here::parts(data);
  for (auto& whole : wholes(data)) all.push_back(whole);
  if (argc == 2) {
    count(all.at(static_cast<std::size_t>(std::atoi(argv[1]))));
    return 0;
  }
  std::vector<double> least(all.size(), std::numeric_limits<double>::infinity());
  constexpr int kRounds = 2000, kRepeats = 10;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].run();
      const auto start = __rdtsc();
      for (int k = 0; k < kRepeats; ++k) all[i].run();
      least[i] = std::min(least[i], static_cast<double>(__rdtsc() - start) / kRepeats);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) std::printf("%zu|%s|%.0f\n", i, all[i].name, least[i]);
  return 0;
}
