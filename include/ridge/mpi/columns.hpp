// Transforms between a grid of three axes and a list of columns of its spectrum, both distributed over processes as in
// plane-wave codes: each process holds some planes of the grid and some whole columns. Only the lines of columns are
// sent.
//
//   auto all = ridge::mpi::Communicator::world();
//   auto mine = ridge::mpi::fft::own_columns(all, ridge::fft::sphere_columns(shape, basis, cutoff));
//   ridge::mpi::fft::ColumnTransform<double> transform(all, {.shape = shape, .columns = mine});
//   std::vector<std::complex<double>> modes(transform.size()), samples(transform.samples().size());
//   transform.inverse(modes, samples);
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ridge/fft/columns.hpp>
#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi::fft {

// This process's part of a list that all processes pass: whole columns, about as many modes for each process.
std::vector<ridge::fft::Column> own_columns(const Communicator& communicator,
                                            const std::vector<ridge::fft::Column>& list);

template <class T>
struct DistributedColumns;  // src/mpi/fft/columns.cpp

template <class T>
class ColumnTransform {
 public:
  using Complex = std::complex<T>;

  // Collective. problem.columns: those of this process, none or more; a column belongs to one process, of a real grid
  // together with its mirror image (-x, -y). All other members are the same on all processes; threads 0: the process's
  // share of the machine's cores. `device` computes the lines; arrays are in host memory.
  ColumnTransform(const Communicator& communicator, const ridge::fft::ColumnsProblem& problem,
                  const planner::Options& options = {.effort = Effort::quick}, const Device& device = host());

  // Collective. Samples of this process's planes, modes of its columns; as ridge::fft::ColumnTransform. One run at a
  // time.
  void forward(std::span<const Complex> samples, std::span<Complex> modes) const;
  void inverse(std::span<const Complex> modes, std::span<Complex> samples) const;
  void forward(std::span<const T> samples, std::span<Complex> modes) const;  // Kind::real
  void inverse(std::span<const Complex> modes, std::span<T> samples) const;  // Kind::real
  // The same with memory of the plan's device, whose values pass through host memory. A process without samples or
  // modes passes an empty buffer for them. Blocks until the result is in `modes` or `samples`.
  void forward(Queue& queue, const Buffer& samples, const Buffer& modes) const;
  void inverse(Queue& queue, const Buffer& modes, const Buffer& samples) const;
  // Collective. Its inverse() is the adjoint of forward(), and its forward() that of inverse().
  ColumnTransform adjoint(const planner::Options& options = {.effort = Effort::quick}) const;

  Box samples() const;             // this process's planes, a range of the last axis; packed, the last axis fastest
  std::size_t size() const;        // modes of this process
  std::size_t bytes_sent() const;  // by this process in one run
  std::string explain() const;
  const ridge::fft::ColumnsProblem& problem() const;
  const Communicator& communicator() const;

 private:
  explicit ColumnTransform(std::shared_ptr<const DistributedColumns<T>> state) : state_(std::move(state)) {}
  std::shared_ptr<const DistributedColumns<T>> state_;
};

}  // namespace ridge::mpi::fft
