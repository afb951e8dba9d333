// Convolution and correlation by FFT: overlap-save, with the product by the filter's spectrum fused into the forward
// store.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include <fmt/format.h>
#include <ridge/device_memory.hpp>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "base/threads.hpp"
#include "fft/host/mixed/mixed.hpp"
#include "fft/host/scratch.hpp"
#include "fft/panels/panel_convolution.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse_convolution(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, fmt::format("convolution: {}", what));
}

template <class Element>
struct Parts {
  using Real = Element;
  static constexpr Kind kKind = Kind::real;
};
template <class T>
struct Parts<std::complex<T>> {
  using Real = T;
  static constexpr Kind kKind = Kind::complex;
};

template <class Element>
Element conjugate(Element value) {
  if constexpr (std::is_floating_point_v<Element>) {
    return value;
  } else {
    return std::conj(value);
  }
}

// The block with the least cost of all blocks that compute `needed` values; 0: of a long signal, per value. Powers of
// two, and 9/8 and 5/4 of them for a known number of values, which cost more per point.
std::size_t best_block(std::size_t filter, std::size_t needed) {
  constexpr std::size_t kLongest = std::size_t{1} << 24, kCached = std::size_t{1} << 16;
  const std::size_t limit = std::min(std::bit_ceil(needed == 0 ? 64 * filter + 4096 : needed), kLongest);
  std::size_t best = std::bit_ceil(filter);
  double least = INFINITY;
  for (std::size_t power = std::bit_floor(filter); power <= std::max(limit, best); power *= 2) {
    for (const std::size_t eighths : {8, 9, 10}) {
      const std::size_t n = power * eighths / 8;
      if (n < filter || (eighths > 8 && (needed == 0 || n > limit))) continue;
      const double points = static_cast<double>(n), fresh = static_cast<double>(n - filter + 1);
      const double blocks = needed == 0 ? 1 / fresh : n >= needed ? 1 : std::ceil(static_cast<double>(needed) / fresh);
      const double cost =
          blocks * points * (std::log2(points) + 2) * (n > kCached ? 1.5 : 1.0) * (eighths > 8 ? 1.4 : 1.0);
      if (cost < least) least = cost, best = n;
    }
  }
  return best;
}

// Sums by definition take less time than transforms up to these lengths and products: 16 values with 16.
constexpr std::size_t kShortFilter = 64, kShortResult = 128, kMostProducts = 512;

// out[k] = sum of filter[j] signal[k - j], for short lengths.
template <class T>
void sum_products(std::span<const T> signal, std::span<const T> filter, T* out) {
  constexpr std::size_t kAtOnce = 16;
  const std::size_t needed = signal.size() + filter.size() - 1, history = filter.size() - 1;
  std::array<T, kShortFilter + kShortResult + kAtOnce> padded;  // NOLINT: filled below as far as it is read
  std::fill_n(padded.data(), history, T{});
  std::copy(signal.begin(), signal.end(), padded.data() + history);
  std::fill_n(padded.data() + history + signal.size(), history + kAtOnce, T{});
  for (std::size_t k = 0; k < needed; k += kAtOnce) {
    std::array<T, kAtOnce> sums{};
    for (std::size_t j = 0; j < filter.size(); ++j) {
      const T* const from = padded.data() + k + history - j;
      for (std::size_t i = 0; i < kAtOnce; ++i) sums[i] += filter[j] * from[i];
    }
    std::copy_n(sums.data(), std::min(kAtOnce, needed - k), out + k);
  }
}

// Forward and inverse transform in place on n elements, with the spectrum multiplied in between.
template <class Element>
class Filter {
 public:
  using T = typename Parts<Element>::Real;
  using Complex = std::complex<T>;
  static constexpr Kind kKind = Parts<Element>::kKind;

  Filter(const Device& device, std::span<const Element> filter, std::size_t n, std::size_t threads,
         const planner::Options& options)
      : n_(n), plan_(make(device, filter, n, threads, options)) {}

  // Complex elements needed for n elements and their spectrum.
  static std::size_t room(std::size_t n) { return kKind == Kind::real ? n / 2 + 1 : n; }
  static Element* elements(Complex* data) { return reinterpret_cast<Element*>(data); }

