// Converts, multiplies and moves points with any stride, in vectors where the strides allow.
#include "fft/operators.hpp"
#include "base/complex_product.hpp"

#include <type_traits>

namespace ridge::fft {
namespace {

template <class T>
std::vector<T> converted(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}
template <class T>
std::vector<std::complex<T>> converted(const std::vector<std::complex<double>>& values) {
  std::vector<std::complex<T>> result;
  result.reserve(values.size());
  for (const auto& value : values) result.emplace_back(static_cast<T>(value.real()), static_cast<T>(value.imag()));
  return result;
}

// Integers are read from a plain array; complex values interleave real and imaginary parts.
template <class T, bool kComplex, class In>
auto read(const In* in, std::size_t i) {
  if constexpr (!kComplex) {
    return static_cast<T>(in[i]);
  } else if constexpr (std::is_same_v<In, std::complex<T>>) {
    return in[i];
  } else {
    return std::complex<T>(static_cast<T>(in[2 * i]), static_cast<T>(in[2 * i + 1]));
  }
}

template <class T, bool kComplex, class In, class Out>
void move(const Factors<T>& factors, const In* in, Steps from, Out* out, Steps to, Block block) {
  // The inner loop runs along the contiguous direction of the tile or, failing that, of the caller's memory.
  if (to.line == 1 || (to.point != 1 && from.line == 1)) {
    std::swap(block.points, block.lines);
    std::swap(block.factors.point, block.factors.line);
    std::swap(from.point, from.line);
    std::swap(to.point, to.line);
  }
  const T scale = factors.scale;
  const T* const window = factors.window.empty() ? nullptr : factors.window.data();
  const std::complex<T>* const multiply = factors.multiply.empty() ? nullptr : factors.multiply.data();
  for (std::size_t l = 0; l < block.lines; ++l) {
    const In* const source = in + (kComplex && !std::is_same_v<In, std::complex<T>> ? 2 : 1) * l * from.line;
    Out* const target = out + l * to.line;
    const std::size_t factor = block.factor + l * block.factors.line, step = block.factors.point;
    if (window == nullptr && multiply == nullptr) {
      for (std::size_t p = 0; p < block.points; ++p) {
        target[p * to.point] = scale * read<T, kComplex>(source, p * from.point);
      }
    } else if (multiply == nullptr) {
      for (std::size_t p = 0; p < block.points; ++p) {
        target[p * to.point] = scale * window[factor + p * step] * read<T, kComplex>(source, p * from.point);
      }
    } else if constexpr (kComplex) {
      for (std::size_t p = 0; p < block.points; ++p) {
        const T real = window == nullptr ? scale : scale * window[factor + p * step];
        target[p * to.point] =
            real * base::product(multiply[factor + p * step], read<T, kComplex>(source, p * from.point));
      }
    }
  }
}

}  // namespace

template <class T>
Factors<T>::Factors(const Load& load)
    : samples(load.samples), window(converted<T>(load.window)), multiply(converted<T>(load.multiply)) {}

template <class T>
Factors<T>::Factors(const Store& store, double scale_by)
    : window(converted<T>(store.window)), multiply(converted<T>(store.multiply)), scale(static_cast<T>(scale_by)) {}

template <class T>
void load_complex(const Factors<T>& factors, const void* in, Steps from, std::complex<T>* tile, Steps to,
                  const Block& block) {
  switch (factors.samples) {
    case Samples::int8:
      return move<T, true>(factors, static_cast<const std::int8_t*>(in), from, tile, to, block);
    case Samples::int16:
      return move<T, true>(factors, static_cast<const std::int16_t*>(in), from, tile, to, block);
    default:
      return move<T, true>(factors, static_cast<const std::complex<T>*>(in), from, tile, to, block);
  }
}

template <class T>
void load_real(const Factors<T>& factors, const void* in, Steps from, T* tile, Steps to, const Block& block) {
  switch (factors.samples) {
    case Samples::int8:
      return move<T, false>(factors, static_cast<const std::int8_t*>(in), from, tile, to, block);
    case Samples::int16:
      return move<T, false>(factors, static_cast<const std::int16_t*>(in), from, tile, to, block);
    default:
      return move<T, false>(factors, static_cast<const T*>(in), from, tile, to, block);
  }
}

template <class T>
void store_complex(const Factors<T>& factors, const std::complex<T>* tile, Steps from, std::complex<T>* out, Steps to,
                   const Block& block) {
  move<T, true>(factors, tile, from, out, to, block);
}

template <class T>
void store_real(const Factors<T>& factors, const T* tile, Steps from, T* out, Steps to, const Block& block) {
  move<T, false>(factors, tile, from, out, to, block);
}

template struct Factors<float>;
template struct Factors<double>;
template void load_complex(const Factors<float>&, const void*, Steps, std::complex<float>*, Steps, const Block&);
template void load_complex(const Factors<double>&, const void*, Steps, std::complex<double>*, Steps, const Block&);
template void load_real(const Factors<float>&, const void*, Steps, float*, Steps, const Block&);
template void load_real(const Factors<double>&, const void*, Steps, double*, Steps, const Block&);
template void store_complex(const Factors<float>&, const std::complex<float>*, Steps, std::complex<float>*, Steps,
                            const Block&);
template void store_complex(const Factors<double>&, const std::complex<double>*, Steps, std::complex<double>*, Steps,
                            const Block&);
template void store_real(const Factors<float>&, const float*, Steps, float*, Steps, const Block&);
template void store_real(const Factors<double>&, const double*, Steps, double*, Steps, const Block&);

}  // namespace ridge::fft
