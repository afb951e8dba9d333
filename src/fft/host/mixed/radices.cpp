// Chooses radices and their order for a smooth length.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "fft/host/mixed/engine.hpp"
#include "fft/host/mixed/mixed.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kLargest = 16;

// Cost of a pass per point: memory and arithmetic, roughly in cycles of a vector lane. Counted from loads, stores and
// operations of each butterfly and calibrated by a few measurements.
constexpr double kPrices[kLargest + 1] = {0,    0,    1.00, 1.15, 1.10, 1.40, 1.45, 2.00, 1.35,
                                          1.80, 1.80, 3.10, 1.75, 3.70, 2.70, 2.60, 2.20};

// A list without allocations: planning makes hundreds.
struct Radices {
  std::array<std::uint8_t, 64> values;
  std::size_t size = 0;
  double cost = 0;
  void push(std::size_t radix) { values[size++] = static_cast<std::uint8_t>(radix); }
  auto begin() { return values.begin(); }
  auto end() { return values.begin() + size; }
};

// All multisets of radices with this product, in descending order, with the cost of their passes.
void split(std::size_t n, std::size_t largest, Radices& chosen, std::vector<Radices>& found) {
  constexpr std::size_t kEnough = 4000;
  if (n == 1) {
    found.push_back(chosen);
    return;
  }
  for (std::size_t radix = largest; radix > 1 && found.size() < kEnough; --radix) {
    if (n % radix != 0) continue;
    const double before = chosen.cost;
    chosen.push(radix);
    chosen.cost += kPrices[radix];
    split(n / radix, radix, chosen, found);
    chosen.cost = before;
    --chosen.size;
  }
}

// Cost of the passes in this order. A pass that cannot fill a vector costs nearly as many times as there are lanes: the
// last pass needs a vector of groups, ideally a multiple, every other pass a vector of neighbours.
double price_in_order(const Radices& radices, std::size_t n, std::size_t lanes) {
  if (radices.size == 1) return 0;  // a codelet: always best
  double sum = 0;
  std::size_t inner = n;
  for (std::size_t i = 0; i < radices.size; ++i) {
    const std::size_t radix = radices.values[i];
    inner /= radix;
    const bool last = i + 1 == radices.size;
    const bool narrow = (last ? n / radix : inner) < lanes;
    double cost = kPrices[radix] * (narrow ? 0.7 * static_cast<double>(lanes) : 1.0);
    if (last && !narrow && radix % lanes != 0) cost += radix % 2 == 0 ? 0.1 : 0.3;
    sum += cost;
  }
  return sum;
}

// Orders the radices: odd ones first, then by size, except that the one moved to the end is the cheapest choice there.
void order(Radices& radices, std::size_t n, std::size_t lanes) {
  std::sort(radices.begin(), radices.end(),
            [](std::size_t a, std::size_t b) { return a % 2 != b % 2 ? a % 2 > b % 2 : a > b; });
  Radices best = radices;
  best.cost = INFINITY;
  for (std::size_t i = 0; i < radices.size; ++i) {
    Radices rotated = radices;
    std::rotate(rotated.begin() + i, rotated.begin() + i + 1, rotated.end());
    rotated.cost = price_in_order(rotated, n, lanes);
    if (rotated.cost < best.cost) best = rotated;
  }
  radices = best;
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
  if (!is_smooth(n)) return {};
  std::vector<Radices> found;
  Radices chosen;
  split(n, kLargest, chosen, found);
  // The cheapest few in any order, then in their best order.
  const auto cheaper = [](const Radices& a, const Radices& b) { return a.cost < b.cost; };
  std::stable_sort(found.begin(), found.end(), cheaper);
  if (found.size() > 40) found.resize(40);
  const std::size_t lanes = mixed::engine<T>().lanes;
  for (Radices& radices : found) order(radices, n, lanes);
  std::stable_sort(found.begin(), found.end(), cheaper);
  if (found.size() > 6) found.resize(6);
  std::vector<std::vector<std::size_t>> lists;
  for (Radices& radices : found) lists.emplace_back(radices.begin(), radices.end());
  return lists;
}

template std::vector<std::vector<std::size_t>> mixed_radices<float>(std::size_t);
template std::vector<std::vector<std::size_t>> mixed_radices<double>(std::size_t);

}  // namespace ridge::fft
