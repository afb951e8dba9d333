// Powers of a stencil's symbol by repeated squaring.
#include "stencil/leap/modes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace ridge::stencil::leap {
namespace {

constexpr std::size_t kChunk = 128;

struct Complex {
  double real = 0, imaginary = 0;
  Complex() = default;
  Complex(double r) : real(r) {}  // NOLINT: intentionally implicit
  Complex(double r, double i) : real(r), imaginary(i) {}
  friend Complex operator+(Complex a, Complex b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
  friend Complex operator*(Complex a, Complex b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};
double size(double value) { return std::fabs(value); }
double size(Complex value) { return std::max(std::fabs(value.real), std::fabs(value.imaginary)); }

// Matrices of several adjacent modes.
template <class N, std::size_t F>
struct Matrices {
  N at[F][F][kChunk];
};

template <class N, std::size_t F>
void multiply(const Matrices<N, F>& a, const Matrices<N, F>& b, Matrices<N, F>& product, std::size_t count) {
  for (std::size_t r = 0; r < F; ++r) {
    for (std::size_t c = 0; c < F; ++c) {
      N sum[kChunk];
      for (std::size_t i = 0; i < count; ++i) sum[i] = a.at[r][0][i] * b.at[0][c][i];
      for (std::size_t k = 1; k < F; ++k) {
        for (std::size_t i = 0; i < count; ++i) sum[i] = sum[i] + a.at[r][k][i] * b.at[k][c][i];
      }
      std::copy_n(sum, count, product.at[r][c]);
    }
  }
}

template <class N, std::size_t F>
void identity(Matrices<N, F>& matrices) {
  for (std::size_t r = 0; r < F; ++r) {
    for (std::size_t c = 0; c < F; ++c) std::fill_n(matrices.at[r][c], kChunk, N(r == c ? 1 : 0));
  }
}

// power = symbol^steps, sum = symbol^0 + ... + symbol^(steps - 1).
template <class N, std::size_t F>
void raise(const Matrices<N, F>& symbol, std::size_t steps, bool with_sum, Matrices<N, F>& power, Matrices<N, F>& sum,
           std::size_t count) {
  Matrices<N, F> product;
  identity(power);
  for (auto& row : sum.at) {
    for (auto& entry : row) std::fill_n(entry, kChunk, N(0));
  }
  const auto add = [&](Matrices<N, F>& to, const Matrices<N, F>& what) {
    for (std::size_t r = 0; r < F; ++r) {
      for (std::size_t c = 0; c < F; ++c) {
        for (std::size_t i = 0; i < count; ++i) to.at[r][c][i] = to.at[r][c][i] + what.at[r][c][i];
      }
    }
  };
  for (int bit = static_cast<int>(std::bit_width(steps)) - 1; bit >= 0; --bit) {
    if (with_sum) {
      multiply(power, sum, product, count);
      add(sum, product);
    }
    multiply(power, power, product, count);
    std::swap(power, product);
    if ((steps >> bit & 1) == 0) continue;
    if (with_sum) add(sum, power);
    multiply(symbol, power, product, count);
    std::swap(power, product);
  }
}

template <class N>
N number(double real, double imaginary) {
  if constexpr (std::is_same_v<N, double>) {
    return real;
  } else {
    return {real, imaginary};
  }
}

template <class N, std::size_t F>
void symbol_of(const Modes& modes, std::size_t z, std::size_t y, std::size_t begin, std::size_t count,
               Matrices<N, F>& symbol) {
  for (auto& row : symbol.at) {
    for (auto& entry : row) std::fill_n(entry, kChunk, N(0));
  }
  const Axis& axis = modes.axes[2];
  for (const SymbolPart& part : modes.parts) {
    const Modes::Factor factor = modes.factor(part, z, y);
    const N common = number<N>(factor.real, factor.imaginary);
    N* const to = symbol.at[part.to][part.from];
    if (part.x == 0 || axis.basis == Basis::none) {
      for (std::size_t i = 0; i < count; ++i) to[i] = to[i] + common;
      continue;
    }
    const std::size_t at = static_cast<std::size_t>(std::abs(part.x)) * axis.modes + begin;
    const double* const cosines = axis.cosines.data() + at;
    if (axis.symmetric) {
      for (std::size_t i = 0; i < count; ++i) to[i] = to[i] + common * N(cosines[i]);
    } else {
      const double sign = part.x > 0 ? 1 : -1;
      const double* const sines = axis.sines.data() + at;
      for (std::size_t i = 0; i < count; ++i) to[i] = to[i] + common * number<N>(cosines[i], sign * sines[i]);
    }
  }
}

// One field: the limit for infinitely many steps. False if a mode neither stays constant nor decays.
template <class N>
bool settle(const Matrices<N, 1>& symbol, double still, bool forced, Matrices<N, 1>& power, Matrices<N, 1>& sum,
            std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const N away = symbol.at[0][0][i] + N(-1);
    if (size(away) <= still) {
      if (forced) return false;
      power.at[0][0][i] = N(1);
      sum.at[0][0][i] = N(0);
      continue;
    }
    if constexpr (std::is_same_v<N, double>) {
      if (!(std::fabs(symbol.at[0][0][i]) < 1 - still)) return false;
      sum.at[0][0][i] = -1 / away;
    } else {
      const N s = symbol.at[0][0][i];
      if (!(std::hypot(s.real, s.imaginary) < 1 - still)) return false;
      const double square = away.real * away.real + away.imaginary * away.imaginary;
      sum.at[0][0][i] = {-away.real / square, away.imaginary / square};
    }
    power.at[0][0][i] = N(0);
  }
  return true;
}

// V is a number of the spectrum in double: real or complex.
template <class N, std::size_t F, class V, class T>
bool advance(const Modes& modes, const Reach& reach, std::size_t z, std::size_t y, T* row, std::size_t stride,
             const double* forces, std::size_t force_stride) {
  constexpr std::size_t kParts = std::is_same_v<V, double> ? 1 : 2;
  const auto load = [](const auto* from) {
    if constexpr (kParts == 1) {
      return static_cast<double>(from[0]);
    } else {
      return Complex{static_cast<double>(from[0]), static_cast<double>(from[1])};
    }
  };
  static thread_local Matrices<N, F> symbol, power, sum;
  double growth = 0, wrong = 0;
  for (std::size_t begin = 0; begin < modes.axes[2].modes; begin += kChunk) {
    const std::size_t count = std::min(kChunk, modes.axes[2].modes - begin);
    symbol_of(modes, z, y, begin, count, symbol);
    if (!reach.forever) {
      raise(symbol, reach.steps, forces != nullptr, power, sum, count);
    } else if constexpr (F == 1) {
      if (!settle(symbol, reach.still, forces != nullptr, power, sum, count)) return false;
    }
    for (const auto& matrix_row : power.at) {
      for (const auto& entry : matrix_row) {
        for (std::size_t i = 0; i < count; ++i) growth = std::max(growth, size(entry[i]));
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      V before[F], after[F];
      for (std::size_t f = 0; f < F; ++f) before[f] = load(row + (f * stride + begin + i) * kParts);
      for (std::size_t f = 0; f < F; ++f) {
        after[f] = V(0);
        for (std::size_t g = 0; g < F; ++g) after[f] = after[f] + V(power.at[f][g][i]) * before[g];
        if (forces == nullptr) continue;
        for (std::size_t g = 0; g < F; ++g) {
          after[f] = after[f] + V(sum.at[f][g][i]) * load(forces + (g * force_stride + begin + i) * kParts);
        }
      }
      for (std::size_t f = 0; f < F; ++f) {
        T* const to = row + (f * stride + begin + i) * kParts;
        if constexpr (kParts == 1) {
          to[0] = static_cast<T>(after[f]);
        } else {
          to[0] = static_cast<T>(after[f].real);
          to[1] = static_cast<T>(after[f].imaginary);
        }
        for (std::size_t part = 0; part < kParts; ++part) wrong += static_cast<double>(to[part]) * 0;
      }
    }
  }
  return growth <= reach.most_growth && wrong == 0;
}

}  // namespace

template <class T>
bool advance_row(const Modes& modes, const Reach& reach, std::size_t z, std::size_t y, T* row, std::size_t stride,
                 const double* forces, std::size_t force_stride) {
  const auto with = [&]<class N, class V>() {
    return modes.fields == 1 ? advance<N, 1, V>(modes, reach, z, y, row, stride, forces, force_stride)
                             : advance<N, 2, V>(modes, reach, z, y, row, stride, forces, force_stride);
  };
  if (!modes.complex) return with.template operator()<double, double>();
  return modes.complex_symbol ? with.template operator()<Complex, Complex>()
                              : with.template operator()<double, Complex>();
}

template bool advance_row(const Modes&, const Reach&, std::size_t, std::size_t, float*, std::size_t, const double*,
                          std::size_t);
template bool advance_row(const Modes&, const Reach&, std::size_t, std::size_t, double*, std::size_t, const double*,
                          std::size_t);

}  // namespace ridge::stencil::leap
