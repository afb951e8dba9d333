// The transforms of Good and Thomas (prime factors) and of Winograd, for products of coprime factors 2, 3, 4, 5, 7, 8.
//
// With n = sum of (N / f) n_f and the Chinese remainder theorem for the output, a transform of coprime factors f is a
// transform of several dimensions without twiddles. Winograd's small transforms are additions, a product per value and
// additions: X = after * diag(factors) * before * x, with entries 0, 1 and -1. Good-Thomas applies one small transform
// per dimension. Winograd's nests them: all `before` additions, then a single product per value, then all `after`
// additions, so that the numbers of products multiply instead of adding up.
#include "papers/fft/classic/classic.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "papers/fft/classic/line.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kMostProduct = 840;

// Rows of 0, 1 and -1.
struct Signs {
  std::size_t rows = 0, columns = 0;
  std::vector<int> values{};
  int at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
  double additions() const {
    double count = 0;
    for (const int value : values) count += value != 0 ? 1 : 0;
    return count - static_cast<double>(rows);
  }
};

struct SmallTransform {
  std::size_t points = 1, products = 1;
  Signs before{}, after{};
  std::vector<std::complex<double>> factors{};
};

SmallTransform small_transform(std::size_t points, std::vector<int> before, std::vector<std::complex<double>> factors,
                               std::vector<int> after) {
  const std::size_t products = factors.size();
  return {points,
          products,
          {products, points, std::move(before)},
          {points, products, std::move(after)},
          std::move(factors)};
}

SmallTransform small_transform(std::size_t points) {
  using C = std::complex<double>;
  const auto cosine = [&](double k) { return std::cos(2 * std::numbers::pi * k / static_cast<double>(points)); };
  const auto sine = [&](double k) { return std::sin(2 * std::numbers::pi * k / static_cast<double>(points)); };
  const double c1 = cosine(1), c2 = cosine(2), c3 = cosine(3), s1 = sine(1), s2 = sine(2), s3 = sine(3);
  // clang-format off
  switch (points) {
    case 2: return small_transform(2, {1, 1, 1, -1}, {1, 1}, {1, 0, 0, 1});
    case 3: return small_transform(3, {1, 1, 1,  0, 1, 1,  0, 1, -1}, {1, c1 - 1, C(0, -s1)},
                                   {1, 0, 0,  1, 1, 1,  1, 1, -1});
    case 4: return small_transform(4, {1, 1, 1, 1,  1, -1, 1, -1,  1, 0, -1, 0,  0, 1, 0, -1}, {1, 1, 1, C(0, -1)},
                                   {1, 0, 0, 0,  0, 0, 1, 1,  0, 1, 0, 0,  0, 0, 1, -1});
    case 5: return small_transform(5,
        {1, 1, 1, 1, 1,  0, 1, 1, 1, 1,  0, 1, -1, -1, 1,  0, 1, -1, 1, -1,  0, 0, -1, 1, 0,  0, 1, 0, 0, -1},
        {1, (c1 + c2) / 2 - 1, (c1 - c2) / 2, C(0, -s1), C(0, -s1 - s2), C(0, s1 - s2)},
        {1, 0, 0, 0, 0, 0,  1, 1, 1, 1, -1, 0,  1, 1, -1, 1, 0, 1,  1, 1, -1, -1, 0, -1,  1, 1, 1, -1, 1, 0});
    case 7: return small_transform(7,
        {1, 1, 1, 1, 1, 1, 1,   0, 1, 1, 1, 1, 1, 1,    0, 1, -1, 0, 0, -1, 1,   0, 0, 1, -1, -1, 1, 0,
         0, -1, 0, 1, 1, 0, -1, 0, 1, 1, -1, 1, -1, -1, 0, 1, -1, 0, 0, 1, -1,   0, 0, 1, 1, -1, -1, 0,
         0, -1, 0, -1, 1, 0, 1},
        {1, (c1 + c2 + c3) / 3 - 1, (2 * c1 - c2 - c3) / 3, (c1 + c2 - 2 * c3) / 3, (c1 - 2 * c2 + c3) / 3,
         C(0, (s1 + s2 - s3) / 3), C(0, (2 * s1 - s2 + s3) / 3), C(0, (s1 + s2 + 2 * s3) / 3), C(0, (s1 - 2 * s2 - s3) / 3)},
        {1, 0, 0, 0, 0, 0, 0, 0, 0,        1, 1, 1, 1, 0, -1, -1, -1, 0,  1, 1, 0, -1, 1, -1, 0, 1, -1,
         1, 1, -1, 0, -1, 1, -1, 0, -1,    1, 1, -1, 0, -1, -1, 1, 0, 1,  1, 1, 0, -1, 1, 1, 0, -1, 1,
         1, 1, 1, 1, 0, 1, 1, 1, 0});
    case 8: return small_transform(8,
        {1, 1, 1, 1, 1, 1, 1, 1,    1, -1, 1, -1, 1, -1, 1, -1,  1, 0, -1, 0, 1, 0, -1, 0,  0, 1, 0, -1, 0, 1, 0, -1,
         1, 0, 0, 0, -1, 0, 0, 0,   0, 1, 0, -1, 0, -1, 0, 1,    0, 0, 1, 0, 0, 0, -1, 0,   0, 1, 0, 1, 0, -1, 0, -1},
        {1, 1, 1, C(0, -1), 1, c1, C(0, -1), C(0, -s1)},
        {1, 0, 0, 0, 0, 0, 0, 0,   0, 0, 0, 0, 1, 1, 1, 1,    0, 0, 1, 1, 0, 0, 0, 0,   0, 0, 0, 0, 1, -1, -1, 1,
         0, 1, 0, 0, 0, 0, 0, 0,   0, 0, 0, 0, 1, -1, 1, -1,  0, 0, 1, -1, 0, 0, 0, 0,  0, 0, 0, 0, 1, 1, -1, -1});
    default: return small_transform(1, {1}, {1}, {1});
  }
  // clang-format on
}

