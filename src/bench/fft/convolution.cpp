// ridge bench fft --convolve: a signal of N samples with a filter of as many, beside peers that transform padded
// arrays.
#include <algorithm>
#include <complex>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/fft/convolution.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "bench/fft/fft.hpp"
#include "device/random.hpp"
#include "plan/comparison.hpp"

namespace ridge::cli {
namespace {

// The next product of 2, 3, 5 and 7.
std::size_t smooth_from(std::size_t least) {
  for (std::size_t n = least;; ++n) {
    std::size_t rest = n;
    for (const std::size_t prime : {2, 3, 5, 7}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return n;
  }
}

// A peer's convolution: forward transform of the padded signal, product with the filter's spectrum, inverse transform.
template <class T>
class PaddedConvolution {
 public:
  PaddedConvolution(const Peer& peer, std::span<const T> signal, std::span<const T> filter)
      : signal_(signal), size_(smooth_from(signal.size() + filter.size() - 1)), padded_(size_), result_(size_) {
    const std::size_t bins = size_ / 2 + 1;
    spectrum_ = base::AlignedArray<std::complex<T>>(bins);
    const PeerProblem forward{.shape = {size_}, .real = true, .float64 = sizeof(T) == sizeof(double)};
    PeerProblem inverse = forward;
    inverse.inverse = true;
    forward_ = peer.prepare(forward, padded_.data(), spectrum_.data());
    inverse_ = peer.prepare(inverse, spectrum_.data(), result_.data());
    transform(filter);
    filter_.assign(spectrum_.begin(), spectrum_.end());
    for (std::complex<T>& value : filter_) value /= static_cast<T>(size_);
    std::fill(padded_.begin(), padded_.end(), T{});
  }
  void run() {
    std::copy(signal_.begin(), signal_.end(), padded_.begin());
    forward_();
    T* values = reinterpret_cast<T*>(spectrum_.data());
    const T* factors = reinterpret_cast<const T*>(filter_.data());
    for (std::size_t k = 0; k < filter_.size(); ++k) {
      const T re = values[2 * k], im = values[2 * k + 1], c = factors[2 * k], s = factors[2 * k + 1];
      values[2 * k] = re * c - im * s;
      values[2 * k + 1] = re * s + im * c;
    }
    inverse_();
  }
  const T* result() const { return result_.data(); }

 private:
  void transform(std::span<const T> values) {
    std::fill(padded_.begin(), padded_.end(), T{});
    std::copy(values.begin(), values.end(), padded_.begin());
    forward_();
  }
  std::span<const T> signal_;
  std::size_t size_;
  base::AlignedArray<T> padded_, result_;
  base::AlignedArray<std::complex<T>> spectrum_{};
  std::vector<std::complex<T>> filter_{};
  PeerRun forward_, inverse_;
};

// Compares 16 values between the first and the last with sums in double.
template <class T>
planner::Comparison compare_with_sums(std::span<const T> signal, std::span<const T> filter, std::span<const T> result,
                                      double allowed) {
  constexpr std::size_t kValues = 16;
  std::vector<double> got, expected;
  for (std::size_t i = 0; i < kValues; ++i) {
    const std::size_t k = i * (result.size() - 1) / (kValues - 1);
    double sum = 0;
    for (std::size_t j = k < signal.size() ? 0 : k - signal.size() + 1; j <= std::min(k, filter.size() - 1); ++j)
      sum += static_cast<double>(filter[j]) * static_cast<double>(signal[k - j]);
    got.push_back(static_cast<double>(result[k]));
    expected.push_back(sum);
  }
  return planner::compare(std::span<const double>(got), std::span<const double>(expected), allowed);
}

template <class T>
BenchResult bench_convolution_of(const FftBench& wanted, const std::vector<Peer>& peers) {
  const std::size_t n = wanted.problem.shape.front();
  std::vector<T> signal(n), filter(n), out(2 * n - 1);
  fill_random(std::as_writable_bytes(std::span(signal)), sizeof(T) == 4 ? Numbers::float32 : Numbers::float64);
  fill_random(std::as_writable_bytes(std::span(filter)), sizeof(T) == 4 ? Numbers::float32 : Numbers::float64);
  std::rotate(filter.begin(), filter.begin() + static_cast<std::ptrdiff_t>(n / 3), filter.end());
  const fft::Convolution<T> ours(host(), filter, {.signal = n, .threads = 1});
  BenchResult result{.explanation = ours.explain()};
  Contest contest{host(), fmt::format("convolution {} {} with {}", sizeof(T) == 4 ? "f32" : "f64", n, n)};
  contest.ours.push_back(
      {.name = fmt::format("blocks of {}", ours.block()), .call = [&] { ours.run(signal, out); }, .chosen = true});
  ours.run(signal, out);
  constexpr double kAllowed = sizeof(T) == 4 ? 1e-5 : 1e-13;
  if (const auto comparison = compare_with_sums<T>(signal, filter, out, kAllowed); !comparison.right())
    throw Error(ErrorKind::internal, fmt::format("{}: {}", contest.problem, comparison.text()));
  std::vector<std::unique_ptr<PaddedConvolution<T>>> padded;
  for (const Peer& peer : peers) {
    try {
      if (!peer.prepare) throw Error(ErrorKind::unavailable, "it does not run on the host");
      padded.push_back(std::make_unique<PaddedConvolution<T>>(peer, signal, filter));
    } catch (const Error& error) {
      result.notes.push_back(fmt::format("{}: left out of {}: {}", peer.name, contest.problem, error.what()));
      continue;
    }
    PaddedConvolution<T>& one = *padded.back();
    one.run();
    const double far = distance<T>(out, std::span(one.result(), out.size()));
    if (!(far < kAllowed))
      throw Error(ErrorKind::internal,
                  fmt::format("{}: Ridgeline's result and {}'s differ by {:.2g}", contest.problem, peer.name, far));
    contest.peers.push_back({peer.name, [&one] { one.run(); }});
  }
  result.rows = contest.time([&](const auto& calls) {
    return base::best_seconds_interleaved(
        calls, {.seconds = wanted.seconds_each, .at_least = 5, .at_most = 2000, .round = 2e-5});
  });
  return result;
}

}  // namespace

BenchResult bench_convolution(const FftBench& wanted, const std::vector<Peer>& peers) {
  return wanted.problem.float64 ? bench_convolution_of<double>(wanted, peers)
                                : bench_convolution_of<float>(wanted, peers);
}

}  // namespace ridge::cli
