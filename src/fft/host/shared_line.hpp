// Long lines that several threads work on together, one line after the other: each is parts of a first step, which
// whoever is free takes, and then parts of a second one.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <thread>

#include "base/cores.hpp"
#include "base/threads.hpp"
#include "fft/host/two_step_kernels.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

template <class T>
class SharedLine {
 public:
  using Complex = std::complex<T>;
  virtual ~SharedLine() = default;
  virtual bool is_shared() const { return true; }  // else nothing below may be called
  virtual std::size_t points() const = 0;
  virtual double flops_done() const = 0;
  virtual std::size_t work() const = 0;         // elements that lie between the steps of one line
  virtual std::size_t own_scratch() const = 0;  // elements of each thread
  virtual std::size_t first_parts() const = 0;
  virtual std::size_t second_parts() const = 0;
  // `past`: what is written goes past the caches. The caller fences (TwoStepKernels::finish).
  virtual void first(Direction direction, std::size_t part, const Complex* in, Complex* work, bool past,
                     Complex* scratch) const = 0;
  virtual void second(Direction direction, std::size_t part, Complex* work, Complex* out, bool past,
                      Complex* scratch) const = 0;
};

// A second face of a LineKernel; null where it has none.
template <class T>
const SharedLine<T>* shared_line_of(const LineKernel<T>& line) {
  const auto* face = dynamic_cast<const SharedLine<T>*>(&line);
  return face != nullptr && face->is_shared() ? face : nullptr;
}

// Lines whose steps overlap, so that nobody waits for the last part of a step: while some do the second step of one,
// others begin the next.
template <class T>
class LinesInTurn {
 public:
  using Complex = std::complex<T>;
  LinesInTurn(const SharedLine<T>& line, std::size_t lines)
      : line_(line), lines_(lines), works_(line.points() > kLongest ? 1 : std::min(lines, kWorks)) {}

  std::size_t work() const { return works_ * line_.work(); }

  // `past`: results go past the caches whatever the length, for they are some of many that nobody reads soon.
  void run(Direction direction, const Complex* in, std::size_t in_distance, Complex* out, std::size_t out_distance,
           std::size_t threads, Complex* work, Complex* const* scratch, bool past) const {
    // What lies between the steps goes there too where a thread's share would not stay in its own cache.
    const bool far = line_.points() * sizeof(Complex) / threads >= kFarShare;
    Call call{*this, direction, in, in_distance, out, out_distance, work, scratch, far, far || past};
    // One pointer is all a task may hold: a larger one would be allocated.
    base::parallel(threads, [&call](std::size_t thread, std::size_t) { call.take_parts(thread); });
  }

 private:
  static constexpr std::size_t kWorks = 3;                        // one is written, one is read, one between them
  static constexpr std::size_t kLongest = std::size_t{1} << 21;   // beyond it they are too large for that
  static constexpr std::size_t kFarShare = std::size_t{4} << 20;  // bytes: on a Xeon 1.25 times as fast at 8 MB
  static constexpr int kLooks = 2000;

  struct Call {
    const LinesInTurn& self;
    Direction direction;
    const Complex* in;
    std::size_t in_distance;
    Complex* out;
    std::size_t out_distance;
    Complex* work;
    Complex* const* scratch;
    bool far, past;
    std::atomic<std::size_t> next{0};
    // Parts of all lines so far that had the same place between the steps.
    std::array<std::atomic<std::size_t>, kWorks> first_done{}, second_done{};

    // Parts are numbered so that what a part waits for has a lower number: somebody works on it, or it is done. The
    // second step of a line comes after the first step of the next one where there is room for both.
    void take_parts(std::size_t thread) {
      const SharedLine<T>& line = self.line_;
      const std::size_t firsts = line.first_parts(), seconds = line.second_parts(), later = self.works_ > 1 ? 1 : 0;
      Complex* const own = scratch[thread];
      for (;;) {
        const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
        const std::size_t turn = number / (firsts + seconds), part = number % (firsts + seconds);
        if (turn >= self.lines_ + later) break;
        const bool is_first = part < firsts;
        if (is_first ? turn >= self.lines_ : turn < later) continue;
        const std::size_t at = is_first ? turn : turn - later, place = at % self.works_, before = at / self.works_;
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
      for (int looks = 0; done.load(std::memory_order_acquire) < parts; ++looks) {
        if (looks < kLooks) {
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
