// Fourier transforms of grids distributed over processes: one to three dimensions, complex and real, float and double,
// any lengths. No process holds the whole grid.
//
//   auto all = ridge::mpi::Communicator::world();
//   ridge::mpi::fft::Plan<float> fft(all, {.shape = {512, 512, 512}});
//   std::vector<std::complex<float>> in(fft.input().size()), out(fft.output().size());
//   fft.forward(in, out);
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi::fft {

struct Problem {
  Shape shape = {};  // real: of the samples
  std::size_t batch = 1;
  ridge::fft::Kind kind = ridge::fft::Kind::complex;
  // This process's points of the samples and of the spectrum (whose last axis has n/2+1 points for a real kind). Unset:
  // the fastest layout, see input() and output(); the output then keeps the layout of the last exchange. Either all
  // processes give a box or none does.
  std::optional<Box> input = {}, output = {};
  // As in ridge::fft::Problem: zeros outside `given` are neither stored nor sent, values outside `wanted` not computed.
  // Two or three axes; input() and output() then count from the first points of the boxes.
  ridge::fft::Box given = {}, wanted = {};
  double scale_forward = 1, scale_inverse = 1;
  std::size_t threads = 0;  // per process; 0: its share of the machine's cores
};

// Scales and conventions are those of ridge::fft.
template <class T>
class Plan {
 public:
  using Real = T;
  using Complex = std::complex<T>;

  // Collective. Options::variant: "slabs", "pencils", "slabs(exchange=window)", see explain().
  Plan(const Communicator& communicator, const Problem& problem, const planner::Options& options = {},
       const Device& device = host());

  // Collective; nothing is planned or allocated. Each span holds this process's box, once per transform of the batch.
  // in and out must not overlap; in is preserved. One run at a time.
  void forward(std::span<const Complex> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Complex> out) const;
  void forward(std::span<const Real> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Real> out) const;

  // Memory of the plan's device (not the host), on one of its queues: only the blocks for other processes leave the
  // device. Collective; returns when the result is enqueued. Two or three axes, no batch, the plan's own boxes.
  void forward(Queue& queue, const Buffer& in, const Buffer& out) const;
  void inverse(Queue& queue, const Buffer& in, const Buffer& out) const;

  Box input() const;
  Box output() const;
  std::size_t bytes_sent() const;  // by this process in one forward run
  double flops() const;            // of all processes together
  std::string variant() const;     // "slabs(exchange=window)"
  std::string explain()
      const;  // decomposition, bytes sent, lower bound of the network, the choice and the rejected variants
  const Problem& problem() const;
  const Communicator& communicator() const;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace ridge::mpi::fft
