// FFTW 3, with plans it has measured: comparing with its estimates would flatter us.
#include <algorithm>
#include <memory>
#include <mutex>

#include <fftw3.h>

#include <ridge/error.hpp>

#include "cli/peers/peer.hpp"

namespace ridge::cli {
namespace {

// The two precisions are two libraries whose functions differ in a letter.
struct Float {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  using Real = float;
  static constexpr auto plan_dft = fftwf_plan_many_dft;
  static constexpr auto plan_real = fftwf_plan_many_dft_r2c;
  static constexpr auto execute = fftwf_execute;
  static constexpr auto destroy = fftwf_destroy_plan;
  static constexpr auto time_limit = fftwf_set_timelimit;
  static void set_threads(std::size_t threads) {
#if defined(RIDGE_HAVE_FFTW_THREADS)
    static const bool ready = fftwf_init_threads() != 0;
    if (ready) fftwf_plan_with_nthreads(static_cast<int>(threads));
#else
    (void)threads;
#endif
  }
};
struct Double {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  using Real = double;
  static constexpr auto plan_dft = fftw_plan_many_dft;
  static constexpr auto plan_real = fftw_plan_many_dft_r2c;
  static constexpr auto execute = fftw_execute;
  static constexpr auto destroy = fftw_destroy_plan;
  static constexpr auto time_limit = fftw_set_timelimit;
  static void set_threads(std::size_t threads) {
#if defined(RIDGE_HAVE_FFTW_THREADS)
    static const bool ready = fftw_init_threads() != 0;
    if (ready) fftw_plan_with_nthreads(static_cast<int>(threads));
#else
    (void)threads;
#endif
  }
};

// Debian's FFTW on ARM has no cycle counter and plans by the clock, slowly; it may stop early with what it has.
constexpr double kPlanningSeconds = 4;
constexpr std::size_t kPatientUpTo = 4096;

template <class Library>
PeerRun prepare(const PeerProblem& problem, void* in, void* out) {
  std::vector<int> shape(problem.shape.begin(), problem.shape.end());
  std::size_t points = 1;
  for (const std::size_t n : problem.shape) points *= n;
  const std::size_t last = problem.shape.back(), spectrum = points / last * (last / 2 + 1);
  const unsigned effort = problem.quick ? FFTW_ESTIMATE : points <= kPatientUpTo ? FFTW_PATIENT : FFTW_MEASURE;
  const unsigned flags = effort | FFTW_PRESERVE_INPUT;
  const int rank = static_cast<int>(shape.size()), batch = static_cast<int>(problem.batch);
  static std::mutex planning;  // FFTW's planner is one for the process
  const std::lock_guard lock(planning);
  Library::time_limit(kPlanningSeconds);
  Library::set_threads(std::max<std::size_t>(1, problem.threads));
  typename Library::Plan plan = nullptr;
  auto* to = static_cast<typename Library::Complex*>(out);
  if (problem.real) {
    plan = Library::plan_real(rank, shape.data(), batch, static_cast<typename Library::Real*>(in), nullptr, 1,
                              static_cast<int>(points), to, nullptr, 1, static_cast<int>(spectrum), flags);
  } else {
    plan = Library::plan_dft(rank, shape.data(), batch, static_cast<typename Library::Complex*>(in), nullptr, 1,
                             static_cast<int>(points), to, nullptr, 1, static_cast<int>(points),
                             problem.inverse ? FFTW_BACKWARD : FFTW_FORWARD, flags);
  }
  if (plan == nullptr) throw Error(ErrorKind::unavailable, "FFTW has no plan for it");
  const std::shared_ptr<void> owner(static_cast<void*>(plan),
                                    [](void* p) { Library::destroy(static_cast<typename Library::Plan>(p)); });
  return [owner, plan] { Library::execute(plan); };
}

}  // namespace

Peer fftw_peer() {
  return {.name = "fftw", .prepare = [](const PeerProblem& problem, void* in, void* out) {
#if !defined(RIDGE_HAVE_FFTW_THREADS)
            if (problem.threads > 1) throw Error(ErrorKind::unavailable, "FFTW was found without its threads");
#endif
            return problem.float64 ? prepare<Double>(problem, in, out) : prepare<Float>(problem, in, out);
          }};
}

}  // namespace ridge::cli
