// Which radices in which order.
#include <algorithm>
#include <cmath>

#include "fft/mixed/engine.hpp"
#include "fft/mixed/mixed.hpp"

namespace ridge::fft {
namespace {

struct Price {
  std::size_t radix;
  double cost;  // of a pass, for each point: memory and arithmetic, in about cycles of a vector lane
};

// Counted from loads, stores and operations of each butterfly and set right by a few measurements.
constexpr Price kPrices[] = {{2, 1.00}, {3, 1.15},  {4, 1.10},  {5, 1.40},  {6, 1.45},  {7, 2.00},  {8, 1.35},
                             {9, 1.80}, {10, 1.80}, {11, 3.10}, {12, 1.75}, {13, 3.70}, {15, 2.60}, {16, 2.20}};

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

// The last pass reads across the lanes: best where its radix is a multiple of them, at least as long as one vector, so
// that every pass before it has full ones. Odd radices come first, where streams are long.
void order(std::vector<std::size_t>& radices, std::size_t lanes) {
  const auto fitness = [&](std::size_t radix) {
    if (radix < lanes) return 0;
    return radix % lanes == 0 ? 3 : radix % 2 == 0 ? 2 : 1;
  };
  std::sort(radices.begin(), radices.end(),
            [](std::size_t a, std::size_t b) { return a % 2 != b % 2 ? a % 2 > b % 2 : a > b; });
  const auto last = std::max_element(radices.begin(), radices.end(), [&](std::size_t a, std::size_t b) {
    return fitness(a) != fitness(b) ? fitness(a) < fitness(b) : a < b;
  });
  std::rotate(last, last + 1, radices.end());
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
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return price(a) < price(b); });
  if (found.size() > 6) found.resize(6);
  const std::size_t lanes = mixed::engine<T>().lanes;
  for (auto& radices : found) order(radices, lanes);
  return found;
}

template std::vector<std::vector<std::size_t>> mixed_radices<float>(std::size_t);
template std::vector<std::vector<std::size_t>> mixed_radices<double>(std::size_t);

}  // namespace ridge::fft
