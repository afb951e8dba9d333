// What the tests of the papers' variants share.
#pragma once
#include <complex>
#include <string>
#include <vector>

#include "device_support.hpp"
#include "fft/device/papers/platform.hpp"

namespace ridge::fft::testing {

// The worst error of the first and last of `batch` lines, in units of the gate.
template <class Compiled>
double gated_error_of(const Device& device, const Compiled& compiled, std::size_t n, std::size_t batch, bool inverse) {
  const auto points = reference::random_points<float>(n * batch, static_cast<unsigned>(n));
  std::vector<std::complex<float>> result(n * batch);
  Queue queue = device.queue();
  const Buffer in = device.buffer(n * batch * 8, {.name = "in"}), out = device.buffer(n * batch * 8, {.name = "out"});
  queue.upload(std::span<const std::complex<float>>(points), in);
  compiled.enqueue(queue, in, 0, out, 0, batch);
  queue.download(out, std::span<std::complex<float>>(result));
  queue.finish();
  double worst = 0;
  for (const std::size_t line : {std::size_t{0}, batch - 1}) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(line * n);
    const auto expected = reference::dft(std::vector(first, first + static_cast<std::ptrdiff_t>(n)), inverse);
    worst = std::max(
        worst, reference::relative_error(result.data() + line * n, 1, expected) / reference::error_gate<float>(n));
  }
  return worst;
}

}  // namespace ridge::fft::testing
