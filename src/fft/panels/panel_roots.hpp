// Transposition and multiplication by roots of unity between the two passes over a long line.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::fft {

// exp(sign 2 pi i m / n) for any m < n as the product of two values of short tables.
class RootTables {
 public:
  RootTables(std::size_t n, int sign);
  std::complex<double> operator()(std::size_t m) const { return coarse_[m >> shift_] * fine_[m & (fine_.size() - 1)]; }
  std::size_t shift() const { return shift_; }
  const std::vector<std::complex<double>>& coarse() const { return coarse_; }
  const std::vector<std::complex<double>>& fine() const { return fine_; }

 private:
  std::size_t shift_ = 0;
  std::vector<std::complex<double>> coarse_{}, fine_{};
};

// Transposes a panel of columns and multiplies element (k, j) by root of unity number (first + j) k.
class PanelRoots {
 public:
  PanelRoots(const Device& device, const RootTables& tables, bool float64);
  static KernelSource text(const RootTables& tables, bool float64);
  // Reads `columns` columns of a panel whose rows are `pitch` elements apart; writes packed rows.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::size_t first, std::size_t rows,
               std::size_t columns, std::size_t pitch) const;
  const KernelSource& source() const { return source_; }

 private:
  KernelSource source_;
  Kernel kernel_;
  Buffer coarse_, fine_;
};

}  // namespace ridge::fft
