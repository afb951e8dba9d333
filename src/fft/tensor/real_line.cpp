// Makes the kernel of one real-to-real line.
#include "fft/tensor/real_line.hpp"

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::fft {

const char* to_string(RealKind kind) {
  switch (kind) {
    case RealKind::halfcomplex:
      return "halfcomplex";
    case RealKind::halfcomplex_inverse:
      return "halfcomplex_inverse";
    case RealKind::hartley:
      return "hartley";
    case RealKind::dct1:
      return "dct1";
    case RealKind::dct2:
      return "dct2";
    case RealKind::dct3:
      return "dct3";
    case RealKind::dct4:
      return "dct4";
    case RealKind::dst1:
      return "dst1";
    case RealKind::dst2:
      return "dst2";
    case RealKind::dst3:
      return "dst3";
    case RealKind::dst4:
      return "dst4";
  }
  return "";
}

template <class T>
std::unique_ptr<RealLine<T>> make_real_line(RealKind kind, std::size_t n, const LineSource<T>& source) {
  if (n == 0 || (kind == RealKind::dct1 && n == 1)) {
    throw Error(ErrorKind::invalid_argument, fmt::format("fft: {} does not exist for {} points", to_string(kind), n));
  }
  switch (kind) {
    case RealKind::halfcomplex:
    case RealKind::halfcomplex_inverse:
    case RealKind::hartley:
      return make_halfcomplex<T>(kind, n, source);
    case RealKind::dct1:
    case RealKind::dst1:
      return make_extended<T>(kind, n, source);
    case RealKind::dct2:
    case RealKind::dst2:
      return make_type2<T>(kind, n, source);
    case RealKind::dct3:
    case RealKind::dst3:
      return make_type3<T>(kind, n, source);
    case RealKind::dct4:
    case RealKind::dst4:
      return n % 2 == 0 ? make_type4_even<T>(kind, n, source) : make_type4_odd<T>(kind, n, source);
  }
  throw Error(ErrorKind::invalid_argument, "fft: unknown kind of real transform");
}

template std::unique_ptr<RealLine<float>> make_real_line(RealKind, std::size_t, const LineSource<float>&);
template std::unique_ptr<RealLine<double>> make_real_line(RealKind, std::size_t, const LineSource<double>&);

}  // namespace ridge::fft
