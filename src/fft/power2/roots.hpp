// Roots of unity, each rounded once to T.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

namespace ridge::fft::power2 {

// exp(-2 pi i k / n) as the product of two tables of about sqrt(n) entries, held with twice the precision of double:
// that is quick enough for millions of entries and leaves no error but the final rounding.
template <class T>
class Roots {
 public:
  explicit Roots(std::size_t n);  // a power of two
  std::complex<T> at(std::size_t k) const;
  std::size_t length() const { return n_; }

 private:
  struct Part {  // value = high + low
    double re, im, re_low, im_low;
  };
  static Part exact(std::size_t k, std::size_t n);

  std::size_t n_;
  int shift_;
  std::vector<Part> coarse_, fine_;
};

extern template class Roots<float>;
extern template class Roots<double>;

}  // namespace ridge::fft::power2
