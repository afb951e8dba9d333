// Cosine and sine transforms of type IV. Even lengths: one complex transform of half the length between two
// multiplications by twiddle factors. Odd lengths: a permutation of the samples, one real transform of the same length,
// and a permutation of its values (below). A sine transform is the cosine transform of the reversed samples, every
// other value negated.
#include <cstdint>
#include <vector>

#include "fft/roots.hpp"
#include "fft/tensor/real_line.hpp"

namespace ridge::fft {
namespace {

template <class T>
class Type4Even final : public RealLine<T> {
 public:
  using Complex = std::complex<T>;
  Type4Even(RealKind kind, std::shared_ptr<const LineKernel<T>> half)
      : kind_(kind), half_(std::move(half)), roots_(half_->length()) {
    const AnyRoots<T> roots(16 * length());
    for (std::size_t j = 0; j < half_->length(); ++j) roots_[j] = roots.at(8 * j + 1);
  }
  std::size_t length() const override { return 2 * half_->length(); }
  std::string describe() const override { return std::string(to_string(kind_)) + " around " + half_->describe(); }
  double flops() const override { return half_->flops() + 7.0 * static_cast<double>(length()); }
  std::size_t scratch() const override { return 2 * whole_lines(half_->length()) + half_->scratch(); }

  void run(const T* in, T* out, Complex* scratch) const override {
    const std::size_t n = length(), half = n / 2, lines = whole_lines(half);
    Complex* const rotated = scratch;
    Complex* const spectrum = scratch + lines;
    const bool sine = kind_ == RealKind::dst4;
    for (std::size_t j = 0; j < half; ++j) {
      const T re = sine ? in[n - 1 - 2 * j] : in[2 * j], im = sine ? in[2 * j] : in[n - 1 - 2 * j];
      const T c = roots_[j].real(), s = roots_[j].imag();
      rotated[j] = {re * c - im * s, re * s + im * c};
    }
    half_->run(Direction::forward, rotated, spectrum, scratch + 2 * lines);
    for (std::size_t k = 0; k < half; ++k) {
      const T re = spectrum[k].real(), im = spectrum[k].imag(), c = 2 * roots_[k].real(), s = 2 * roots_[k].imag();
      const T odd = re * s + im * c;
      out[2 * k] = re * c - im * s;
      out[n - 1 - 2 * k] = sine ? odd : -odd;
    }
  }

 private:
  RealKind kind_;
  std::shared_ptr<const LineKernel<T>> half_;
  std::vector<Complex> roots_;
};

// With a = 2j+1, b = 2k+1 and N odd, the angle 2 pi a b / (8N) splits into multiples of 2 pi / 8 and 2 pi / N, since
// 1/(8N) = u/8 + v/N. Cosine and sine of odd multiples of 2 pi / 8 are signs times sqrt(1/2), and the signs are
// characters of a b modulo 8, so they factor into one sign per sample and one per output. The remaining cosines and
// sines of 2 pi a b v / N are a real transform over a mod N, read at b v mod N. The cosine sum sees only the even part
// in a, the sine sum only the odd part, so one transform of both parts gives both.
template <class T>
class Type4Odd final : public RealLine<T> {
 public:
  using Complex = std::complex<T>;
  Type4Odd(RealKind kind, std::shared_ptr<const RealKernel<T>> real)
      : kind_(kind), real_(std::move(real)), samples_(real_->length()), values_(real_->length()) {
    const std::size_t n = length();
    std::size_t v = 0;
    while (8 * v % n != 1 % n) ++v;
    // 1 = u N + 8 v modulo 8 N: u inverts N modulo 8, where every odd number is its own inverse.
    const std::size_t u = n % 8;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t a = 2 * j + 1;
      samples_[a % n] = {static_cast<std::uint32_t>(j), even_sign(a), odd_sign(a)};
      const std::size_t place = a % n * v % n;
      const bool mirrored = place > n / 2;
      const T scale = static_cast<T>(1.41421356237309504880168872420969808L);
      values_[j] = {static_cast<std::uint32_t>(mirrored ? n - place : place), scale * even_sign(u) * even_sign(a),
                    (mirrored ? -scale : scale) * odd_sign(u) * odd_sign(a)};
    }
  }
  std::size_t length() const override { return real_->length(); }
  std::string describe() const override { return std::string(to_string(kind_)) + " permuted, " + real_->describe(); }
  double flops() const override { return real_->flops() + 6.0 * static_cast<double>(length()); }
  std::size_t scratch() const override { return whole_lines(length() / 2 + 1) + real_->scratch(); }

  void run(const T* in, T* out, Complex* scratch) const override {
    const std::size_t n = length();
    const bool sine = kind_ == RealKind::dst4;
    T* const order = reinterpret_cast<T*>(scratch);
    const auto sample = [&](const Sample& s) { return sine ? in[n - 1 - s.index] : in[s.index]; };
    order[0] = sample(samples_[0]) * samples_[0].even;
    for (std::size_t r = 1; r <= n / 2; ++r) {
      const Sample &low = samples_[r], &high = samples_[n - r];
      const T x = sample(low), y = sample(high);
      const T even = (x * low.even + y * high.even) / 2, odd = (x * low.odd - y * high.odd) / 2;
      order[r] = even + odd;
      order[n - r] = even - odd;
    }
    real_->forward(order, scratch, scratch + whole_lines(n / 2 + 1));
    for (std::size_t k = 0; k < n; ++k) {
      const Sample& value = values_[k];
      const Complex z = scratch[value.index];
      const T sum = z.real() * value.even + z.imag() * value.odd;
      out[k] = sine && k % 2 == 1 ? -sum : sum;
    }
  }

 private:
  struct Sample {
    std::uint32_t index;
    T even, odd;
  };
  // sqrt(2) cos and sqrt(2) sin of 2 pi a / 8 for odd a.
  static T even_sign(std::size_t a) { return a % 8 == 1 || a % 8 == 7 ? T(1) : T(-1); }
  static T odd_sign(std::size_t a) { return a % 8 < 4 ? T(1) : T(-1); }

  RealKind kind_;
  std::shared_ptr<const RealKernel<T>> real_;
  std::vector<Sample> samples_, values_;
};

}  // namespace

template <class T>
std::unique_ptr<RealLine<T>> make_type4_even(RealKind kind, std::size_t n, const LineSource<T>& source) {
  return std::make_unique<Type4Even<T>>(kind, source.line(n / 2));
}

template <class T>
std::unique_ptr<RealLine<T>> make_type4_odd(RealKind kind, std::size_t n, const LineSource<T>& source) {
  return std::make_unique<Type4Odd<T>>(kind, source.real(n));
}

template std::unique_ptr<RealLine<float>> make_type4_even(RealKind, std::size_t, const LineSource<float>&);
template std::unique_ptr<RealLine<double>> make_type4_even(RealKind, std::size_t, const LineSource<double>&);
template std::unique_ptr<RealLine<float>> make_type4_odd(RealKind, std::size_t, const LineSource<float>&);
template std::unique_ptr<RealLine<double>> make_type4_odd(RealKind, std::size_t, const LineSource<double>&);

}  // namespace ridge::fft
