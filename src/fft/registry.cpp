#include "fft/registry.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/historical/classic/classic.hpp"
#include "fft/host/mixed/mixed.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/host/prime/prime.hpp"
#include "fft/host/short/short.hpp"

namespace ridge::fft {
namespace {

template <class T>
void list_power2(std::size_t n, std::vector<LineChoice<T>>& out) {
  if (!std::has_single_bit(n) || n > kMaxPower2) return;
  const double points = static_cast<double>(n);
  // Radix 8 and 16 need about 0.85 of the radix-2 count. The list comes best first, as measured by its author.
  const double flops = 0.85 * 5 * points * std::log2(std::max(points, 2.0));
  double efficiency = 0.5;
  for (const Power2Choice& choice : power2_choices<T>(n)) {
    out.push_back({choice.name, "", flops, efficiency, [n, choice] { return make_power2<T>(n, choice); }});
    efficiency = std::max(0.97 * efficiency, 0.02);
  }
}

template <class T>
std::vector<LineChoice<T>> own_choices(std::size_t n) {
  std::vector<LineChoice<T>> choices;
  list_short(n, choices);
  list_power2(n, choices);
  list_mixed(n, choices);
  list_prime<T>(n, default_line<T>, choices);
  return choices;
}

}  // namespace

template <class T>
std::vector<LineChoice<T>> line_choices(std::size_t n) {
  std::vector<LineChoice<T>> choices = own_choices<T>(n);
  list_classic<T>(n, choices);
  return choices;
}

template <class T>
LineChoice<T> default_choice(std::size_t n) {
  // What stands first in any case, without a list of all the others.
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
  if (best == nullptr) throw Error(ErrorKind::internal, fmt::format("fft: nothing does a line of {} points", n));
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
