// The last axis of a real transform: rows of samples to or from rows of their spectra.
#pragma once
#include <array>
#include <complex>
#include <cstddef>

#include "fft/host/real/real_kernel.hpp"
#include "fft/host/stage.hpp"
#include "fft/layout.hpp"
#include "fft/operators.hpp"

namespace ridge::fft {

template <class T>
class RealStage {
 public:
  using Complex = std::complex<T>;
  RealStage(const RealKernel<T>& kernel, std::size_t axis, const Side& samples, const Side& spectrum, std::size_t batch,
            const Factors<T>* load, const Factors<T>* store);

  std::size_t tile() const;  // elements: a block of samples, then a block of spectra
  std::size_t kernel_scratch() const { return kernel_.scratch(); }
  std::size_t units() const { return loops_[0].count * loops_[1].count * loops_[2].count; }
  std::size_t planes() const { return loops_[0].count * loops_[1].count; }
  const std::array<Loop, kMostAxes>& loops() const { return loops_; }
  double points() const { return static_cast<double>(units()) * static_cast<double>(n_); }
  const RealKernel<T>& kernel() const { return kernel_; }
  // Transforms rows directly from one array to the other.
  bool plain() const { return tile() == 0 && store_ == nullptr; }

  // Rows [begin, end). Input samples have the type of the load's samples, output samples have type T.
  void forward(const void* samples, Complex* spectrum, std::size_t begin, std::size_t end,
               StageScratch<T> scratch) const;
  void inverse(const Complex* spectrum, T* samples, std::size_t begin, std::size_t end, StageScratch<T> scratch) const;

 private:
  struct Rows {  // rows along the innermost loop
    std::size_t count, samples, spectrum, sample_factor, spectrum_factor;
  };
  Rows next(std::size_t begin, std::size_t end) const;
  T* sample_tile(StageScratch<T> scratch) const { return reinterpret_cast<T*>(scratch.tile); }
  Complex* spectrum_tile(StageScratch<T> scratch) const { return scratch.tile + sample_tile_; }
  void forward_rows(const void* samples, Complex* spectrum, const Rows& rows, StageScratch<T> scratch) const;
  void inverse_rows(const Complex* spectrum, T* samples, const Rows& rows, StageScratch<T> scratch) const;
  Block sample_block(const Rows& rows) const;
  Block spectrum_block(const Rows& rows) const;

  const RealKernel<T>& kernel_;
  std::size_t n_, half_;
  std::size_t sample_stride_, spectrum_stride_;
  std::array<Loop, kMostAxes> loops_;  // in: samples, out: spectra
  const Factors<T>*load_, *store_;
  std::size_t sample_bytes_;
  std::size_t block_;        // rows per tile
  std::size_t sample_tile_;  // complex elements that hold a block of samples
};

extern template class RealStage<float>;
extern template class RealStage<double>;

}  // namespace ridge::fft