  void run(Complex* data) const { run(plan_, data, n_); }
  std::string explain() const { return plan_.explain(); }
  static base::AlignedArray<Complex> spectrum_of(const Plan<T>& plain, std::span<const Element> filter, std::size_t n) {
    base::AlignedArray<Complex> spectrum(room(n));
    std::fill(spectrum.begin(), spectrum.end(), Complex());
    std::copy(filter.begin(), filter.end(), elements(spectrum.data()));
    forward(plain, spectrum.data(), n);
    return spectrum;
  }

 private:
  static void forward(const Plan<T>& plan, Complex* data, std::size_t n) {
    if constexpr (kKind == Kind::real) {
      plan.forward(std::span<const T>(elements(data), 2 * room(n)), std::span(data, room(n)));
    } else {
      plan.forward(std::span(data, n));
    }
  }
  static void run(const Plan<T>& plan, Complex* data, std::size_t n) {
    forward(plan, data, n);
    if constexpr (kKind == Kind::real) {
      plan.inverse(std::span<const Complex>(data, room(n)), std::span<T>(elements(data), 2 * room(n)));
    } else {
      plan.inverse(std::span(data, n));
    }
  }
  static Plan<T> make(const Device& device, std::span<const Element> filter, std::size_t n, std::size_t threads,
                      const planner::Options& options) {
    Problem problem{.shape = {n}, .kind = kKind, .in_place = true, .threads = threads};
    const Plan<T> plain(device, problem, options);
    const base::AlignedArray<Complex> spectrum = spectrum_of(plain, filter, n);
    problem.store_forward.multiply.assign(spectrum.begin(), spectrum.end());
    problem.scale_inverse = 1 / static_cast<double>(n);
    return Plan<T>(device, problem, options);
  }

  std::size_t n_;
  Plan<T> plan_;
};

}  // namespace

template <class Element>
class Convolver {
 public:
  using T = typename Parts<Element>::Real;
  using Complex = std::complex<T>;

  // inner_only: only the outputs for which the filter lies within the signal are computed (an adjoint).
  Convolver(const Device& device, std::span<const Element> filter, const ConvolutionOptions& options,
            bool inner_only = false)
      : device_(device),
        options_(options),
        weights_(filter.begin(), filter.end()),
        inner_only_(inner_only),
        filter_size_(checked_size(filter)),
        block_(options.block == 0 ? best_block(filter_size_, needed_for(options.signal)) : options.block),
        threads_(std::min(options.threads == 0 ? base::hardware_threads() : options.threads, base::kMostThreads)),
        pool_(device.is_host() ? threads_ : 1, Filter<Element>::room(block_) + 16, 0, kPreparedCallers) {
    check_block();
    if (device.is_host()) {
      filter_.emplace(device, filter, block_, 1, options.planning);
      return;
    }
    const Plan<T> plain(host(), {.shape = {block_}, .kind = Filter<Element>::kKind, .in_place = true},
                        {.effort = Effort::quick});
    const auto spectrum = Filter<Element>::spectrum_of(plain, filter, block_);
    panels_.emplace(device, spectrum.span(), filter_size_, block_, options.planning);
  }

  void run(std::span<const Element> signal, std::span<Element> out) const {
    const std::size_t needed = check(signal, out);
    if (panels_) return panels_->run(signal, out.first(needed), inner_only_ ? filter_size_ - 1 : 0);
    if constexpr (std::is_floating_point_v<Element>) {
      const bool few = filter_size_ * needed <= kMostProducts;
      if (!inner_only_ && few && filter_size_ <= kShortFilter && needed <= kShortResult)
        return sum_products<Element>(signal, weights_, out.data());
    }
    const std::size_t fresh = fresh_of(needed), blocks = (needed + fresh - 1) / fresh;
    const auto scratch = pool_.lend();
    struct Call {
      const Convolver& self;
      const Element* signal;
      std::size_t size;
      Element* out;
      std::size_t needed, blocks;
      Scratch<T>& scratch;
    };
    const Call call{*this, signal.data(), signal.size(), out.data(), needed, blocks, *scratch};
    base::parallel(std::min(threads_, blocks), [&call](std::size_t thread, std::size_t threads) {
      const base::Share share = base::share(call.blocks, thread, threads);
      for (std::size_t i = share.begin; i < share.end; ++i) {
        call.self.run_block(i, call.signal, call.size, call.out, call.needed, call.scratch.of_thread[thread]);
      }
    });
  }

