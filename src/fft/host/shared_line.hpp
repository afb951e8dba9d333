// Long lines that several threads transform together: each line consists of parts of a first step and parts of a second
// step, scheduled dynamically.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <thread>

#include "base/threads.hpp"
#include "fft/host/two_step_kernels.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

template <class T>
class SharedLine {
 public:
  using Complex = std::complex<T>;
  virtual ~SharedLine() = default;
  virtual bool is_shared() const { return true; }  // otherwise nothing below may be called
  virtual std::size_t points() const = 0;
  virtual double flops_done() const = 0;
  virtual std::size_t work() const = 0;         // elements of the intermediate data of one line
  virtual std::size_t own_scratch() const = 0;  // elements per thread
  virtual std::size_t first_parts() const = 0;
  virtual std::size_t second_parts() const = 0;
  // `past`: results use non-temporal stores. The caller issues the fence (TwoStepKernels::finish).
  virtual void first(Direction direction, std::size_t part, const Complex* in, Complex* work, bool past,
                     Complex* scratch) const = 0;
  virtual void second(Direction direction, std::size_t part, Complex* work, Complex* out, bool past,
                      Complex* scratch) const = 0;
};

// Second interface of a LineKernel; null if it has none.
template <class T>
const SharedLine<T>* shared_line_of(const LineKernel<T>& line) {
  const auto* face = dynamic_cast<const SharedLine<T>*>(&line);
  return face != nullptr && face->is_shared() ? face : nullptr;
}

// Overlaps the steps of consecutive lines, so that no thread waits for the last part of a step: while some threads do
// the second step of one line, others start the next line.
template <class T>
class PipelinedLines {
 public:
  using Complex = std::complex<T>;
  PipelinedLines(const SharedLine<T>& line, std::size_t lines)
      : line_(line), lines_(lines), works_(line.points() > kLongest ? 1 : std::min(lines, kWorks)) {}

  std::size_t work() const { return works_ * line_.work(); }

  // `past`: non-temporal stores for any length, because the results are part of a large batch that is not read
  // soon.
  void run(Direction direction, const Complex* in, std::size_t in_distance, Complex* out, std::size_t out_distance,
           std::size_t threads, Complex* work, Complex* const* scratch, bool past) const {
    // Intermediate data use non-temporal stores too if a thread's share does not fit its private cache.
    const bool far = line_.points() * sizeof(Complex) / threads >= kFarShare;
    Call call{*this, direction, in, in_distance, out, out_distance, work, scratch, far, far || past};
    // A task may capture one pointer: a larger capture would be allocated.
    base::parallel(threads, [&call](std::size_t thread, std::size_t) { call.take_parts(thread); });
  }

 private:
  static constexpr std::size_t kWorks = 3;                       // one being written, one being read, one between
  static constexpr std::size_t kLongest = std::size_t{1} << 21;  // longer lines are too large for three
  static constexpr std::size_t kFarShare =
      std::size_t{4} << 20;  // bytes: non-temporal stores are 1.25 times as fast at 8 MB on a Xeon
  static constexpr int kPolls = 2000;

  struct Call {
    const PipelinedLines& self;
    Direction direction;
    const Complex* in;
    std::size_t in_distance;
    Complex* out;
    std::size_t out_distance;
    Complex* work;
    Complex* const* scratch;
    bool far, past;
    std::atomic<std::size_t> next{0};
    // Parts of all previous lines that used the same work array.
    std::array<std::atomic<std::size_t>, kWorks> first_done{}, second_done{};

    // A part waits only for parts with lower numbers, which are done or in progress. The second step of a line comes
    // after the first step of the next line if there is a work array for both.
    void take_parts(std::size_t thread) {
      const SharedLine<T>& line = self.line_;
      const std::size_t firsts = line.first_parts(), seconds = line.second_parts(), later = self.works_ > 1 ? 1 : 0;
      Complex* const own = scratch[thread];
      for (;;) {
        const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
        const std::size_t round = number / (firsts + seconds), part = number % (firsts + seconds);
        if (round >= self.lines_ + later) break;
        const bool is_first = part < firsts;
        if (is_first ? round >= self.lines_ : round < later) continue;
        const std::size_t at = is_first ? round : round - later, place = at % self.works_, before = at / self.works_;
        Complex* const between = work + place * line.work();
        if (is_first) {
          wait_for(second_done[place], before * seconds);
          line.first(direction, part, in + at * in_distance, between, far, own);
          if (far) two_step_kernels<T>().finish();
          first_done[place].fetch_add(1, std::memory_order_release);
        } else {
          wait_for(first_done[place], (before + 1) * firsts);
          line.second(direction, part - firsts, between, out + at * out_distance, past, own);
          second_done[place].fetch_add(1, std::memory_order_release);
        }
      }
      if (past) two_step_kernels<T>().finish();
    }
    static void wait_for(const std::atomic<std::size_t>& done, std::size_t parts) {
      for (int polls = 0; done.load(std::memory_order_acquire) < parts; ++polls) {
        if (polls < kPolls) {
          base::relax();
        } else {
          std::this_thread::yield();
        }
      }
    }
  };

  const SharedLine<T>& line_;
  std::size_t lines_, works_;
};

}  // namespace ridge::fft
