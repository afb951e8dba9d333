// Searches radices of a length by the cost of their exchanges, and factors of long lines.
#include "fft/device/problem/radices.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "codegen/butterfly.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr auto kRadices =
    std::to_array<std::size_t>({64, 56, 54, 50, 49, 48, 45, 42, 40, 36, 35, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23,
                                22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2});
// Cost of an exchange through local memory in instructions per point, including its latency; more if the last warps are
// partial.
constexpr double kExchange = 10, kUnevenExchange = 13;
constexpr double kTwiddle = 7;

// Larger radices first: the first stage has no twiddles, and the other stages' tables are then small.
void factorize(std::size_t length, std::size_t at_most, std::vector<std::size_t>& head,
               std::vector<std::vector<std::size_t>>& found, std::size_t most_stages) {
  if (length == 1) {
    found.push_back(head);
    return;
  }
  if (head.size() == most_stages) return;
  for (const std::size_t radix : kRadices) {
    if (radix > at_most || length % radix != 0) continue;
    head.push_back(radix);
    factorize(length / radix, radix, head, found, most_stages);
    head.pop_back();
  }
}

RadixPlan priced(std::size_t length, const std::vector<std::size_t>& radices, std::size_t threads) {
  RadixPlan plan{radices, threads, 0, 0};
  const double exchange = std::has_single_bit(length) ? kExchange : kUnevenExchange;
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const std::size_t radix = radices[i], butterflies = length / radix;
    const std::size_t rounds = (butterflies + threads - 1) / threads;
    const double points = static_cast<double>(radix);
    double each = codegen::butterfly_operations(radix) / points + (i == 0 ? 4 : exchange + kTwiddle);
    // Idle work-items of a stage still wait for it.
    each *= static_cast<double>(threads * rounds * radix) / static_cast<double>(length);
    plan.cost += each;
    plan.held = std::max(plan.held, radix * rounds);
  }
  // Many registers leave few work-items to hide memory latency.
  if (plan.held > 16) plan.cost *= 1.0 + 0.006 * static_cast<double>(plan.held - 16);
  if (plan.held > 32) plan.cost *= 1.0 + 0.02 * static_cast<double>(plan.held - 32);
  if (plan.held < 8) plan.cost *= 1.05;
  return plan;
}

}  // namespace

double plan_price(std::size_t length, const std::vector<std::size_t>& radices, std::size_t threads) {
  return priced(length, radices, threads).cost;
}

bool has_butterflies(std::size_t length) {
  for (const std::size_t p : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
    while (length % p == 0) length /= p;
  }
  return length == 1;
}

namespace {

std::vector<RadixPlan> listed_plans(std::size_t length, const RadixLimits& limits) {
  std::vector<std::vector<std::size_t>> found;
  // At most one stage more than necessary: longer plans always lose.
  constexpr std::size_t kMostStages = 6;
  for (std::size_t stages = 1, last = kMostStages; stages <= last; ++stages) {
    found.clear();
    std::vector<std::size_t> head;
    factorize(length, limits.most_held, head, found, stages);
    if (!found.empty() && last == kMostStages) last = std::min(stages + 1, kMostStages - 1);
  }
  std::vector<RadixPlan> plans;
  for (const auto& radices : found) {
    std::set<std::size_t> counts;
    for (const std::size_t radix : radices) {
      for (const std::size_t times : {1, 2, 4}) {
        counts.insert((length / radix + times - 1) / times);
      }
    }
    for (const std::size_t threads : counts) {
      if (threads == 0 || threads > limits.most_threads || threads < limits.least_threads) continue;
      RadixPlan plan = priced(length, radices, threads);
      if (plan.held <= limits.most_held) plans.push_back(std::move(plan));
    }
  }
  std::stable_sort(plans.begin(), plans.end(), [](const RadixPlan& a, const RadixPlan& b) { return a.cost < b.cost; });
  return plans;
}

}  // namespace

std::vector<RadixPlan> radix_plans(std::size_t length, const RadixLimits& limits) {
  if (length == 1) return {{{1}, 1, 1, 1}};
  if (!has_butterflies(length)) return {};
  // Routes that share a line ask for the same plans hundreds of times.
  using Key = std::array<std::size_t, 4>;
  static std::mutex mutex;
  static std::map<Key, std::vector<RadixPlan>> known;
  const Key key{length, limits.most_threads, limits.least_threads, limits.most_held};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  std::vector<RadixPlan> plans = listed_plans(length, limits);
  const std::lock_guard lock(mutex);
  if (known.size() > 1000) known.clear();
  known.emplace(key, plans);
  return plans;
}

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
