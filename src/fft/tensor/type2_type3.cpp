// Cosine and sine transforms of types II and III (Makhoul): even samples forwards and odd ones backwards, one real
// transform of the same length, and a multiplication by exp(-pi i k / (2 n)). A sine transform is the cosine transform
// of samples with alternating signs, read backwards.
#include <vector>

#include "fft/roots.hpp"
#include "fft/tensor/real_line.hpp"

namespace ridge::fft {
namespace {

// `scale` exp(-pi i k / (2 n)) for k up to n/2, with separate cosines and sines so that loops over them vectorize.
template <class T>
struct HalfSampleRoots {
  HalfSampleRoots(std::size_t n, T scale) : cosine(n / 2 + 1), sine(n / 2 + 1) {
    const AnyRoots<T> roots(4 * n);
    for (std::size_t k = 0; k <= n / 2; ++k) {
      cosine[k] = scale * roots.at(k).real();
      sine[k] = -scale * roots.at(k).imag();
    }
  }
  std::vector<T> cosine, sine;
};

template <class T>
class Type2 final : public RealLine<T> {
 public:
  using Complex = std::complex<T>;
  Type2(RealKind kind, std::shared_ptr<const RealKernel<T>> real)
      : kind_(kind), real_(std::move(real)), roots_(real_->length(), T(2)) {}
  std::size_t length() const override { return real_->length(); }
  std::string describe() const override { return std::string(to_string(kind_)) + " around " + real_->describe(); }
  double flops() const override { return real_->flops() + 3.0 * static_cast<double>(length()); }
  std::size_t scratch() const override { return whole_lines(length() / 2 + 1) + real_->scratch(); }

  void run(const T* in, T* out, Complex* scratch) const override {
    const std::size_t n = length(), half = (n + 1) / 2;
    T* const order = reinterpret_cast<T*>(scratch);
    const bool sine = kind_ == RealKind::dst2;
    for (std::size_t j = 0; j < half; ++j) order[j] = in[2 * j];
    if (sine) {
      for (std::size_t j = 0; j < n / 2; ++j) order[n - 1 - j] = -in[2 * j + 1];
    } else {
      for (std::size_t j = 0; j < n / 2; ++j) order[n - 1 - j] = in[2 * j + 1];
    }
    real_->forward(order, scratch, scratch + whole_lines(n / 2 + 1));
    if (sine) {
      rotate(
          out, [n](std::size_t k) { return n - 1 - k; }, scratch);
    } else {
      rotate(
          out, [](std::size_t k) { return k; }, scratch);
    }
  }

 private:
  template <class Place>
  void rotate(T* __restrict out, const Place& place, const Complex* __restrict spectrum) const {
    const std::size_t n = length();
    const T* const cosine = roots_.cosine.data();
    const T* const sine = roots_.sine.data();
    out[place(0)] = 2 * spectrum[0].real();
    for (std::size_t k = 1; k < (n + 1) / 2; ++k) {
      const T re = spectrum[k].real(), im = spectrum[k].imag();
      out[place(k)] = re * cosine[k] + im * sine[k];
      out[place(n - k)] = re * sine[k] - im * cosine[k];
    }
    if (n % 2 == 0) out[place(n / 2)] = spectrum[n / 2].real() * cosine[n / 2];
  }

  RealKind kind_;
  std::shared_ptr<const RealKernel<T>> real_;
  HalfSampleRoots<T> roots_;
};

template <class T>
class Type3 final : public RealLine<T> {
 public:
  using Complex = std::complex<T>;
  Type3(RealKind kind, std::shared_ptr<const RealKernel<T>> real)
      : kind_(kind), real_(std::move(real)), roots_(real_->length(), T(1)) {}
  std::size_t length() const override { return real_->length(); }
  std::string describe() const override { return std::string(to_string(kind_)) + " around " + real_->describe(); }
  double flops() const override { return real_->flops() + 3.0 * static_cast<double>(length()); }
  std::size_t scratch() const override { return 2 * whole_lines(length() / 2 + 1) + real_->scratch(); }

  void run(const T* in, T* out, Complex* scratch) const override {
    const std::size_t n = length(), lines = whole_lines(n / 2 + 1);
    T* const order = reinterpret_cast<T*>(scratch + lines);
    const bool sine = kind_ == RealKind::dst3;
    if (sine) {
      rotate(
          scratch, [n](std::size_t k) { return n - 1 - k; }, in);
    } else {
      rotate(
          scratch, [](std::size_t k) { return k; }, in);
    }
    real_->inverse(scratch, order, scratch + 2 * lines);
    for (std::size_t j = 0; j < (n + 1) / 2; ++j) out[2 * j] = order[j];
    if (sine) {
      for (std::size_t j = 0; j < n / 2; ++j) out[2 * j + 1] = -order[n - 1 - j];
    } else {
      for (std::size_t j = 0; j < n / 2; ++j) out[2 * j + 1] = order[n - 1 - j];
    }
  }

 private:
  template <class Place>
  void rotate(Complex* __restrict spectrum, const Place& place, const T* __restrict in) const {
    const std::size_t n = length();
    const T* const cosine = roots_.cosine.data();
    const T* const sine = roots_.sine.data();
    spectrum[0] = {in[place(0)], 0};
    for (std::size_t k = 1; k < (n + 1) / 2; ++k) {
      const T a = in[place(k)], b = in[place(n - k)];
      spectrum[k] = {a * cosine[k] + b * sine[k], a * sine[k] - b * cosine[k]};
    }
    if (n % 2 == 0) spectrum[n / 2] = {2 * in[place(n / 2)] * cosine[n / 2], 0};
  }

  RealKind kind_;
  std::shared_ptr<const RealKernel<T>> real_;
  HalfSampleRoots<T> roots_;
};

}  // namespace

template <class T>
std::unique_ptr<RealLine<T>> make_type2(RealKind kind, std::size_t n, const LineSource<T>& source) {
  return std::make_unique<Type2<T>>(kind, source.real(n));
}

template <class T>
std::unique_ptr<RealLine<T>> make_type3(RealKind kind, std::size_t n, const LineSource<T>& source) {
  return std::make_unique<Type3<T>>(kind, source.real(n));
}

template std::unique_ptr<RealLine<float>> make_type2(RealKind, std::size_t, const LineSource<float>&);
template std::unique_ptr<RealLine<double>> make_type2(RealKind, std::size_t, const LineSource<double>&);
template std::unique_ptr<RealLine<float>> make_type3(RealKind, std::size_t, const LineSource<float>&);
template std::unique_ptr<RealLine<double>> make_type3(RealKind, std::size_t, const LineSource<double>&);

}  // namespace ridge::fft