  std::shared_ptr<const Convolver> adjoint() const {
    std::vector<Element> reversed(weights_.rbegin(), weights_.rend());
    for (Element& weight : reversed) weight = conjugate(weight);
    return std::make_shared<const Convolver>(device_, reversed, options_, !inner_only_);
  }

  std::size_t filter_size() const { return filter_size_; }
  std::size_t block() const { return block_; }
  std::string explain() const {
    return fmt::format("convolution with {} values: blocks of {} by overlap-save, {} new values each, {} threads\n{}",
                       filter_size_, block_, block_ - filter_size_ + 1, threads_,
                       panels_ ? panels_->explain() : filter_->explain());
  }

 private:
  static std::size_t checked_size(std::span<const Element> filter) {
    if (filter.empty()) refuse_convolution("the filter needs at least 1 value, got 0");
    return filter.size();
  }
  // Values of the result of a signal of that many samples; 0 if unknown. Devices always compute overlapping blocks.
  std::size_t needed_for(std::size_t signal) const {
    if (signal == 0 || signal > PTRDIFF_MAX / 2 || !device_.is_host()) return 0;
    return signal + filter_size_ - 1;
  }
  // A result that fits one block has no history: nothing is aliased.
  bool is_one_block(std::size_t needed) const { return !inner_only_ && needed <= block_; }
  std::size_t fresh_of(std::size_t needed) const { return is_one_block(needed) ? block_ : block_ - filter_size_ + 1; }
  void check_block() const {
    if (block_ < filter_size_)
      refuse_convolution(fmt::format("blocks of {} are shorter than the filter's {}", block_, filter_size_));
  }
  std::size_t check(std::span<const Element> signal, std::span<Element> out) const {
    if (signal.empty()) refuse_convolution("the signal needs at least 1 value, got 0");
    if (signal.size() > PTRDIFF_MAX / sizeof(Element) - filter_size_)
      refuse_convolution(fmt::format("a signal of {} values exceeds the address space", signal.size()));
    if (inner_only_ && signal.size() < filter_size_)
      refuse_convolution(fmt::format("the adjoint needs an input of at least the filter's {} values, got {}",
                                     filter_size_, signal.size()));
    const std::size_t needed = inner_only_ ? signal.size() - filter_size_ + 1 : signal.size() + filter_size_ - 1;
    if (out.size() < needed)
      refuse_convolution(fmt::format("the output has {} values, the result {}", out.size(), needed));
    const auto a = reinterpret_cast<std::uintptr_t>(signal.data()), b = reinterpret_cast<std::uintptr_t>(out.data());
    if (a < b + out.size_bytes() && b < a + signal.size_bytes())
      refuse_convolution("the signal and the output overlap");
    return needed;
  }

  // The block's first filter_size - 1 inputs belong to the previous block; its outputs there are aliased and dropped.
  void run_block(std::size_t i, const Element* signal, std::size_t size, Element* out, std::size_t needed,
                 Complex* data) const {
    const std::size_t fresh = fresh_of(needed), history = block_ - fresh;
    Element* const values = Filter<Element>::elements(data);
    const std::size_t begin = i * fresh;                            // of this block in `out`
    const std::size_t start = begin + (inner_only_ ? history : 0);  // index of the first new value in the whole result
    const std::size_t skipped = start < history ? history - start : 0;
    const std::size_t from = start + skipped - history;
    const std::size_t taken = from < size ? std::min(block_ - skipped, size - from) : 0;
    std::fill(values, values + skipped, Element());
    if (taken > 0) std::copy(signal + from, signal + from + taken, values + skipped);
    std::fill(values + skipped + taken, values + block_, Element());
    filter_->run(data);
    std::copy(values + history, values + history + std::min(fresh, needed - begin), out + begin);
  }

