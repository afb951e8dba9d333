// A pass as a step of a route, and the tables it reads.
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fft/device/pass/design.hpp"
#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

std::shared_ptr<const StepDesign> pass_step(PassDesign design);

// The design of a pass step, or nullptr for other steps.
const PassDesign* pass_of(const Step& step);

// "16*16*16", for names.
std::string radices_text(const PassDesign& design);

// Factor tables of a step in the order of the kernel's arguments: load, then store.
std::vector<Buffer> uploaded_factors(const Device& device, bool float64, const Step& step);

// Concatenated tables of the passes of one kernel.
Buffer uploaded_tables(const Device& device, std::span<const PassDesign* const> designs);

// Constant tables of a pass, computed in double on the host and rounded once.

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
