// Two ways to sum a table; the planner finds the faster one on this machine.
#include <chrono>
#include <cstdio>
#include <numeric>
#include <vector>

#include <ridge/plan.hpp>

constexpr std::size_t kSide = 2048;

double by_rows(const std::vector<float>& table) {
  double sum = 0;
  for (std::size_t y = 0; y < kSide; ++y)
    for (std::size_t x = 0; x < kSide; ++x) sum += static_cast<double>(table[y * kSide + x]);
  return sum;
}

double by_columns(const std::vector<float>& table) {
  double sum = 0;
  for (std::size_t x = 0; x < kSide; ++x)
    for (std::size_t y = 0; y < kSide; ++y) sum += static_cast<double>(table[y * kSide + x]);
  return sum;
}

int main() {
  const std::vector<float> table(kSide * kSide, 0.5f);
  double (*const variants[])(const std::vector<float>&) = {by_rows, by_columns};

  // Expected cost: the same flops, but summing by columns loads a whole cache line per value.
  const double cells = static_cast<double>(kSide * kSide);
  const std::vector<ridge::planner::Candidate> candidates = {
      {.variant = "rows", .cost = {.flops = cells, .bytes = 4 * cells, .efficiency = 0.5, .threads = 1}},
      {.variant = "columns", .cost = {.flops = cells, .bytes = 64 * cells, .efficiency = 0.5, .threads = 1}},
      {.variant = "telepathy", .refusal = "needs a sender"},
  };
  double sum = 0;
  const auto decision = ridge::planner::decide(
      ridge::host(), {.workload = "lesson", .key = "sum 2048x2048", .flops = cells, .bytes = 4 * cells}, candidates,
      {.use_wisdom = false, .save_wisdom = false}, [&](std::size_t i) {
        const auto begin = std::chrono::steady_clock::now();
        sum = variants[i](table);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      });
  std::printf("winner: %s, sum %.0f\n", decision.trials[decision.winner].name.c_str(), sum);
  std::printf("telepathy lost: %s\n", decision.trials[2].reason.c_str());
}
