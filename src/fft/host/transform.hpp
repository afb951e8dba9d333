// A planned host transform: lines, stages, factors and scratch.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "fft/host/boxed.hpp"
#include "fft/host/lines.hpp"
#include "fft/host/real/real_kernel.hpp"
#include "fft/host/real_stage.hpp"
#include "fft/host/scratch.hpp"
#include "fft/host/shared_line.hpp"
#include "fft/host/stage.hpp"
#include "fft/layout.hpp"
#include "fft/operators.hpp"

namespace ridge::fft {

template <class T>
class Transform {
 public:
  using Complex = std::complex<T>;
  Transform(const Device& device, const Problem& problem, const planner::Options& options);

  // Fast path for one short line, or a few, with valid arguments: takes a few nanoseconds. Returns false, with nothing
  // done, otherwise.
  bool run_short(Direction direction, std::span<const Complex> in, std::span<Complex> out) const {
    if (few_ != nullptr) {
      const bool forward = direction == Direction::forward;
      const Side &from = forward ? layout_.samples : layout_.spectrum,
                 &to = forward ? layout_.spectrum : layout_.samples;
      if (!valid_spans(in.data(), in.size(), out.data(), out.size(), from.extent, to.extent)) return false;
      run_few(direction, in.data(), out.data());
      return true;
    }
    if (alone_ == nullptr || !valid_spans(in.data(), in.size(), out.data(), out.size(), points_alone_, points_alone_)) {
      return false;
    }
    if (const BareLine<T>& line = bare_lines_[direction == Direction::forward ? 0 : 1]) {
      line.run(reinterpret_cast<const T*>(in.data()), reinterpret_cast<T*>(out.data()));
    } else if (scratch_alone_ == 0) {
      alone_->run(direction, in.data(), out.data(), nullptr);
    } else {
      run_alone(direction, in.data(), out.data());
    }
    return true;
  }
  bool run_short(std::span<const T> in, std::span<Complex> out) const {
    if (real_few_ != nullptr) {
      if (!valid_spans(in.data(), in.size(), out.data(), out.size(), layout_.samples.extent, layout_.spectrum.extent))
        return false;
      run_few(Direction::forward, in.data(), out.data());
      return true;
    }
    if (real_alone_ == nullptr ||
        !valid_spans(in.data(), in.size(), out.data(), out.size(), points_alone_, points_alone_ / 2 + 1)) {
      return false;
    }
    if (scratch_alone_ == 0) {
      real_alone_->forward(in.data(), out.data(), nullptr);
    } else {
      run_alone(in.data(), out.data());
    }
    return true;
  }
  bool run_short(std::span<const Complex> in, std::span<T> out) const {
    if (real_few_ != nullptr) {
      if (!valid_spans(in.data(), in.size(), out.data(), out.size(), layout_.spectrum.extent, layout_.samples.extent))
        return false;
      run_few(Direction::inverse, in.data(), out.data());
      return true;
    }
    if (real_alone_ == nullptr ||
        !valid_spans(in.data(), in.size(), out.data(), out.size(), points_alone_ / 2 + 1, points_alone_)) {
      return false;
    }
    if (scratch_alone_ == 0) {
      real_alone_->inverse(in.data(), out.data(), nullptr);
    } else {
      run_alone(in.data(), out.data());
    }
    return true;
  }

  // Arguments are not checked.
  void run_unchecked(Direction direction, const void* in, void* out) const noexcept {
    const bool forward = direction == Direction::forward;
    if (const BareLine<T>& line = bare_lines_[forward ? 0 : 1]) {
      line.run(static_cast<const T*>(in), static_cast<T*>(out));
    } else if (alone_ != nullptr) {
      run_alone(direction, static_cast<const Complex*>(in), static_cast<Complex*>(out));
    } else if (few_ != nullptr || real_few_ != nullptr) {
      run_few(direction, in, out);
    } else if (real_alone_ == nullptr) {
      run(direction, in, out);
    } else if (forward) {
      run_alone(static_cast<const T*>(in), static_cast<Complex*>(out));
    } else {
      run_alone(static_cast<const Complex*>(in), static_cast<T*>(out));
    }
  }
  // Null if a run needs more than that.
  BareLine<T> bare_line(Direction direction) const { return bare_lines_[direction == Direction::forward ? 0 : 1]; }

  // Pointers are checked by the caller. Forward: samples to spectrum; inverse: spectrum to samples.
  void run(Direction direction, const void* in, void* out) const;

  const Device& device() const { return device_; }
  const Problem& problem() const { return problem_; }
  const Layout& layout() const { return layout_; }
  const planner::SharedDecisions& decisions() const { return decisions_; }
  double done_flops() const;  // operations actually performed
  std::string explain() const;

