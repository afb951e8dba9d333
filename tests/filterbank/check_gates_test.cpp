// Error bounds of `ridge check` for banks, detectors and correlators: an answer with an error of ten times the bound in
// one value is rejected, one with a tenth of the bound is accepted.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include "check/check.hpp"

namespace ridge::check {
namespace {

enum class Product { total, powers, stokes, moments };

// The number after `word` in the text.
std::size_t number_behind(const std::string& text, const std::string& word) {
  const auto at = text.find(word);
  return at == std::string::npos ? 0 : static_cast<std::size_t>(std::atoll(text.c_str() + at + word.size()));
}
std::size_t number_before(const std::string& text, const std::string& word) {
  const auto end = text.find(word);
  const auto begin = end == std::string::npos ? end : text.find_last_not_of("0123456789", end - 1);
  return end == std::string::npos ? 0 : static_cast<std::size_t>(std::atoll(text.c_str() + begin + 1));
}

// Adds `share` times the allowed error to one value of an answer; returns the kind of the answer.
std::string spoil(const std::string& problem, std::span<std::byte> answer, double share, std::size_t which) {
  std::vector<float> values(answer.size() / 4);
  std::memcpy(values.data(), answer.data(), answer.size());
  std::size_t at = which % values.size();
  double allowed = 0;
  std::string kind;
  const bool detector = problem.starts_with("detector"), power = problem.find(", power ") != std::string::npos;
  if (problem.starts_with("correlator")) {
    kind = "correlator";
    const auto summed =
        static_cast<double>(number_behind(problem, "channels by ") * number_behind(problem, "times by "));
    allowed = 4e-6 * std::sqrt(summed) + 1e-6;
    const double step = problem.find("(int8)") != std::string::npos      ? 0.5 / 100
                        : problem.find("(float16)") != std::string::npos ? 0x1p-11
                                                                         : 0;
    if (step > 0) kind = "correlator, rounded";
    allowed += 4 * step * std::min(summed, 6 * std::sqrt(summed));
  } else if (detector || power) {
    kind = detector ? "detector" : "power";
    const auto product =
        static_cast<Product>(detector ? number_behind(problem, "detector ") : number_behind(problem, ", power "));
    std::size_t channels = number_before(problem, " channels x ");
    if (detector) channels = number_before(problem, " channels by ") / number_behind(problem, " channels by ");
    if (power) channels /= number_before(problem.substr(problem.find(", power ")), " channels");
    const std::size_t polarizations = number_before(problem, " polarizations");
    const std::size_t count = product == Product::total    ? 1
                              : product == Product::powers ? polarizations
                              : product == Product::stokes ? 4
                                                           : 2 * polarizations;
    const auto is_square = [&](std::size_t i) {
      return product == Product::moments && i / channels % count >= polarizations;
    };
    // Power of both polarizations of this value.
    const std::size_t first = at / (channels * count) * channels * count + at % channels;
    double size = values[first], mean = 0;
    if ((product == Product::powers || product == Product::moments) && polarizations == 2)
      size += values[first + channels];
    for (std::size_t i = 0; i < values.size(); ++i) mean += is_square(i) ? 0 : std::abs(static_cast<double>(values[i]));
    mean *= static_cast<double>(count) / static_cast<double>(values.size());
    allowed = detector ? 1e-5 * size : 3e-5 * std::sqrt(size * mean) + 1e-9 * mean;
    if (product == Product::moments) kind += ", moments";
    if (is_square(at)) {
      const double squares = values[at];
      kind += " squared";
      allowed = detector ? 1e-5 * squares : 1e-4 * squares + 1e-4 * std::sqrt(squares) * mean + 1e-9 * mean * mean;
    }
  } else {
    kind = "spectra";
    double squares = 0;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      if (!std::isfinite(values[i]) || !std::isfinite(values[i + 1])) continue;
      squares += values[i] * values[i] + values[i + 1] * values[i + 1];
      ++numbers;
    }
    allowed = 1e-5 * std::sqrt(squares / static_cast<double>(std::max<std::size_t>(numbers, 1)));
    const auto finite = [&](std::size_t i) { return std::isfinite(values[i]) && std::isfinite(values[i ^ 1]); };
    while (at < values.size() && !finite(at)) ++at;
    if (at == values.size()) return "";
  }
  const auto changed = static_cast<float>(values[at] + share * allowed);
  if (std::abs(changed - values[at]) < 0.5 * share * allowed) return "";  // lost in the value's rounding
  std::memcpy(answer.data() + at * 4, &changed, 4);
  return kind;
}

TEST(CheckGates, TenTimesTheAllowedErrorIsWrong) {
  for (const double share : {10.0, 0.1}) {
    std::map<std::string, int> answers, noticed;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      std::string kind, wrong;
      Draw draw{host(), Random(seed), 300};
      draw.tamper = [&](std::span<std::byte> answer) { kind = spoil(draw.problem, answer, share, seed * 7919); };
      try {
        wrong = check_filterbank(draw).wrong;
      } catch (const Error&) {
        continue;  // refused
      }
      if (kind.empty()) continue;
      ++answers[kind];
      noticed[kind] += !wrong.empty();
      EXPECT_EQ(share > 1, !wrong.empty()) << "seed " << seed << ", " << kind << ", " << draw.problem << ": " << wrong;
    }
    for (const char* kind : {"spectra", "power", "detector", "correlator", "correlator, rounded",
                             "power, moments squared", "detector, moments squared"}) {
      EXPECT_GT(answers[kind], kind[0] == 's' || kind[0] == 'c' ? 5 : 1) << kind;
    }
  }
}

}  // namespace
}  // namespace ridge::check
