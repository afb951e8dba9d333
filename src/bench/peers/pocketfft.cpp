// Peer pocketfft (C++, the library of SciPy): all kinds of transforms, one thread. Its plans are cached as in SciPy.
#define POCKETFFT_CACHE_SIZE 16
#define POCKETFFT_NO_MULTITHREADING
#include <pocketfft_hdronly.h>

#include <ridge/error.hpp>

#include "bench/peers/peer.hpp"

namespace ridge::cli {
namespace {

// Strides in bytes of a packed array.
pocketfft::stride_t strides_of(const pocketfft::shape_t& shape, std::size_t element) {
  pocketfft::stride_t strides(shape.size());
  auto step = static_cast<std::ptrdiff_t>(element);
  for (std::size_t axis = shape.size(); axis-- > 0; step *= static_cast<std::ptrdiff_t>(shape[axis]))
    strides[axis] = step;
  return strides;
}

template <class T>
PeerRun prepare_kind(const PeerProblem& problem, const pocketfft::shape_t& shape, const pocketfft::shape_t& axes,
                     const T* in, T* out) {
  const auto strides = strides_of(shape, sizeof(T));
  const int kind = static_cast<int>(*problem.kind), dct1 = static_cast<int>(fft::RealKind::dct1),
            dst1 = static_cast<int>(fft::RealKind::dst1);
  if (kind >= dct1 && kind < dct1 + 4)
    return [=] { pocketfft::dct(shape, strides, strides, axes, kind - dct1 + 1, in, out, T{1}, false); };
  if (kind >= dst1 && kind < dst1 + 4)
    return [=] { pocketfft::dst(shape, strides, strides, axes, kind - dst1 + 1, in, out, T{1}, false); };
  throw Error(ErrorKind::unavailable, "the bench compares cosine and sine transforms only");
}

template <class T>
PeerRun prepare_as(const PeerProblem& problem, void* in, void* out) {
  using Complex = std::complex<T>;
  pocketfft::shape_t shape{problem.batch}, axes;
  for (const std::size_t n : problem.shape) {
    axes.push_back(shape.size());
    shape.push_back(n);
  }
  if (problem.kind) return prepare_kind<T>(problem, shape, axes, static_cast<const T*>(in), static_cast<T*>(out));
  pocketfft::shape_t half = shape;
  half.back() = half.back() / 2 + 1;
  const auto reals = strides_of(shape, sizeof(T)), values = strides_of(problem.real ? half : shape, sizeof(Complex));
  const bool forward = !problem.inverse;
  const auto* samples = static_cast<const T*>(in);
  const auto* from = static_cast<const Complex*>(in);
  auto* to = static_cast<Complex*>(out);
  auto* to_samples = static_cast<T*>(out);
  if (!problem.real) return [=] { pocketfft::c2c(shape, values, values, axes, forward, from, to, T{1}); };
  if (forward) return [=] { pocketfft::r2c(shape, reals, values, axes, true, samples, to, T{1}); };
  return [=] { pocketfft::c2r(shape, values, reals, axes, false, from, to_samples, T{1}); };
}

}  // namespace

Peer pocketfft_peer() {
  return {.name = "pocketfft", .prepare = [](const PeerProblem& problem, void* in, void* out) {
            if (problem.threads != 1) throw Error(ErrorKind::unavailable, "is timed on one thread");
            return problem.float64 ? prepare_as<double>(problem, in, out) : prepare_as<float>(problem, in, out);
          }};
}

}  // namespace ridge::cli
