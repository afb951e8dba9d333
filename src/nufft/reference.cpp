// Direct sums in double; phases are reduced to one period before they are rounded.
#include "nufft/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace ridge::nufft {
namespace {

// exp(i * k * x) for an integer k.
std::complex<double> harmonic(double k, double x) {
  const double phase = k * x, error = std::fma(k, x, -phase);
  return std::polar(1.0, phase) * std::complex<double>(1, error);
}

// Frequency stored at position `at` of an axis.
double frequency(Order order, std::size_t n, std::size_t at) {
  const std::size_t first = order == Order::centered ? at : (at + n / 2) % n;  // its rank from -(n/2)
  return static_cast<double>(first) - static_cast<double>(n / 2);
}

}  // namespace

template <class T>
std::complex<double> reference_mode(const Layout& layout, const Coordinates<T>& points,
                                    const std::complex<T>* strengths, std::size_t index) {
  const std::size_t first = layout.first_axis();
  std::array<double, 3> k{};
  for (std::size_t i = 3; i-- > 0;) {
    k[i] = layout.sign * frequency(layout.order, layout.modes[i], index % layout.modes[i]);
    index /= layout.modes[i];
  }
  std::complex<double> sum = 0;
  for (std::size_t j = 0; j < points.count; ++j) {
    std::complex<double> term(strengths[j]);
    for (std::size_t i = first; i < 3; ++i) term *= harmonic(k[i], double{points.axis[i - first][j]});
    sum += term;
  }
  return sum;
}

template <class T>
std::complex<double> reference_value(const Layout& layout, const Coordinates<T>& points, const std::complex<T>* modes,
                                     std::size_t j) {
  const std::size_t first = layout.first_axis();
  std::array<std::vector<std::complex<double>>, 3> phases;
  for (std::size_t i = 0; i < 3; ++i) {
    const double x = i < first ? 0.0 : double{points.axis[i - first][j]};
    for (std::size_t at = 0; at < layout.modes[i]; ++at) {
      phases[i].push_back(harmonic(layout.sign * frequency(layout.order, layout.modes[i], at), x));
    }
  }
  std::complex<double> sum = 0;
  for (const std::complex<double>& a : phases[0]) {
    for (const std::complex<double>& b : phases[1]) {
      std::complex<double> row = 0;
      for (const std::complex<double>& c : phases[2]) row += std::complex<double>(*modes++) * c;
      sum += row * a * b;
    }
  }
  return sum;
}

template <class T>
planner::Comparison compare_with_sums(const Layout& layout, const Coordinates<T>& points,
                                      const std::complex<T>* strengths, const std::complex<T>* modes,
                                      std::size_t outputs) {
  constexpr double kWorstOfRms = 10;
  const bool to_modes = layout.type == Type::to_modes;
  const std::size_t count = to_modes ? layout.mode_count() : points.count, compared = std::min(count, outputs);
  std::vector<double> got, expected;
  for (std::size_t i = 0; i < compared; ++i) {
    const std::size_t at = i * count / compared;
    std::complex<double> exact =
        to_modes ? reference_mode(layout, points, strengths, at) : reference_value(layout, points, modes, at);
    if (layout.real && !to_modes) exact = exact.real();
    const std::complex<double> value(to_modes ? modes[at] : strengths[at]);
    got.insert(got.end(), {value.real(), value.imag()});
    expected.insert(expected.end(), {exact.real(), exact.imag()});
  }
  double allowed = layout.epsilon;
  if (to_modes) {
    // Rounding: a cell of the fine grid is the sum of one value per point whose kernel covers it. Per axis a kernel
    // covers about 8 of 2 cells per mode, so that 4^axes times the points per mode contribute to a cell.
    const auto all = static_cast<double>(points.count), cells = std::pow(4.0, static_cast<double>(layout.axes));
    allowed += layout.roundoff() * std::sqrt(std::min(all, all / static_cast<double>(layout.mode_count()) * cells));
  }
  return planner::compare(got, expected, kWorstOfRms * allowed);
}

template std::complex<double> reference_mode(const Layout&, const Coordinates<float>&, const std::complex<float>*,
                                             std::size_t);
template std::complex<double> reference_mode(const Layout&, const Coordinates<double>&, const std::complex<double>*,
                                             std::size_t);
template std::complex<double> reference_value(const Layout&, const Coordinates<float>&, const std::complex<float>*,
                                              std::size_t);
template std::complex<double> reference_value(const Layout&, const Coordinates<double>&, const std::complex<double>*,
                                              std::size_t);

template planner::Comparison compare_with_sums(const Layout&, const Coordinates<float>&, const std::complex<float>*,
                                               const std::complex<float>*, std::size_t);
template planner::Comparison compare_with_sums(const Layout&, const Coordinates<double>&, const std::complex<double>*,
                                               const std::complex<double>*, std::size_t);

}  // namespace ridge::nufft
