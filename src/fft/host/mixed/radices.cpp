// Which radices in which order.
#include <algorithm>
#include <cmath>

#include "fft/host/mixed/engine.hpp"
#include "fft/host/mixed/mixed.hpp"

namespace ridge::fft {
namespace {

struct Price {
  std::size_t radix;
  double cost;  // of a pass, for each point: memory and arithmetic, in about cycles of a vector lane
};

// Counted from loads, stores and operations of each butterfly and set right by a few measurements.
constexpr Price kPrices[] = {{2, 1.00},  {3, 1.15},  {4, 1.10},  {5, 1.40},  {6, 1.45},
                             {7, 2.00},  {8, 1.35},  {9, 1.80},  {10, 1.80}, {11, 3.10},
                             {12, 1.75}, {13, 3.70}, {14, 2.70}, {15, 2.60}, {16, 2.20}};

double price(std::size_t radix) {
  for (const Price& entry : kPrices) {
    if (entry.radix == radix) return entry.cost;
  }
  return 1e9;
}

double price(const std::vector<std::size_t>& radices) {
  double sum = 0;
  for (const std::size_t radix : radices) sum += price(radix);
  return sum;
}

// Every multiset of radices with this product, in descending order.
void split(std::size_t n, std::size_t largest, std::vector<std::size_t>& chosen,
           std::vector<std::vector<std::size_t>>& found) {
  constexpr std::size_t kEnough = 4000;
  if (n == 1) {
    found.push_back(chosen);
    return;
  }
  for (std::size_t i = std::size(kPrices); i-- > 0 && found.size() < kEnough;) {
    const std::size_t radix = kPrices[i].radix;
    if (radix > largest || n % radix != 0) continue;
    chosen.push_back(radix);
    split(n / radix, radix, chosen, found);
    chosen.pop_back();
  }
}

// What the passes cost in this order. One that cannot fill a vector costs nearly as many times as there are lanes: the
// last needs a vector of groups, every other a vector of neighbours; the last is best where it is a multiple of them.
double price_in_order(const std::vector<std::size_t>& radices, std::size_t n, std::size_t lanes) {
  if (radices.size() == 1) return 0;  // a codelet: nothing beats it
  double sum = 0;
  std::size_t inner = n;
  for (std::size_t i = 0; i < radices.size(); ++i) {
    inner /= radices[i];
    const bool last = i + 1 == radices.size();
    const bool narrow = (last ? n / radices[i] : inner) < lanes;
    double cost = price(radices[i]) * (narrow ? 0.7 * static_cast<double>(lanes) : 1.0);
    if (last && !narrow && radices[i] % lanes != 0) cost += radices[i] % 2 == 0 ? 0.1 : 0.3;
    sum += cost;
  }
  return sum;
}

// Odd radices first, where streams are long; any of them may be the last.
double order(std::vector<std::size_t>& radices, std::size_t n, std::size_t lanes) {
  std::sort(radices.begin(), radices.end(),
            [](std::size_t a, std::size_t b) { return a % 2 != b % 2 ? a % 2 > b % 2 : a > b; });
  double least = INFINITY;
  std::vector<std::size_t> best = radices;
  for (std::size_t i = 0; i < radices.size(); ++i) {
    std::vector<std::size_t> turned = radices;
    const auto chosen = turned.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(chosen, chosen + 1, turned.end());
    const double cost = price_in_order(turned, n, lanes);
    if (cost < least) least = cost, best = std::move(turned);
  }
  radices = std::move(best);
  return least;
}

}  // namespace

bool is_smooth(std::size_t n) {
  for (const std::size_t p : {2, 3, 5, 7, 11, 13}) {
    while (n > 0 && n % p == 0) n /= p;
  }
  return n == 1;
}

template <class T>
std::vector<std::vector<std::size_t>> mixed_radices(std::size_t n) {
  std::vector<std::vector<std::size_t>> found;
  if (!is_smooth(n)) return found;
  std::vector<std::size_t> chosen;
  split(n, 16, chosen, found);
  // The few that cost least in any order, then in their best.
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return price(a) < price(b); });
  if (found.size() > 40) found.resize(40);
  const std::size_t lanes = mixed::engine<T>().lanes;
  std::vector<std::pair<double, std::vector<std::size_t>>> ordered;
  for (auto& radices : found) {
    const double cost = order(radices, n, lanes);
    ordered.emplace_back(cost, std::move(radices));
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  found.clear();
  for (auto& [cost, radices] : ordered) {
    if (found.size() < 6) found.push_back(std::move(radices));
  }
  return found;
}

template std::vector<std::vector<std::size_t>> mixed_radices<float>(std::size_t);
template std::vector<std::vector<std::size_t>> mixed_radices<double>(std::size_t);

}  // namespace ridge::fft
