// Runs short lines with their scratch on the stack: borrowing scratch would take longer than their transform.
#pragma once
#include <array>
#include <complex>
#include <cstddef>

#include "base/aligned.hpp"
#include "fft/host/real/real_kernel.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

inline constexpr std::size_t kStackBytes = 72 * 1024;  // two buffers of 4096 points of float

// The array is small if possible, because some compilers touch every page of it in every call.
template <std::size_t kBytes, class T>
struct OnTheStack {
  using Complex = std::complex<T>;
  static Complex* points(std::array<std::byte, kBytes>& memory) { return reinterpret_cast<Complex*>(memory.data()); }
  [[gnu::noinline]] static void run(const LineKernel<T>& line, Direction direction, const Complex* in, Complex* out) {
    alignas(base::kAlignment) std::array<std::byte, kBytes> memory;  // NOLINT: a kernel writes it before it reads it
    line.run(direction, in, out, points(memory));
  }
  [[gnu::noinline]] static void run(const LineKernel<T>& line, Direction direction, const Complex* in,
                                    std::size_t in_distance, Complex* out, std::size_t out_distance,
                                    std::size_t count) {
    alignas(base::kAlignment) std::array<std::byte, kBytes> memory;  // NOLINT: as above
    line.run_many(direction, in, in_distance, out, out_distance, count, points(memory));
  }
  [[gnu::noinline]] static void run(const RealKernel<T>& line, const T* in, std::size_t in_distance, Complex* out,
                                    std::size_t out_distance, std::size_t count) {
    alignas(base::kAlignment) std::array<std::byte, kBytes> memory;  // NOLINT: as above
    line.forward_many(in, in_distance, out, out_distance, count, points(memory));
  }
  [[gnu::noinline]] static void run(const RealKernel<T>& line, const Complex* in, std::size_t in_distance, T* out,
                                    std::size_t out_distance, std::size_t count) {
    alignas(base::kAlignment) std::array<std::byte, kBytes> memory;  // NOLINT: as above
    line.inverse_many(in, in_distance, out, out_distance, count, points(memory));
  }
  [[gnu::noinline]] static void run(const RealKernel<T>& line, const T* in, Complex* out) {
    alignas(base::kAlignment) std::array<std::byte, kBytes> memory;  // NOLINT: as above
    line.forward(in, out, points(memory));
  }
  [[gnu::noinline]] static void run(const RealKernel<T>& line, const Complex* in, T* out) {
    alignas(base::kAlignment) std::array<std::byte, kBytes> memory;  // NOLINT: as above
    line.inverse(in, out, points(memory));
  }
};

// Runs a line with `scratch` complex elements on the stack, at most kStackBytes.
template <class T, class... Call>
void with_stack(std::size_t scratch, const Call&... call) {
  constexpr std::size_t kLittle = 3 * 1024, kMore = 18 * 1024;
  const std::size_t bytes = scratch * sizeof(std::complex<T>);
  if (bytes <= kLittle) return OnTheStack<kLittle, T>::run(call...);
  if (bytes <= kMore) return OnTheStack<kMore, T>::run(call...);
  OnTheStack<kStackBytes, T>::run(call...);
}

}  // namespace ridge::fft
