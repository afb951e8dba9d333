// Runs radix-2 passes in place, and the bit reversal apart from them.
#include "papers/fft/classic/radix2_passes.hpp"

#include <utility>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/classic/line.hpp"

namespace ridge::fft::classic {

template <class T>
Radix2Passes<T>::Radix2Passes(std::size_t n) : n_(checked_length(n)), roots_(n / 2), reversed_(n) {
  const power2::Roots<T> exact(n);
  for (std::size_t k = 0; k < n / 2; ++k) roots_[k] = exact.at(k);
  for (std::size_t i = 1; i < n; ++i) {
    reversed_[i] = static_cast<std::uint32_t>(reversed_[i / 2] / 2 + (i % 2 == 1 ? n / 2 : 0));
  }
}

template <class T>
void Radix2Passes<T>::bit_reverse(const Complex* in, Complex* out) const {
  if (in != out) {
    for (std::size_t i = 0; i < n_; ++i) out[reversed_[i]] = in[i];
    return;
  }
  for (std::size_t i = 0; i < n_; ++i) {
    if (i < reversed_[i]) std::swap(out[i], out[reversed_[i]]);
  }
}

template <class T>
template <bool kInverse>
void Radix2Passes<T>::time_stages(Complex* x) const {
  for (std::size_t half = 1, step = n_ / 2; half < n_; half *= 2, step /= 2) {
    for (std::size_t block = 0; block < n_; block += 2 * half) {
      // The first twiddle of every block is 1.
      const Complex first = x[block + half];
      x[block + half] = x[block] - first;
      x[block] += first;
      for (std::size_t k = 1; k < half; ++k) {
        const Complex b = product(root<kInverse>(roots_[k * step]), x[block + half + k]);
        x[block + half + k] = x[block + k] - b;
        x[block + k] += b;
      }
    }
  }
}

template <class T>
template <bool kInverse>
void Radix2Passes<T>::frequency_stages(Complex* x) const {
  for (std::size_t half = n_ / 2, step = 1; half > 0; half /= 2, step *= 2) {
    for (std::size_t block = 0; block < n_; block += 2 * half) {
      const Complex first = x[block] - x[block + half];
      x[block] += x[block + half];
      x[block + half] = first;
      for (std::size_t k = 1; k < half; ++k) {
        const Complex difference = x[block + k] - x[block + half + k];
        x[block + k] += x[block + half + k];
        x[block + half + k] = product(root<kInverse>(roots_[k * step]), difference);
      }
    }
  }
}

template <class T>
void Radix2Passes<T>::decimate_in_time(Direction direction, Complex* x) const {
  direction == Direction::inverse ? time_stages<true>(x) : time_stages<false>(x);
}

template <class T>
void Radix2Passes<T>::decimate_in_frequency(Direction direction, Complex* x) const {
  direction == Direction::inverse ? frequency_stages<true>(x) : frequency_stages<false>(x);
}

template <class T>
double Radix2Passes<T>::flops() const {
  // 4 per butterfly, and 6 for each twiddle that is not the first of its block: (n - 1) blocks in all.
  const double n = static_cast<double>(n_), butterflies = n / 2 * static_cast<double>(log2_of(n_));
  return 4 * butterflies + 6 * (butterflies - (n - 1));
}

template class Radix2Passes<float>;
template class Radix2Passes<double>;

}  // namespace ridge::fft::classic
