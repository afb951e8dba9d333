// Computes the error of an answer relative to the reference, and describes the worst place.
#include "plan/comparison.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace ridge::planner {
namespace {

std::string place(const Where& where, std::size_t element) {
  return where ? where(element) : fmt::format("element {}", element);
}

Comparison of_another_length(std::size_t got, std::size_t expected, double allowed) {
  return {std::numeric_limits<double>::quiet_NaN(), allowed, fmt::format("{} values instead of {}", got, expected)};
}

template <class T>
double root_mean_square(std::span<const T> values) {
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

template <class T>
Comparison compare_numbers(std::span<const T> got, std::span<const T> expected, double allowed, const Where& where) {
  if (got.size() != expected.size()) return of_another_length(got.size(), expected.size(), allowed);
  const double size = root_mean_square(expected);
  const double unit = size > 0 || std::isnan(size) ? size : 1;
  Comparison result{.worst = 0, .allowed = allowed};
  std::size_t worst_at = got.size();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])) / unit;
    if (error <= result.worst) continue;
    result.worst = error;
    worst_at = i;
    if (std::isnan(error)) break;  // NaN is the worst possible error
  }
  if (worst_at < got.size()) result.where = place(where, worst_at);
  return result;
}

}  // namespace

std::string Comparison::text() const {
  return fmt::format("worst error {:.1e}{}{}, allowed {:.1e}", worst, where.empty() ? "" : " at ", where, allowed);
}

Comparison compare(std::span<const float> got, std::span<const float> expected, double allowed, const Where& where) {
  return compare_numbers(got, expected, allowed, where);
}

Comparison compare(std::span<const double> got, std::span<const double> expected, double allowed, const Where& where) {
  return compare_numbers(got, expected, allowed, where);
}

Comparison compare_bytes(std::span<const std::byte> got, std::span<const std::byte> expected, const Where& where) {
  if (got.size() != expected.size()) return of_another_length(got.size(), expected.size(), 0);
  if (got.empty() || std::memcmp(got.data(), expected.data(), got.size()) == 0) return {};
  Comparison result;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    if (result.worst == 0) result.where = place(where, i);
    result.worst += 1;
  }
  return result;
}

}  // namespace ridge::planner
