// Peer KissFFT, as built by Debian: float, one thread.
#include <memory>

#include <kiss_fft.h>
#include <kiss_fftnd.h>
#include <kiss_fftr.h>

#include <ridge/error.hpp>

#include "base/library.hpp"
#include "bench/peers/peer.hpp"

namespace ridge::cli {
namespace {

constexpr base::LibraryName kNames{RIDGE_KISSFFT};
const base::Library library{kNames, "comparisons with KissFFT"};
const base::Function<decltype(::kiss_fft_alloc)> kiss_fft_alloc{library, "kiss_fft_alloc"};
const base::Function<decltype(::kiss_fft)> kiss_fft{library, "kiss_fft"};
const base::Function<decltype(::kiss_fftr_alloc)> kiss_fftr_alloc{library, "kiss_fftr_alloc"};
const base::Function<decltype(::kiss_fftr)> kiss_fftr{library, "kiss_fftr"};
const base::Function<decltype(::kiss_fftri)> kiss_fftri{library, "kiss_fftri"};
const base::Function<decltype(::kiss_fftnd_alloc)> kiss_fftnd_alloc{library, "kiss_fftnd_alloc"};
const base::Function<decltype(::kiss_fftnd)> kiss_fftnd{library, "kiss_fftnd"};

static_assert(sizeof(kiss_fft_scalar) == sizeof(float));

// Runs `transform` for each of a batch of inputs and outputs of `in_size` and `out_size` values.
template <class Configuration, class In, class Out>
PeerRun batch_of(std::size_t batch, Configuration configuration,
                 const base::Function<void(Configuration, const In*, Out*)>& transform, void* in, std::size_t in_size,
                 void* out, std::size_t out_size) {
  if (configuration == nullptr) throw Error(ErrorKind::unavailable, "KissFFT does not support this length");
  const std::shared_ptr<void> owner(static_cast<void*>(configuration), [](void* p) { kiss_fft_free(p); });
  return [=, run = static_cast<void (*)(Configuration, const In*, Out*)>(transform), from = static_cast<const In*>(in),
          to = static_cast<Out*>(out)] {
    for (std::size_t i = 0; i < batch; ++i) run(configuration, from + i * in_size, to + i * out_size);
    static_cast<void>(owner);
  };
}

PeerRun prepare(const PeerProblem& problem, void* in, void* out) {
  if (problem.float64) throw Error(ErrorKind::unavailable, "needs f32: KissFFT is built for float");
  if (problem.threads != 1) throw Error(ErrorKind::unavailable, "needs one thread: KissFFT has no threads");
  const std::vector<int> shape(problem.shape.begin(), problem.shape.end());
  std::size_t points = 1;
  for (const std::size_t n : problem.shape) points *= n;
  const std::size_t batch = problem.batch, half = points / 2 + 1;
  const int inverse = problem.inverse ? 1 : 0;
  if (problem.real && (shape.size() > 1 || points % 2 != 0))
    throw Error(ErrorKind::unavailable, "KissFFT's real transforms need one axis of even length");
  if (problem.real) {
    const kiss_fftr_cfg plan = kiss_fftr_alloc(shape[0], inverse, nullptr, nullptr);
    return problem.inverse ? batch_of(batch, plan, kiss_fftri, in, half, out, points)
                           : batch_of(batch, plan, kiss_fftr, in, points, out, half);
  }
  if (shape.size() == 1)
    return batch_of(batch, kiss_fft_alloc(shape[0], inverse, nullptr, nullptr), kiss_fft, in, points, out, points);
  return batch_of(batch, kiss_fftnd_alloc(shape.data(), static_cast<int>(shape.size()), inverse, nullptr, nullptr),
                  kiss_fftnd, in, points, out, points);
}

}  // namespace

Peer kissfft_peer() { return {.name = "kissfft", .prepare = prepare}; }

}  // namespace ridge::cli
