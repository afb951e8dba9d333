// Peer Ne10, ARM's library: float, one dimension, one thread, multiples of 4 with factors 2, 3 and 5.
#include <memory>

#include <NE10.h>

#include <ridge/error.hpp>

#include "bench/peers/peer.hpp"

namespace ridge::cli {
namespace {

// Rejects other lengths: the library would divide by zero or write out of bounds.
void check(const PeerProblem& problem) {
  if (problem.float64) throw Error(ErrorKind::unavailable, "needs f32: Ne10 computes in float");
  if (problem.threads != 1) throw Error(ErrorKind::unavailable, "needs one thread: Ne10 has no threads");
  if (problem.shape.size() > 1) throw Error(ErrorKind::unavailable, "needs one axis: Ne10 is one-dimensional");
  if (problem.inverse)
    throw Error(ErrorKind::unavailable, "needs a forward transform: Ne10's inverse divides by the length");
  std::size_t rest = problem.shape[0];
  if (problem.real && (rest & (rest - 1)) != 0)
    throw Error(ErrorKind::unavailable, "Ne10's real transforms need a power of two");
  for (const std::size_t factor : {2, 3, 5}) {
    while (rest % factor == 0) rest /= factor;
  }
  if (rest != 1 || problem.shape[0] % 4 != 0 || problem.shape[0] < 8) {
    throw Error(ErrorKind::unavailable, "Ne10 needs a multiple of 4 with factors 2, 3 and 5 only");
  }
}

PeerRun prepare(const PeerProblem& problem, void* in, void* out) {
  check(problem);
  static const bool ready = ne10_init_dsp(NE10_OK) == NE10_OK;
  if (!ready) throw Error(ErrorKind::unavailable, "Ne10 needs NEON");
  const std::size_t points = problem.shape[0], batch = problem.batch;
  auto* to = static_cast<ne10_fft_cpx_float32_t*>(out);
  if (problem.real) {
    const ne10_fft_r2c_cfg_float32_t configuration = ne10_fft_alloc_r2c_float32(static_cast<ne10_int32_t>(points));
    if (configuration == nullptr) throw Error(ErrorKind::unavailable, "Ne10 does not support this length");
    const std::shared_ptr<void> owner(configuration,
                                      [configuration](void*) { ne10_fft_destroy_r2c_float32(configuration); });
    return [owner, configuration, points, batch, from = static_cast<float*>(in), to] {
      for (std::size_t i = 0; i < batch; ++i) {
        ne10_fft_r2c_1d_float32(to + i * (points / 2 + 1), from + i * points, configuration);
      }
    };
  }
  const ne10_fft_cfg_float32_t configuration = ne10_fft_alloc_c2c_float32(static_cast<ne10_int32_t>(points));
  if (configuration == nullptr) throw Error(ErrorKind::unavailable, "Ne10 does not support this length");
  const std::shared_ptr<void> owner(configuration,
                                    [configuration](void*) { ne10_fft_destroy_c2c_float32(configuration); });
  return [owner, configuration, points, batch, from = static_cast<ne10_fft_cpx_float32_t*>(in), to] {
    for (std::size_t i = 0; i < batch; ++i) {
      ne10_fft_c2c_1d_float32(to + i * points, from + i * points, configuration, 0);
    }
  };
}

}  // namespace

Peer ne10_peer() { return {.name = "ne10", .prepare = prepare}; }

}  // namespace ridge::cli
