// A user's own workload under Ridgeline's planner: the sum of an array, with several variants. docs/plan.md explains
// it.
#include <ridge/device.hpp>
#include <ridge/plan.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

// The variants: `Chains` independent sums. With one chain, every addition waits for the previous one; several overlap.
template <std::size_t Chains>
float sum(const std::vector<float>& data) {
  float part[Chains] = {};
  for (std::size_t i = 0; i < data.size(); i += Chains)
    for (std::size_t c = 0; c < Chains; ++c) part[c] += data[i + c];
  return std::accumulate(part, part + Chains, 0.0f);
}

struct Variant {
  ridge::planner::Candidate candidate;
  float (*run)(const std::vector<float>&);
};

// Describes a variant: its name, its cost, and the limit that rules it out for this problem.
template <std::size_t Chains>
Variant variant(std::size_t count, double efficiency) {
  ridge::planner::Candidate candidate{.variant = "chains", .parameters = {{"count", std::to_string(Chains)}}};
  if (count % Chains != 0)
    candidate.refusal =
        "needs a multiple of " + std::to_string(Chains) + " elements, there are " + std::to_string(count);
  const auto n = static_cast<double>(count);
  candidate.cost = {.flops = n, .bytes = n * sizeof(float), .efficiency = efficiency, .threads = 1};
  return {candidate, &sum<Chains>};
}

// The planner does not run variants itself: it calls this for the seconds of one warm run.
double seconds_of(const Variant& one, const std::vector<float>& data) {
  double best = 1e9;
  volatile float keep = one.run(data);
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    keep = one.run(data);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  static_cast<void>(keep);
  return best;
}

}  // namespace

int main() try {
  const std::size_t count = 3'000'000;  // not a multiple of 7
  std::vector<float> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 8);

  const std::vector<Variant> variants = {variant<1>(count, 0.2), variant<4>(count, 0.5), variant<16>(count, 1),
                                         variant<7>(count, 0.8)};
  std::vector<ridge::planner::Candidate> candidates;
  for (const Variant& one : variants) candidates.push_back(one.candidate);

  const ridge::planner::Problem problem{.workload = "example-sum",
                                        .key = "example-sum f32 " + std::to_string(count) + " threads 1",
                                        .flops = static_cast<double>(count),
                                        .bytes = static_cast<double>(count * sizeof(float))};
  const auto decision = ridge::planner::decide(ridge::host(), problem, candidates, {},
                                               [&](std::size_t i) { return seconds_of(variants[i], data); });
  std::fputs(decision.explain().c_str(), stdout);

  const double result = variants[decision.winner].run(data);
  const double expected = std::accumulate(data.begin(), data.end(), 0.0);
  std::printf("\nsum %.0f, expected %.0f\n", result, expected);
  return std::abs(result - expected) <= 1e-3 * expected ? 0 : 1;
} catch (const ridge::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.callers_mistake() ? 1 : 2;
}
