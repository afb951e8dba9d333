// Output of the sequential examples: the best time of several calls, and a checksum of the result.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace sequential {

inline std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> all(count);
  for (float& x : all) {
    seed = seed * 1664525u + 1013904223u;
    x = float(seed >> 8) / 16777216.0f;
  }
  return all;
}

// `work` starts from the same data in every round and stores its result in `result`.
template <class Work>
void show(const char* name, int rounds, const std::vector<float>& result, const Work& work) {
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const double seconds = work();
    if (seconds < best) best = seconds;
  }
  std::uint64_t bits = 1469598103934665603u;
  for (const float& x : result) {
    std::uint32_t word = 0;
    std::memcpy(&word, &x, 4);
    bits = (bits ^ word) * 1099511628211u;
  }
  std::printf("%s: %.6f s, result %016llx\n", name, best, static_cast<unsigned long long>(bits));
}

template <class Call>
double seconds_of(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace sequential