  Device device_;
  ConvolutionOptions options_;
  std::vector<Element> weights_;
  bool inner_only_;
  std::size_t filter_size_, block_, threads_;
  std::optional<Filter<Element>> filter_{};               // on the host
  std::optional<PanelConvolution<T, Element>> panels_{};  // on other devices
  mutable ScratchPool<T> pool_;
};

template <class Element>
Convolution<Element>::Convolution(const Device& device, std::span<const Element> filter,
                                  const ConvolutionOptions& options)
    : convolver_(std::make_shared<const Convolver<Element>>(device, filter, options)) {}
template <class Element>
void Convolution<Element>::run(std::span<const Element> signal, std::span<Element> out) const {
  convolver_->run(signal, out);
}
template <class Element>
Convolution<Element> Convolution<Element>::adjoint() const {
  return Convolution(convolver_->adjoint());
}
template <class Element>
std::size_t Convolution<Element>::filter_size() const {
  return convolver_->filter_size();
}
template <class Element>
std::size_t Convolution<Element>::block() const {
  return convolver_->block();
}
template <class Element>
std::string Convolution<Element>::explain() const {
  return convolver_->explain();
}

template <class Element>
std::vector<Element> convolve(const Device& device, std::span<const Element> a, std::span<const Element> b,
                              ConvolutionKind kind) {
  if (a.empty() || b.empty()) refuse_convolution("one of the inputs is empty");
  if (a.size() < b.size()) std::swap(a, b);
  const planner::Options planning{.effort = Effort::quick};
  const std::size_t n = a.size();
  // One transform of everything: its arrays must fit the device.
  const bool fits = device.is_host() || 4 * n * sizeof(Element) <= device_memory(device);
  if (kind == ConvolutionKind::circular && is_smooth(n) && fits) {
    using F = Filter<Element>;
    const F filter(device, b, n, 0, planning);
    base::AlignedArray<typename F::Complex> data(F::room(n));
    std::copy(a.begin(), a.end(), F::elements(data.data()));
    filter.run(data.data());
    return {F::elements(data.data()), F::elements(data.data()) + n};
  }
  std::vector<Element> out(n + b.size() - 1);
  const std::size_t overlap = device.is_host() ? 0 : b.size() - 1;  // devices always compute overlapping blocks
  const Convolution<Element> convolution(
      device, b, {.block = best_block(b.size(), out.size() + overlap), .threads = 0, .planning = planning});
  convolution.run(a, out);
  if (kind == ConvolutionKind::circular) {
    for (std::size_t i = n; i < out.size(); ++i) out[i - n] += out[i];
    out.resize(n);
  }
  return out;
}

template <class Element>
std::vector<Element> correlate(const Device& device, std::span<const Element> a, std::span<const Element> b,
                               ConvolutionKind kind) {
  if (a.empty() || b.empty()) refuse_convolution("one of the inputs is empty");
  const std::size_t n = std::max(a.size(), b.size());
  std::vector<Element> reversed(kind == ConvolutionKind::linear ? b.size() : n);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const std::size_t at = kind == ConvolutionKind::linear ? b.size() - 1 - i : (n - i) % n;
    reversed[at] = conjugate(b[i]);
  }
  return convolve<Element>(device, a, reversed, kind);
}

template class Convolution<float>;
template class Convolution<double>;
template class Convolution<std::complex<float>>;
template class Convolution<std::complex<double>>;
template <class E>
using In = std::span<const E>;
using Cf = std::complex<float>;
using Cd = std::complex<double>;
template std::vector<float> convolve(const Device&, In<float>, In<float>, ConvolutionKind);
template std::vector<double> convolve(const Device&, In<double>, In<double>, ConvolutionKind);
template std::vector<Cf> convolve(const Device&, In<Cf>, In<Cf>, ConvolutionKind);
template std::vector<Cd> convolve(const Device&, In<Cd>, In<Cd>, ConvolutionKind);
template std::vector<float> correlate(const Device&, In<float>, In<float>, ConvolutionKind);
template std::vector<double> correlate(const Device&, In<double>, In<double>, ConvolutionKind);
template std::vector<Cf> correlate(const Device&, In<Cf>, In<Cf>, ConvolutionKind);
template std::vector<Cd> correlate(const Device&, In<Cd>, In<Cd>, ConvolutionKind);

}  // namespace ridge::fft
