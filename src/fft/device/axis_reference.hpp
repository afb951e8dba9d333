// Reference for one axis: lines loaded and stored as the problem says, transformed by the host in double.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "fft/device/problem/axis_problem.hpp"
#include "fft/variant.hpp"

namespace ridge::fft::on_device {

// Number of values of a line on one side; half a spectrum is shorter than its samples.
std::uint64_t side_points(const AxisProblem& problem, bool input);

// Bytes of one value on one side.
std::size_t element_bytes(const AxisProblem& problem, bool input);

// Elements of the array of one side.
std::uint64_t side_extent(const AxisProblem& problem, bool input);

// Element where a line starts.
std::uint64_t line_start(const AxisProblem& problem, const Address& at, std::uint64_t number);

// Element of a line's value.
std::uint64_t value_place(const AxisProblem& problem, bool input, std::uint64_t line, std::uint64_t i);

class AxisReference {
 public:
  explicit AxisReference(const AxisProblem& problem);
  // Transforms the line with this number of the input array; the values are real if the output is real.
  std::vector<std::complex<double>> line(const std::byte* in, std::uint64_t number) const;
  // The values with these numbers only, by direct sums. Neither real-to-real transforms nor mirrored rows.
  std::vector<std::complex<double>> values(const std::byte* in, std::uint64_t number,
                                           std::span<const std::uint64_t> wanted) const;

 private:
  base::AlignedArray<std::complex<double>> loaded_line(const std::byte* in, std::uint64_t number) const;
  std::complex<double> stored(std::complex<double> value, std::uint64_t number, std::uint64_t i) const;
  LineKernel<double>& kernel() const;
  std::complex<double> loaded(const std::byte* in, std::uint64_t element) const;
  std::vector<std::complex<double>> folded(const std::byte* in, std::uint64_t number) const;
  std::vector<std::complex<double>> real_to_real(const std::byte* in, std::uint64_t start) const;

  AxisProblem problem_;
  std::vector<std::complex<double>> load_, store_;      // factors; empty: none
  mutable std::unique_ptr<LineKernel<double>> kernel_;  // made when first used
};

}  // namespace ridge::fft::on_device
