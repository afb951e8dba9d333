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
  CompiledPass(const Device& device, const PassDesign& design, const FactorTable& load, const FactorTable& store,
               const FactorTable& filter);

  // `lines` lines from the given offsets on, which count elements of each side's array.
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const;
  const PassDesign& design() const { return design_; }
  const Kernel& kernel() const { return kernel_; }

 private:
  PassDesign design_;
  Kernel kernel_;
  std::size_t local_bytes_ = 0;
  std::uint64_t staying_ = 0;  // groups that take line after line; 0: each takes its lines and goes
  std::vector<Buffer> tables_;
};

class CompiledCluster {
 public:
  CompiledCluster(const Device& device, const ClusterDesign& design);
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const;
  const ClusterDesign& design() const { return design_; }
  const Kernel& kernel() const { return kernel_; }

 private:
  ClusterDesign design_;
  Kernel kernel_;
  std::size_t local_bytes_ = 0;
  Buffer tables_;
};

// Owns its ring: calls from several queues must be put in order.
class CompiledRing {
 public:
  CompiledRing(const Device& device, const RingDesign& design);
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t chunks) const;
  const RingDesign& design() const { return design_; }
  const Kernel& kernel() const { return kernel_; }

 private:
  RingDesign design_;
  Kernel kernel_;
  std::size_t local_bytes_ = 0;
  Buffer tables_, ring_, control_;
};

}  // namespace ridge::fft::on_device
