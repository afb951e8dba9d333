// The list of the variants of host lines, and the choice by predicted cost alone.
#include "fft/variant.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/host/power2/power2.hpp"
#include "fft/host/short/short.hpp"

namespace ridge::fft {

// One line per folder, which also declares its lister.
// clang-format off
template <class T>
std::vector<LineChoice<T>> own_choices(std::size_t n) {
  std::vector<LineChoice<T>> choices;
  const auto list = [&](const LineListers& listers) { listers.get<T>()(n, choices); };
  extern const LineListers kShortLines; list(kShortLines);
  extern const LineListers kPower2Lines; list(kPower2Lines);
  extern const LineListers kMixedLines; list(kMixedLines);
  extern const LineListers kPrimeLines; list(kPrimeLines);
  return choices;
}

template <class T>
std::vector<LineChoice<T>> line_choices(std::size_t n) {
  std::vector<LineChoice<T>> choices = own_choices<T>(n);
  extern const LineListers kClassicLines; kClassicLines.get<T>()(n, choices);  // after all fast variants
  return choices;
}
// clang-format on

template <class T>
LineChoice<T> default_choice(std::size_t n) {
  // The default of these lengths is known without listing the other variants.
  std::vector<LineChoice<T>> choices;
  list_short(n, choices);
  if (!choices.empty()) return std::move(choices.front());
  constexpr std::size_t kShortest = 64;
  if (std::has_single_bit(n) && n >= kShortest && n <= kMaxPower2) {
    return {"power2", "", 0, 1, [n] { return default_power2<T>(n); }};
  }
  choices = own_choices<T>(n);
  LineChoice<T>* best = nullptr;
  for (LineChoice<T>& choice : choices) {
    if (!choice.refusal.empty()) continue;
    if (best == nullptr || choice.flops / choice.efficiency < best->flops / best->efficiency) best = &choice;
  }
  if (best == nullptr) {
    std::string why;
    for (const LineChoice<T>& choice : choices) why += fmt::format("; {}: {}", choice.name, choice.refusal);
    throw Error(ErrorKind::invalid_argument,
                fmt::format("fft: no host variant transforms a line of {} points{}", n, why));
  }
  return std::move(*best);
}

template <class T>
std::unique_ptr<LineKernel<T>> default_line(std::size_t n) {
  return default_choice<T>(n).make();
}

template LineChoice<float> default_choice(std::size_t);
template LineChoice<double> default_choice(std::size_t);

template std::unique_ptr<LineKernel<float>> default_line(std::size_t);
template std::unique_ptr<LineKernel<double>> default_line(std::size_t);
template std::vector<LineChoice<float>> line_choices(std::size_t);
template std::vector<LineChoice<double>> line_choices(std::size_t);

}  // namespace ridge::fft