 private:
  // One direction. Factors are stored here, so that stages can point at them.
  struct DirectedStages {
    Factors<T> load, store;
    std::optional<RealStage<T>> real;  // before the stages of a forward transform, after those of an inverse one
    std::vector<Stage<T>> stages;
    // The last two axes run plane by plane, so that the second finds each plane in cache.
    bool by_planes = false;
    // Both use a plane of the thread's scratch if the second uses non-temporal stores: nothing is written twice.
    std::vector<Stage<T>> through_plane;
  };

  const LineKernel<T>& line(std::size_t n, const planner::Options& options);
  void build_complex(DirectedStages& directed, const Side& in, const Side& out, const planner::Options& options);
  void build_real(const planner::Options& options);
  std::shared_ptr<const RealKernel<T>> real_line(std::size_t n, const planner::Options& options);
  void decide_threads(const planner::Options& options);
  void decide_planes();
  void decide_streams();
  std::vector<std::size_t> long_axes(const Side& side) const;
  void build_through_plane(DirectedStages& directed, const Side& in, const Side& out);
  void run_stages(Direction direction, std::span<const Stage<T>> stages, const void* in, Complex* out,
                  Scratch<T>& scratch) const;
  void run_complex(Direction direction, const DirectedStages& directed, const void* in, Complex* out,
                   Scratch<T>& scratch) const;
  auto units_of(const Stage<T>& stage, Direction direction, const void* in, Complex* out, Scratch<T>& scratch) const;
  auto units_of(const RealStage<T>& stage, Direction direction, const void* in, void* out, Scratch<T>& scratch) const;
  template <class AnyStage>
  std::size_t threads_for(const AnyStage& stage) const;
  template <class AnyStage>
  double bytes_of(const AnyStage& stage) const;  // read and written
  void run_real_forward(const void* in, Complex* out, Scratch<T>& scratch) const;
  void run_real_inverse(const Complex* in, T* out, Scratch<T>& scratch) const;
  void run_shared(Direction direction, const Complex* in, Complex* out, Scratch<T>& scratch) const;
  bool plain_line() const;
  void run_alone(Direction direction, const Complex* in, Complex* out) const;
  void run_alone(const T* in, Complex* out) const;
  void run_alone(const Complex* in, T* out) const;
  void run_few(Direction direction, const void* in, void* out) const;
  void decide_alone();
  void decide_few();

  // True if the arrays are long enough, not null, aligned, and overlap only as planned; otherwise the error is raised
  // elsewhere.
  template <class In, class Out>
  bool valid_spans(const In* in, std::size_t in_size, const Out* out, std::size_t out_size, std::size_t in_needed,
                   std::size_t out_needed) const {
    const auto from = reinterpret_cast<std::uintptr_t>(in), to = reinterpret_cast<std::uintptr_t>(out);
    if (in_size < in_needed || out_size < out_needed || from == 0 || to == 0 || (from | to) % sizeof(T) != 0) {
      return false;
    }
    return problem_.in_place ? from == to
                             : from + in_needed * sizeof(In) <= to || to + out_needed * sizeof(Out) <= from;
  }

  Device device_;
  Problem problem_;
  Layout layout_;
  std::size_t threads_;
  std::vector<std::shared_ptr<const LineKernel<T>>> lines_;  // kernels that stages refer to
  std::shared_ptr<const RealKernel<T>> real_;
  planner::SharedDecisions decisions_;
  Side work_;  // layout of the intermediate spectrum of a multi-axis inverse real transform
  std::unique_ptr<DirectedStages> forward_, inverse_;
  std::shared_ptr<const SharedLine<T>> shared_;  // one line, or several one after another, by all threads
  std::size_t plane_points_ = 0, plane_at_ = 0;  // size of a thread's own plane, and its offset in the scratch
  std::size_t points_alone_ = 0, scratch_alone_ = 0;
  // Single short line without other work: the kernel is called directly.
  const LineKernel<T>* alone_ = nullptr;
  BareLine<T> bare_lines_[2];
  const RealKernel<T>* real_alone_ = nullptr;
  // The same for the lines of a small batch.
  const LineKernel<T>* few_ = nullptr;
  const RealKernel<T>* real_few_ = nullptr;
  std::unique_ptr<ScratchPool<T>> pool_;
  std::unique_ptr<const BoxedTransform<T>> boxed_;  // set if a box is smaller than the shape; runs everything
};

extern template class Transform<float>;
extern template class Transform<double>;

}  // namespace ridge::fft