// Coprime factors of n among those above; empty if there are none.
std::vector<std::size_t> coprime_factors(std::size_t n) {
  if (n == 0 || kMostProduct % n != 0) return {};
  std::vector<std::size_t> factors;
  for (const std::size_t factor : {8, 4, 2, 7, 5, 3}) {
    if (n % factor != 0) continue;
    factors.push_back(factor);
    n /= factor;  // of 8, 4 and 2 only one: 840 has three factors of 2
  }
  return factors.empty() ? std::vector<std::size_t>{1} : factors;
}

std::vector<std::size_t> checked_factors(std::size_t n) {
  const auto factors = coprime_factors(n);
  if (factors.empty())
    throw Error(ErrorKind::invalid_argument,
                fmt::format("Good-Thomas needs a divisor of {}, got {} points", kMostProduct, n));
  return factors;
}

template <class T>
class PrimeFactors final : public classic::ClassicLine<T> {
 public:
  using typename classic::ClassicLine<T>::Complex;
  PrimeFactors(std::size_t n, const std::vector<std::size_t>& factors, bool nested)
      : classic::ClassicLine<T>(n, nested ? "Winograd: nested small transforms" : "Good-Thomas: prime factors",
                                flops_of(n, factors, nested), 2 * values_of(factors)),
        nested_(nested) {
    for (const std::size_t factor : factors) parts_.push_back(small_transform(factor));
    set_order(n);
    if (nested) multiply_out();
  }

  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    const bool inverse = direction == Direction::inverse;
    const auto exchanged = [inverse](const Complex& value) {
      return inverse ? Complex(value.imag(), value.real()) : value;
    };
    const std::size_t n = this->length();
    Complex *x = scratch, *y = scratch + this->scratch() / 2;
    for (std::size_t i = 0; i < n; ++i) x[i] = exchanged(in[from_[i]]);
    std::size_t inner = n, outer = 1;
    if (nested_) {
      for (const SmallTransform& part : parts_) {
        inner /= part.points;
        add(part.before, outer, inner, x, y);
        std::swap(x, y);
        outer *= part.products;
      }
      for (std::size_t i = 0; i < products_.size(); ++i) x[i] = product(x[i], products_[i]);
      for (std::size_t d = parts_.size(); d-- > 0;) {
        outer /= parts_[d].products;
        add(parts_[d].after, outer, inner, x, y);
        std::swap(x, y);
        inner *= parts_[d].points;
      }
    } else {
      for (const SmallTransform& part : parts_) {
        inner /= part.points;
        add(part.before, outer, inner, x, y);
        scale(part, outer, inner, y);
        add(part.after, outer, inner, y, x);
        outer *= part.points;
      }
    }
    for (std::size_t i = 0; i < n; ++i) out[to_[i]] = exchanged(x[i]);
  }

 private:
  // A factor is real or imaginary.
  struct Factor {
    T size;
    bool imaginary;
  };
  static Factor factor_of(const std::complex<double>& value) {
    const bool imaginary = std::abs(value.imag()) > std::abs(value.real());
    return {static_cast<T>(imaginary ? value.imag() : value.real()), imaginary};
  }
  static Complex product(const Complex& a, const Factor& by) {
    return by.imaginary ? Complex(-by.size * a.imag(), by.size * a.real())
                        : Complex(by.size * a.real(), by.size * a.imag());
  }
  static std::size_t values_of(const std::vector<std::size_t>& factors) {
    std::size_t values = 1;
    for (const std::size_t factor : factors) values *= small_transform(factor).products;
    return values;
  }
  static double flops_of(std::size_t n, const std::vector<std::size_t>& factors, bool nested) {
    double flops = nested ? 2.0 * static_cast<double>(values_of(factors)) : 0, before = 1;
    double after = static_cast<double>(n);
    for (const std::size_t factor : factors) {
      const SmallTransform part = small_transform(factor);
      after /= static_cast<double>(factor);
      flops += 2 * before * after * (part.before.additions() + part.after.additions());
      if (!nested) flops += 2 * before * after * static_cast<double>(part.products);
      before *= static_cast<double>(nested ? part.products : part.points);
    }
    return flops;
  }

  static void add(const Signs& signs, std::size_t outer, std::size_t inner, const Complex* in, Complex* out) {
    for (std::size_t o = 0; o < outer; ++o, in += signs.columns * inner, out += signs.rows * inner) {
      for (std::size_t row = 0; row < signs.rows; ++row) {
        Complex* to = out + row * inner;
        std::fill_n(to, inner, Complex());
        for (std::size_t column = 0; column < signs.columns; ++column) {
          const Complex* from = in + column * inner;
          if (signs.at(row, column) > 0) {
            for (std::size_t i = 0; i < inner; ++i) to[i] += from[i];
          } else if (signs.at(row, column) < 0) {
            for (std::size_t i = 0; i < inner; ++i) to[i] -= from[i];
          }
        }
      }
    }
  }
  static void scale(const SmallTransform& part, std::size_t outer, std::size_t inner, Complex* x) {
    for (std::size_t o = 0; o < outer * part.products; ++o, x += inner) {
      const Factor by = factor_of(part.factors[o % part.products]);
      for (std::size_t i = 0; i < inner; ++i) x[i] = product(x[i], by);
    }
  }

  // Input index sum (N / f) n_f, output index sum (N / f) ((N / f)^-1 mod f) k_f, both modulo N.
  void set_order(std::size_t n) {
    from_.assign(n, 0);
    to_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t left = i;
      for (std::size_t d = parts_.size(); d-- > 0;) {
        const std::size_t f = parts_[d].points, digit = left % f, rest = n / f;
        std::size_t inverted = 1;
        while (f > 1 && rest * inverted % f != 1) ++inverted;
        left /= f;
        from_[i] = (from_[i] + rest * digit) % n;
        to_[i] = (to_[i] + rest * inverted % n * digit) % n;
      }
    }
  }
  void multiply_out() {
    std::vector<std::complex<double>> all{1};
    for (const SmallTransform& part : parts_) {
      std::vector<std::complex<double>> longer;
      for (const auto& value : all) {
        for (const auto& factor : part.factors) longer.push_back(value * factor);
      }
      all = std::move(longer);
    }
    for (const auto& value : all) products_.push_back(factor_of(value));
  }

  bool nested_;
  std::vector<SmallTransform> parts_;
  std::vector<std::size_t> from_, to_;
  std::vector<Factor> products_;
};

}  // namespace

bool has_coprime_factors(std::size_t n) { return !coprime_factors(n).empty(); }

template <class T>
std::unique_ptr<LineKernel<T>> make_good_thomas(std::size_t n) {
  return std::make_unique<PrimeFactors<T>>(n, checked_factors(n), false);
}
template <class T>
std::unique_ptr<LineKernel<T>> make_winograd(std::size_t n) {
  return std::make_unique<PrimeFactors<T>>(n, checked_factors(n), true);
}

template std::unique_ptr<LineKernel<float>> make_good_thomas<float>(std::size_t);
template std::unique_ptr<LineKernel<double>> make_good_thomas<double>(std::size_t);
template std::unique_ptr<LineKernel<float>> make_winograd<float>(std::size_t);
template std::unique_ptr<LineKernel<double>> make_winograd<double>(std::size_t);

}  // namespace ridge::fft
