#include "fft/host/real/real.hpp"

#include <ridge/error.hpp>

namespace ridge::fft {

std::size_t real_line_length(std::size_t n) {
  if (n <= kMaxShortReal) return 0;
  if (n % 2 == 0) return n / 2;
  return n <= kMaxDirectReal && real_odd_factor(n) == 0 ? 0 : n;
}

template <class T>
std::unique_ptr<RealKernel<T>> make_real(std::size_t n, const ShareLine<T>& line) {
  if (n == 0) throw Error(ErrorKind::invalid_argument, "a real transform needs at least 1 sample, got 0");
  if (n <= kMaxShortReal) return make_real_short<T>(n);
  if (n % 2 == 0) return make_real_even<T>(line(n / 2));
  if (real_odd_factor(n) != 0) return make_real_paired<T>(line(n), make_real_odd<T>(n, line));
  return n <= kMaxDirectReal ? make_real_direct<T>(n) : make_real_paired<T>(line(n));
}

template std::unique_ptr<RealKernel<float>> make_real(std::size_t, const ShareLine<float>&);
template std::unique_ptr<RealKernel<double>> make_real(std::size_t, const ShareLine<double>&);

}  // namespace ridge::fft
