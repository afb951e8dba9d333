// Builds the steps of a tensor problem: the library's own plans where they fit, else lines gathered, transformed and
// scattered.
#pragma once
#include <memory>
#include <vector>

#include "fft/tensor/steps.hpp"

namespace ridge::fft {

template <class T>
class TensorBuilder {
 public:
  using Complex = std::complex<T>;
  TensorBuilder(const TensorProblem& problem, const planner::Options& options);

  std::vector<std::unique_ptr<TensorStep<T>>> steps;
  std::vector<planner::SharedDecision> decisions;
  std::size_t work = 0;  // complex elements

 private:
  void build();
  void check_problem(const std::vector<Dimension>& in_axes, const std::vector<Dimension>& out_axes,
                     const std::vector<Dimension>& loops);
  // Copies the input, of `sized` axes, packed into work memory; `axes` and `loops` then read it there.
  void copy_to_work(bool split, std::vector<Dimension> sized, std::vector<Dimension>& axes,
                    std::vector<Dimension>& loops);
  // The transform of the problem's kind. `in_place` is that of complex transforms.
  void build_kind(Slot from, Slot to, const std::vector<Dimension>& axes, const std::vector<Dimension>& loops,
                  bool in_place);
  void build_complex(Slot from, Slot to, Direction direction, std::vector<Dimension> axes,
                     const std::vector<Dimension>& loops, bool in_place);
  void build_real_forward(Slot from, Slot to, const std::vector<Dimension>& axes, const std::vector<Dimension>& loops);
  void build_real_inverse(Slot from, Slot to, const std::vector<Dimension>& axes, const std::vector<Dimension>& loops);
  void build_real_to_real(Slot from, Slot to, const std::vector<Dimension>& axes, const std::vector<Dimension>& loops);
  bool try_plan(Slot from, Slot to, Kind kind, Direction direction, const std::vector<Dimension>& axes,
                std::vector<Dimension> loops, bool in_place);
  void complex_pass(Slot from, Slot to, Direction direction, const Dimension& axis,
                    const std::vector<Dimension>& loops);

  std::shared_ptr<const LineKernel<T>> line(std::size_t n);
  std::shared_ptr<const RealKernel<T>> real(std::size_t n);

  double scale_;  // still to be applied: a transform is linear, so any step may apply it
  const TensorProblem& problem_;
  const planner::Options& options_;
};

}  // namespace ridge::fft
