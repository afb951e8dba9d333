// Common parts of the tests of the papers' variants.
#pragma once
#include <complex>
#include <string>
#include <vector>

#include "device_support.hpp"
#include "papers/fft/device/published.hpp"

namespace ridge::fft::device_tests {

// The largest error of `batch` lines, relative to the limit.
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
  return error_of_lines(points, result, n, reference::error_gate<float>(n), inverse);
}

}  // namespace ridge::fft::device_tests
