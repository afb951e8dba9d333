// A design made real on a device: kernel, tables, launch.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <ridge/device.hpp>

#include "fft/device/pass.hpp"

namespace ridge::fft::on_device {

// Factors of a load or a store; window, multiplication and scale in one.
struct FactorTable {
  std::vector<double> real = {};
  std::vector<std::complex<double>> complex = {};
  std::function<std::vector<std::complex<double>>()> later = {};  // complex ones that are costly to make
  FactorKind kind() const {
    return !complex.empty() || later ? FactorKind::complex : !real.empty() ? FactorKind::real : FactorKind::none;
  }
};

class CompiledPass {
 public:
  CompiledPass(const Device& device, const PassDesign& design, const FactorTable& load, const FactorTable& store);

  // `lines` lines from the given offsets on, which count elements of each side's array.
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const;
  const PassDesign& design() const { return design_; }
  const Kernel& kernel() const { return kernel_; }

 private:
  PassDesign design_;
  Kernel kernel_;
  std::size_t local_bytes_ = 0;
  std::vector<Buffer> tables_;
};

}  // namespace ridge::fft::on_device
