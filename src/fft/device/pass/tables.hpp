// Constant tables of a pass, computed in double on the host and rounded once.
#pragma once
#include <complex>
#include <cstdint>
#include <vector>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

// Twiddles of the stages and between passes, a convolution's filter, the roots of a real transform.
template <class T>
std::vector<std::complex<T>> pass_tables(const PassDesign& design);

// Bluestein's chirp exp(-pi i j^2 / n), j < n.
std::vector<std::complex<double>> chirp(std::size_t n);

// The spectrum that Bluestein's method multiplies with, over `padded` points, divided by their number.
std::vector<std::complex<double>> chirp_filter(std::size_t n, std::size_t padded);

// Rader's order of the points 1 .. p - 1: powers of a generator, and of its inverse.
struct RaderOrder {
  std::vector<std::uint32_t> gather, scatter;
};
RaderOrder rader_order(std::size_t p);

}  // namespace ridge::fft::on_device
