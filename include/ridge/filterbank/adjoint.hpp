// Gradients of filter banks: the adjoint with respect to the samples and with respect to the prototype.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <ridge/filterbank/bank.hpp>
#include <ridge/filterbank/correlation.hpp>

namespace ridge::filterbank {

class AdjointState;

// For a loss L of the spectra X of float samples x, with g = dL/dRe X + i dL/dIm X: samples() computes the same of x,
// weights() the gradient with respect to the prototype. On the host, by overlap-add; const, for many threads at once.
//
// Sizes are those of a whole stream from its first sample: spectra of the plan's order, samples in the plan's input
// order (blocks of input_block samples). Error{invalid_argument} for integer samples and for delays, which round.
class Adjoint {
 public:
  explicit Adjoint(const Problem& analysis);
  // x[n] = sum over t of h[newest - n] v_t[n mod channels], v_t the unnormalized inverse DFT of g_t.
  void samples(std::span<const std::complex<float>> g, std::span<std::complex<float>> x) const;
  // h[a] = Re sum over t of conj(x[newest - a]) v_t[(newest - a) mod channels], over all stations and polarizations.
  std::vector<double> weights(std::span<const std::complex<float>> x, std::span<const std::complex<float>> g) const;

 private:
  std::shared_ptr<const AdjointState> state_;
};

// Gradient of a correlator by its spectra X: for a loss L of the visibilities V with g = dL/dRe V + i dL/dIm V,
//
//   X_i,p^ = sum over j >= i, q of g[b][k][p][q] X_j,q  +  sum over j <= i, q of conj(g[b'][k][q][p]) X_j,q
//
// for each time and channel, b the baseline of (i, j) and b' of (j, i). Sums are doubles. On the host, by all threads
// of the problem; const, for many threads at once. Error{invalid_argument} for rounded arithmetic.
class CorrelatorAdjoint {
 public:
  CorrelatorAdjoint(const Problem& problem, const Correlation& correlation);
  // Whole integrations of spectra in the order of the problem, and their visibilities' gradient; `out` is overwritten.
  void run(std::span<const std::complex<float>> spectra, std::span<const std::complex<float>> g,
           std::span<std::complex<float>> out) const;

 private:
  std::shared_ptr<const CorrelatorState> state_;
};

}  // namespace ridge::filterbank
