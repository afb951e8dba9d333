// Work-group sizes for ring lengths that are not powers of two: both passes need a whole number of lines per group.
#include <algorithm>
#include <numeric>

#include "fft/device/problem/radices.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kPlansEach = 10, kLeastItems = 192, kMostItems = 512, kGoodItems = 384, kWarp = 32;

// Relative cost of a pair: too few adjacent lines waste memory accesses, partial warps idle, large groups limit
// occupancy.
double price(const RadixPlan& first, const RadixPlan& second, std::size_t items, std::size_t full_access) {
  const auto side = [&](const RadixPlan& plan) {
    const std::size_t lines = items / plan.threads;
    return plan.cost * (lines >= full_access ? 1.0 : lines * 2 >= full_access ? 1.1 : 1.4);
  };
  const double idle = static_cast<double>((items + kWarp - 1) / kWarp * kWarp) / static_cast<double>(items);
  return (side(first) + side(second)) * idle * (items > kGoodItems ? 1.1 : 1.0);
}

}  // namespace

std::vector<GroupPair> group_pairs(const PassDesign& first, const PassDesign& second, std::size_t most) {
  const std::size_t full_access = first.float64 ? 8 : 16;
  const RadixLimits limits{.most_threads = kMostItems / (full_access / 2), .most_held = first.float64 ? 16u : 32u};
  const auto plans = [&](std::size_t length) {
    std::vector<RadixPlan> all = radix_plans(length, limits);
    all.resize(std::min(all.size(), kPlansEach));
    return all;
  };
  std::vector<std::pair<double, GroupPair>> found;
  const std::vector<RadixPlan> of_first = plans(first.length), of_second = plans(second.length);
  for (const RadixPlan& a : of_first) {
    for (const RadixPlan& b : of_second) {
      const std::size_t common = std::lcm(a.threads, b.threads);
      for (std::size_t items = common; items <= kMostItems; items += common) {
        const std::size_t fewest = items / std::max(a.threads, b.threads);
        if (items < kLeastItems || 2 * fewest < full_access) continue;
        found.emplace_back(price(a, b, items, full_access),
                           GroupPair{a.radices, b.radices, a.threads, b.threads, items});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<GroupPair> pairs;
  for (auto& [cost, pair] : found) {
    // One group size per pair of radices is enough to try.
    const bool seen = std::ranges::any_of(pairs, [&given = pair](const GroupPair& other) {
      return other.first == given.first && other.second == given.second && other.first_threads == given.first_threads;
    });
    if (seen) continue;
    pairs.push_back(std::move(pair));
    if (pairs.size() == most) break;
  }
  return pairs;
}

}  // namespace ridge::fft::on_device
