// Real transform of the fine grid; modes from and to the half spectrum.
#include "nufft/host/real_modes.hpp"

#include <cstdlib>

#include "nufft/host/tiling.hpp"

namespace ridge::nufft {
namespace {

using Frequency = std::array<long, 3>;

// Values of the half spectrum per axis.
std::array<std::size_t, 3> half_counts(const Layout& layout) {
  const auto& n = layout.modes;
  return {n[0] / 2 * 2 + 1, n[1] / 2 * 2 + 1, n[2] / 2 + 1};
}

}  // namespace

fft::Problem half_spectrum_problem(const Layout& layout, const std::array<std::size_t, 3>& cells) {
  const std::array<std::size_t, 3> counts = half_counts(layout);
  fft::Problem problem{.kind = fft::Kind::real, .threads = layout.threads};
  for (std::size_t i = layout.first_axis(); i < 3; ++i) {
    problem.shape.push_back(cells[i]);
    problem.wanted.first.push_back(i == 2 ? 0 : (cells[i] - layout.modes[i] / 2) % cells[i]);
    problem.wanted.count.push_back(counts[i]);
  }
  return problem;
}

template <class T>
RealModes<T>::RealModes(const Layout& layout, const std::array<std::size_t, 3>& cells,
                        std::array<std::vector<T>, 3> factors, const planner::Options& options)
    : layout_(layout),
      factors_(std::move(factors)),
      transform_(host(), half_spectrum_problem(layout, cells), options),
      half_(half_counts(layout)[0] * half_counts(layout)[1] * half_counts(layout)[2]) {}

// forward() has the sign -1: the other sign gives conjugates, as do the negative frequencies of the fastest axis.
template <class T>
void RealModes<T>::to_modes(int sign, std::span<const T> grid, Complex* modes) const {
  const auto& n = layout_.modes;
  const std::array<std::size_t, 3> counts = half_counts(layout_), half{n[0] / 2, n[1] / 2, n[2] / 2};
  transform_.forward(grid, half_.span());
  for_units(layout_.threads, n[0] * n[1], [&](std::size_t unit, std::size_t) {
    const std::size_t i0 = unit / n[1], i1 = unit % n[1];
    const T factor = factors_[0][i0] * factors_[1][i1];
    Complex* out = modes + (stored_at(layout_.order, n[0], i0) * n[1] + stored_at(layout_.order, n[1], i1)) * n[2];
    const Complex* same = half_.data() + (i0 * counts[1] + i1) * counts[2];
    const Complex* opposite = half_.data() + ((2 * half[0] - i0) * counts[1] + (2 * half[1] - i1)) * counts[2];
    for (std::size_t i = 0; i < n[2]; ++i) {
      const bool negative = i < half[2];
      const Complex value = negative ? opposite[half[2] - i] : same[i - half[2]];
      out[stored_at(layout_.order, n[2], i)] =
          (negative != (sign > 0) ? std::conj(value) : value) * (factor * factors_[2][i]);
    }
  });
}

template <class T>
void RealModes<T>::from_modes(int sign, const Complex* modes, std::span<T> grid) const {
  const auto& n = layout_.modes;
  const std::array<std::size_t, 3> counts = half_counts(layout_);
  // The mode of a frequency, 0 for those that are not modes: n/2 of an even axis.
  const auto mode_of = [&](const Frequency& k) -> Complex {
    std::size_t at = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto rank = static_cast<std::size_t>(k[i] + static_cast<long>(n[i] / 2));
      if (rank >= n[i]) return {};
      at = at * n[i] + stored_at(layout_.order, n[i], rank);
    }
    return modes[at];
  };
  for_units(layout_.threads, counts[0] * counts[1], [&](std::size_t unit, std::size_t) {
    for (std::size_t i = 0; i < counts[2]; ++i) {
      const Frequency k{static_cast<long>(unit / counts[1]) - static_cast<long>(n[0] / 2),
                        static_cast<long>(unit % counts[1]) - static_cast<long>(n[1] / 2), static_cast<long>(i)};
      T factor = T(0.5);
      for (std::size_t a = 0; a < 3; ++a) factor *= factors_[a][n[a] / 2 - static_cast<std::size_t>(std::abs(k[a]))];
      const Complex value = (mode_of(k) + std::conj(mode_of({-k[0], -k[1], -k[2]}))) * factor;
      half_[unit * counts[2] + i] = sign > 0 ? value : std::conj(value);
    }
  });
  transform_.inverse(half_.span(), grid);
}

template class RealModes<float>;
template class RealModes<double>;

}  // namespace ridge::nufft
