// Chooses between direct sums, Rader's and Bluestein's algorithms for a length.
#include "fft/host/prime/prime.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "fft/host/mixed/mixed.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/host/prime/numbers.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {
namespace {

using namespace prime;

// transform_cost() is in flops at the speed of a power of two, which the registry expects at half the core's peak.
constexpr double kEfficiency = 0.5;

double direct_cost(std::size_t n) { return 2.0 * static_cast<double>(n * n); }  // almost only multiply-adds
double rader_cost(std::size_t p) {
  return 2 * transform_cost(p - 1) + 30 * static_cast<double>(p);  // the gathers cost more than the products
}
// For composite lengths the factor makes up for being a fifth slower than predicted, and for the longest planning.
double bluestein_cost(std::size_t n, std::size_t padded) {
  const double cost = 2 * transform_cost(padded) + 10 * static_cast<double>(2 * n + padded);
  return is_prime(n) ? cost : 1.3 * cost;
}

double cheapest_cost(std::size_t n);

// One call per row, cheaper for powers of two, which have kernels for many short rows.
double rows_cost(std::size_t count, std::size_t row) {
  const double call = std::has_single_bit(row) ? 100 : 800;
  return static_cast<double>(count) * (cheapest_cost(row) + call);
}

double columns_then_rows_cost(std::size_t n, std::size_t row) {
  const std::size_t height = n / row;
  return static_cast<double>(row) * cheapest_cost(height) + rows_cost(height, row) + 20 * static_cast<double>(n);
}

// The direct sum down columns needs no shuffles, but strips of whole vectors.
double direct_columns_cost(std::size_t n, std::size_t p) {
  constexpr std::size_t kTypicalStrip = 8;
  constexpr std::size_t kLargestCached = 128;  // larger tables of factors exceed L1
  const std::size_t row = n / p, wide = (row + kTypicalStrip - 1) / kTypicalStrip * kTypicalStrip;
  const double share = p <= kLargestCached ? 0.5 : 0.65;
  return share * static_cast<double>(wide) * direct_cost(p) + rows_cost(p, row) + 20 * static_cast<double>(n);
}

// All prime factors above 13 together if there are smooth ones too, else the largest factor.
std::size_t row_of(std::size_t n) {
  const std::vector<std::size_t> factors = prime_factors(n);
  std::size_t rough = 1;
  for (const std::size_t p : factors) {
    if (p > 13) rough *= p;
  }
  return rough == n ? factors.back() : rough;
}

double cheapest_cost(std::size_t n) {
  if (is_smooth(n)) return transform_cost(n);
  double cost = bluestein_cost(n, smooth_length(2 * n - 1));
  if (is_prime(n)) {
    if (n <= kMaxDirect) cost = std::min(cost, direct_cost(n));
    if (is_smooth(n - 1)) cost = std::min(cost, rader_cost(n));
  } else {
    cost = std::min(cost, columns_then_rows_cost(n, row_of(n)));
    const std::size_t p = prime_factors(n).back();
    if (p <= kMaxDirect) cost = std::min(cost, direct_columns_cost(n, p));
  }
  return cost;
}

}  // namespace

template <class T>
void list_prime(std::size_t n, const MakeLine<T>& make_inner, std::vector<LineChoice<T>>& out) {
  if (is_smooth(n)) return;
  const auto before = static_cast<std::ptrdiff_t>(out.size());
  const auto add = [&](std::string name, double cost, auto make) {
    out.push_back({std::move(name), "", cost, kEfficiency, std::move(make)});
  };
  if (n % 2 == 1 && n <= kMaxDirect) add("direct", direct_cost(n), [n] { return make_direct<T>(n); });
  if (is_prime(n)) {
    if (is_smooth(n - 1)) {
      add(fmt::format("rader {}", n - 1), rader_cost(n), [=] { return make_rader<T>(n, make_inner); });
    }
  } else {
    const std::size_t row = row_of(n);
    add(fmt::format("composite {}x{}", n / row, row), columns_then_rows_cost(n, row),
        [=] { return make_columns_then_rows<T>(n, row, make_inner); });
    const std::size_t p = prime_factors(n).back();
    if (p <= kMaxDirect && n / p != row) {
      add(fmt::format("composite {}x{}", p, n / p), direct_columns_cost(n, p), [=] {
        return make_columns_then_rows<T>(n, n / p,
                                         [&](std::size_t m) { return m == p ? make_direct<T>(m) : make_inner(m); });
      });
    }
  }
  // Below this the direct sum is faster and more accurate than any convolution.
  constexpr std::size_t kShortestBluestein = 32;
  std::vector<std::size_t> lengths = {smooth_length(2 * n - 1), std::bit_ceil(2 * n - 1)};
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  for (const std::size_t padded : lengths) {
    if (n < kShortestBluestein) break;
    add(fmt::format("bluestein {}", padded), bluestein_cost(n, padded),
        [=] { return make_bluestein<T>(n, padded, make_inner); });
    if (padded > kMaxPower2 && std::has_single_bit(padded))
      out.back().refusal = fmt::format("needs a padded length of at most 2^30 if it is a power of two, got {}", padded);
  }
  std::stable_sort(out.begin() + before, out.end(), [](const auto& a, const auto& b) { return a.flops < b.flops; });
}

template void list_prime(std::size_t, const MakeLine<float>&, std::vector<LineChoice<float>>&);
template void list_prime(std::size_t, const MakeLine<double>&, std::vector<LineChoice<double>>&);

namespace {

// Builds on the line that the model prefers for the inner length.
template <class T>
void list_prime_lines(std::size_t n, std::vector<LineChoice<T>>& out) {
  list_prime<T>(n, default_line<T>, out);
}

}  // namespace

extern const LineListers kPrimeLines{list_prime_lines<float>, list_prime_lines<double>};

}  // namespace ridge::fft
