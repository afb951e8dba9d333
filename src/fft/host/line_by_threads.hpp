// Chooses between one thread per long line and all threads in each line by two steps; times and compares both.
#pragma once
#include <algorithm>
#include <atomic>
#include <complex>
#include <limits>
#include <memory>
#include <span>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/threads.hpp"
#include "device/random.hpp"
#include "fft/host/rounding.hpp"
#include "fft/host/scratch.hpp"
#include "fft/host/shared_line.hpp"
#include "fft/variant.hpp"
#include "plan/choose.hpp"

namespace ridge::fft {

inline constexpr base::Repeat kTransformTrial{.seconds = 0.05, .at_least = 2, .at_most = 200};

// True if results of this many bytes in total are written by non-temporal stores. Arm cores write whole cache lines
// without reading them first, so they do not need it.
inline bool past_caches([[maybe_unused]] std::size_t bytes) {
#if defined(__x86_64__)
  return bytes >= std::size_t{32} << 20;
#else
  return false;
#endif
}

// Long lines by one thread each, or one after another in two steps by all threads.
template <class T>
class LineByThreads {
 public:
  using Complex = std::complex<T>;
  LineByThreads(const LineKernel<T>& whole, std::shared_ptr<const SharedLine<T>> shared, std::size_t threads,
                std::size_t lines, bool many)
      : whole_(whole), shared_(std::move(shared)), threads_(threads), lines_(lines), many_(many) {}

  const std::shared_ptr<const SharedLine<T>>& shared() const { return shared_; }

  std::unique_ptr<ScratchPool<T>> scratch() const {
    if (!shared_) return std::make_unique<ScratchPool<T>>(std::min(lines_, threads_), whole_.scratch(), 0, 1);
    return std::make_unique<ScratchPool<T>>(threads_, shared_->own_scratch(),
                                            PipelinedLines<T>(*shared_, lines_).work(), 1);
  }

  void run(const Complex* in, Complex* out, Scratch<T>& scratch) const {
    const std::size_t n = whole_.length();
    const bool past = lines_ > 1 && past_caches(lines_ * n * sizeof(Complex));
    if (shared_) {
      PipelinedLines<T>(*shared_, lines_)
          .run(Direction::forward, in, n, out, n, threads_, scratch.shared.data(), scratch.of_thread.data(), past);
      return;
    }
    struct Call {
      const LineKernel<T>& whole;
      const PastCaches<T>* past;
      const Complex* in;
      Complex* out;
      std::size_t lines;
      Scratch<T>& scratch;
      std::atomic<std::size_t> next{0};
    };
    Call call{whole_, past ? past_caches_of(whole_) : nullptr, in, out, lines_, scratch};
    base::parallel(std::min(lines_, threads_), [&call](std::size_t thread, std::size_t) {
      const std::size_t length = call.whole.length();
      Complex* const own = call.scratch.of_thread[thread];
      for (std::size_t line; (line = call.next.fetch_add(1, std::memory_order_relaxed)) < call.lines;) {
        const Complex* const from = call.in + line * length;
        Complex* const to = call.out + line * length;
        if (call.past == nullptr) {
          call.whole.run(Direction::forward, from, to, own);
        } else {
          call.past->run_many_past(Direction::forward, from, length, to, length, 1, own);
        }
      }
      if (call.past != nullptr) two_step_kernels<T>().finish();
    });
  }
  // Fraction of a run's time that one line takes if all threads have lines to do.
  double share() const {
    return many_ ? 1.0 / static_cast<double>(shared_ ? lines_ : std::max(lines_, threads_)) : 1.0;
  }
  std::size_t lines() const { return lines_; }

 private:
  const LineKernel<T>& whole_;
  std::shared_ptr<const SharedLine<T>> shared_;
  std::size_t threads_, lines_;
  bool many_;
};

// The single-thread line was chosen and verified before: it is the reference.
template <class T>
class ThreadTrials final : public planner::Trials<LineByThreads<T>> {
 public:
  using Complex = std::complex<T>;
  ThreadTrials(const LineKernel<T>& whole, double known_seconds) : whole_(whole), known_seconds_(known_seconds) {}

  double seconds(const LineByThreads<T>& line) override {
    // The line's own decision has timed it already, if it was measured.
    if (!line.shared() && line.lines() == 1 && known_seconds_ > 0) return line.share() * known_seconds_;
    make_arrays(line.lines());
    const auto pool = line.scratch();
    const auto scratch = pool->lend();
    return line.share() * base::best_seconds([&] { line.run(in_.data(), out_.data(), *scratch); }, kTransformTrial);
  }

  planner::Comparison compare(const LineByThreads<T>& line) override {
    make_arrays(line.lines());
    if (expected_.size() == 0) {
      expected_ = base::AlignedArray<Complex>(in_.size());
      base::AlignedArray<Complex> scratch(whole_.scratch() + 1);
      const std::size_t n = whole_.length();
      whole_.run_many(Direction::forward, in_.data(), n, expected_.data(), n, line.lines(), scratch.data());
    }
    std::fill(out_.begin(), out_.end(), Complex(std::numeric_limits<T>::quiet_NaN()));
    const auto pool = line.scratch();
    const auto scratch = pool->lend();
    line.run(in_.data(), out_.data(), *scratch);
    const auto numbers = [](const base::AlignedArray<Complex>& array) {
      return std::span<const T>(reinterpret_cast<const T*>(array.data()), 2 * array.size());
    };
    return planner::compare(numbers(out_), numbers(expected_), 2 * largest_rounding<T>(whole_.length()));
  }

 private:
  void make_arrays(std::size_t lines) {
    if (in_.size() != 0) return;
    in_ = base::AlignedArray<Complex>(whole_.length() * lines);
    out_ = base::AlignedArray<Complex>(whole_.length() * lines);
    fill_random(std::as_writable_bytes(in_.span()), sizeof(T) == sizeof(float) ? Numbers::float32 : Numbers::float64);
    std::fill(out_.begin(), out_.end(), Complex());
  }

  const LineKernel<T>& whole_;
  double known_seconds_;
  base::AlignedArray<Complex> in_, out_, expected_;
};

}  // namespace ridge::fft
