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

template <class Configuration>
std::shared_ptr<void> owned(Configuration configuration) {
  if (configuration == nullptr) throw Error(ErrorKind::unavailable, "KissFFT does not support this length");
  return {static_cast<void*>(configuration), [](void* p) { kiss_fft_free(p); }};
}

PeerRun prepare(const PeerProblem& problem, void* in, void* out) {
  if (problem.float64) throw Error(ErrorKind::unavailable, "needs f32: KissFFT is built for float");
  if (problem.threads != 1) throw Error(ErrorKind::unavailable, "needs one thread: KissFFT has no threads");
  const std::vector<int> shape(problem.shape.begin(), problem.shape.end());
  std::size_t points = 1;
  for (const std::size_t n : problem.shape) points *= n;
  const std::size_t batch = problem.batch;
  auto* to = static_cast<kiss_fft_cpx*>(out);
  if (problem.real) {
    if (shape.size() > 1 || points % 2 != 0)
      throw Error(ErrorKind::unavailable, "KissFFT's real transforms need one axis of even length");
    const kiss_fftr_cfg configuration = kiss_fftr_alloc(shape[0], problem.inverse ? 1 : 0, nullptr, nullptr);
    if (problem.inverse) {
      return [owner = owned(configuration), configuration, points, batch, from = static_cast<const kiss_fft_cpx*>(in),
              reals = static_cast<float*>(out)] {
        for (std::size_t i = 0; i < batch; ++i) {
          kiss_fftri(configuration, from + i * (points / 2 + 1), reals + i * points);
        }
      };
    }
    return [owner = owned(configuration), configuration, points, batch, from = static_cast<const float*>(in), to] {
      for (std::size_t i = 0; i < batch; ++i) {
        kiss_fftr(configuration, from + i * points, to + i * (points / 2 + 1));
      }
    };
  }
  const auto* from = static_cast<const kiss_fft_cpx*>(in);
  if (shape.size() > 1) {
    const kiss_fftnd_cfg configuration =
        kiss_fftnd_alloc(shape.data(), static_cast<int>(shape.size()), problem.inverse ? 1 : 0, nullptr, nullptr);
    return [owner = owned(configuration), configuration, points, batch, from, to] {
      for (std::size_t i = 0; i < batch; ++i) kiss_fftnd(configuration, from + i * points, to + i * points);
    };
  }
  const kiss_fft_cfg configuration = kiss_fft_alloc(shape[0], problem.inverse ? 1 : 0, nullptr, nullptr);
  return [owner = owned(configuration), configuration, points, batch, from, to] {
    for (std::size_t i = 0; i < batch; ++i) kiss_fft(configuration, from + i * points, to + i * points);
  };
}

}  // namespace

Peer kissfft_peer() { return {.name = "kissfft", .prepare = prepare}; }

}  // namespace ridge::cli
