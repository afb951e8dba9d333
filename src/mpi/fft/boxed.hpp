// Distributed transforms of which only a box of the samples is given, or only a box of the spectrum wanted: slabs along
// the first axis, one exchange, slabs along the second. Zeros are neither stored nor sent.
#pragma once
#include <complex>
#include <cstddef>
#include <optional>
#include <string>

#include <ridge/mpi/fft.hpp>
#include <ridge/mpi/redistribute.hpp>

#include "base/aligned.hpp"

namespace ridge::mpi::fft {

template <class T>
class Boxed {
 public:
  // Collective. Two or three axes; one transform per run.
  Boxed(const Communicator& all, const Problem& problem, std::size_t threads, const Device& device,
        const planner::Options& options);
  void run(bool inverse, const void* in, void* out) const;
  // This process's points, counted from the first point of the box given, and of the box wanted.
  const Box& samples() const { return samples_; }
  const Box& spectrum() const { return spectrum_; }
  std::size_t bytes_sent() const { return to_columns_->bytes_sent(); }
  std::string explain() const;

 private:
  using Complex = std::complex<T>;
  bool real_;
  Box samples_{}, spectrum_{};
  std::optional<ridge::fft::Plan<T>> planes_{}, columns_{};  // empty if this process has no points
  std::optional<Redistribute<Complex>> to_columns_{}, to_planes_{};
  mutable base::AlignedArray<Complex> in_planes_{}, in_columns_{};
};

}  // namespace ridge::mpi::fft
