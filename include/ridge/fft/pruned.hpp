// Transforms that know zeros: only the points inside a box of the input are given, only those inside a box of the
// output are wanted. Zeros are neither stored nor transformed where a whole line consists of them, and lines that carry
// nothing wanted are not computed.
//
//   auto padded = ridge::fft::PrunedPlan<float>({.shape = {512, 512}, .given = {.count = {256, 256}}});
//   padded.forward(in, out);                                       // 256 x 256 values -> 512 x 512
//
// Complex transforms of one to three axes, on the host.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/plan.hpp>

namespace ridge::fft {

// A range of points per axis. Empty: everything. first + count may pass the end of an axis: the box then continues at
// its beginning, which describes modes at both ends of a spectrum.
struct Box {
  std::vector<std::size_t> first = {};  // empty: all 0
  std::vector<std::size_t> count = {};
};

struct PrunedProblem {
  std::vector<std::size_t> shape = {};  // one to three axes, slowest first
  Box given = {};                       // points of the samples that forward() reads; the others are zero
  Box wanted = {};                      // points of the spectrum that forward() writes
  std::size_t batch = 1;
  double scale_forward = 1, scale_inverse = 1;
  std::size_t threads = 0;  // 0 = all
};

template <class T>
struct PrunedState;  // src/fft/pruned.cpp

// Cheap to copy. Runs are const; those of one plan are made one after another.
template <class T>
class PrunedPlan {
 public:
  using Complex = std::complex<T>;

  explicit PrunedPlan(const PrunedProblem& problem, const planner::Options& options = {.effort = Effort::quick});

  // Packed boxes, last axis fastest, one transform after another. The inverse exchanges the boxes: it reads the wanted
  // points, takes the others as zero, and writes the given ones.
  void forward(std::span<const Complex> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Complex> out) const;

  std::size_t input_size() const;   // of forward(), with the batch
  std::size_t output_size() const;  // of forward(), with the batch
  double share_of_lines() const;  // lines transformed by forward(), weighted by length, of those of the whole transform
  std::string explain() const;
  const PrunedProblem& problem() const;

 private:
  std::shared_ptr<const PrunedState<T>> state_;
};

}  // namespace ridge::fft
