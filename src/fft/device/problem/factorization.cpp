#include "fft/device/problem/factorization.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "fft/device/problem/radices.hpp"

namespace ridge::fft::on_device {
namespace {

void divide(std::size_t rest, std::size_t passes, std::size_t most, std::vector<std::size_t>& head,
            std::vector<std::vector<std::size_t>>& found) {
  if (passes == 1) {
    if (rest > most || rest == 1) return;
    head.push_back(rest);
    found.push_back(head);
    head.pop_back();
    return;
  }
  const double even = std::pow(static_cast<double>(rest), 1.0 / static_cast<double>(passes));
  for (std::size_t factor = 2; factor <= most && factor <= rest; ++factor) {
    if (rest % factor != 0) continue;
    // Very uneven factors are never best.
    if (static_cast<double>(factor) < even / 8 || static_cast<double>(factor) > even * 8) continue;
    head.push_back(factor);
    divide(rest / factor, passes - 1, most, head, found);
    head.pop_back();
  }
}

// Ratio of the largest to the smallest factor, plus a penalty for factors that are not powers of two.
double unevenness(const std::vector<std::size_t>& factors) {
  double largest = 0, smallest = 1e30, score = 0;
  for (const std::size_t factor : factors) {
    largest = std::max(largest, static_cast<double>(factor));
    smallest = std::min(smallest, static_cast<double>(factor));
    if (factor % 16 != 0) score += 0.5;
    const auto plans = radix_plans(factor, {});
    score += plans.empty() ? 1000 : plans.front().cost / 20;
  }
  // The last pass should be the longer one: it reads whole lines.
  if (factors.back() < factors.front()) score += 0.3;
  return largest / smallest + score;
}

}  // namespace

std::vector<std::vector<std::size_t>> pass_factors(std::size_t length, std::size_t passes, std::size_t most_per_pass) {
  std::vector<std::vector<std::size_t>> found;
  if (!has_butterflies(length)) return found;
  std::vector<std::size_t> head;
  divide(length, passes, most_per_pass, head, found);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < found.size(); ++i) order.emplace_back(unevenness(found[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<std::vector<std::size_t>> sorted;
  for (const auto& [score, i] : order) sorted.push_back(found[i]);
  return sorted;
}

// Padded lengths worth trying: the shortest with small factors, and powers of two.
std::vector<std::size_t> padded_lengths(std::size_t n) {
  std::vector<std::size_t> lengths;
  const std::size_t least = 2 * n - 1, power = std::bit_ceil(least);
  // Multiples of 64 (or 8) give every stage enough work-items on neighbouring points.
  const std::size_t grain = least >= 4096 ? 64 : 8;
  for (std::size_t m = (least + grain - 1) / grain * grain; m <= power; m += grain) {
    std::size_t rest = m;
    for (const std::size_t p : {2, 3, 5, 7}) {
      while (rest % p == 0) rest /= p;
    }
    if (rest == 1) lengths.push_back(m);
    if (lengths.size() == 3) break;
  }
  if (std::find(lengths.begin(), lengths.end(), power) == lengths.end()) lengths.push_back(power);
  return lengths;
}

}  // namespace ridge::fft::on_device
