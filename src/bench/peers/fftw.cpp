// Peer FFTW 3 with measured plans: its estimates and interrupted planning would make it look slower. Its wisdom is kept
// next to Ridgeline's, so that only the first bench waits for planning.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

#include <fftw3.h>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/library.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"
#include "bench/peers/peer.hpp"
#include "machine/profile.hpp"

namespace ridge::cli {
namespace {

constexpr base::LibraryName kDoubleNames{RIDGE_FFTW}, kSingleNames{RIDGE_FFTWF};
const base::Library libfftw{kDoubleNames, "comparisons with FFTW"}, libfftwf{kSingleNames, "comparisons with FFTW"};
#if defined(RIDGE_HAVE_FFTW_THREADS)
constexpr base::LibraryName kDoubleThreads{RIDGE_FFTW_THREADS}, kSingleThreads{RIDGE_FFTWF_THREADS};
const base::Library libfftw_threads{kDoubleThreads, "FFTW's threads"},
    libfftwf_threads{kSingleThreads, "FFTW's threads"};
#endif

// The two precisions are two libraries whose functions differ by one letter.
struct Float {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  using Real = float;
  static constexpr const char* name = "f32";
  static inline const base::Function<decltype(fftwf_plan_many_dft)> plan_dft{libfftwf, "fftwf_plan_many_dft"};
  static inline const base::Function<decltype(fftwf_plan_many_dft_r2c)> plan_forward{libfftwf,
                                                                                     "fftwf_plan_many_dft_r2c"};
  static inline const base::Function<decltype(fftwf_plan_many_dft_c2r)> plan_inverse{libfftwf,
                                                                                     "fftwf_plan_many_dft_c2r"};
  static inline const base::Function<decltype(fftwf_plan_many_r2r)> plan_real{libfftwf, "fftwf_plan_many_r2r"};
  static inline const base::Function<decltype(fftwf_execute)> execute{libfftwf, "fftwf_execute"};
  static inline const base::Function<decltype(fftwf_destroy_plan)> destroy{libfftwf, "fftwf_destroy_plan"};
  static inline const base::Function<decltype(fftwf_set_timelimit)> time_limit{libfftwf, "fftwf_set_timelimit"};
  static inline const base::Function<decltype(fftwf_import_wisdom_from_string)> import_wisdom{
      libfftwf, "fftwf_import_wisdom_from_string"};
  static inline const base::Function<decltype(fftwf_export_wisdom_to_string)> export_wisdom{
      libfftwf, "fftwf_export_wisdom_to_string"};
  static void set_threads(std::size_t threads) {
#if defined(RIDGE_HAVE_FFTW_THREADS)
    static const base::Function<decltype(fftwf_init_threads)> start{libfftwf_threads, "fftwf_init_threads"};
    static const base::Function<decltype(fftwf_plan_with_nthreads)> use{libfftwf_threads, "fftwf_plan_with_nthreads"};
    static const bool ready = start() != 0;
    if (ready) use(static_cast<int>(threads));
#else
    (void)threads;
#endif
  }
};
struct Double {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  using Real = double;
  static constexpr const char* name = "f64";
  static inline const base::Function<decltype(fftw_plan_many_dft)> plan_dft{libfftw, "fftw_plan_many_dft"};
  static inline const base::Function<decltype(fftw_plan_many_dft_r2c)> plan_forward{libfftw, "fftw_plan_many_dft_r2c"};
  static inline const base::Function<decltype(fftw_plan_many_dft_c2r)> plan_inverse{libfftw, "fftw_plan_many_dft_c2r"};
  static inline const base::Function<decltype(fftw_plan_many_r2r)> plan_real{libfftw, "fftw_plan_many_r2r"};
  static inline const base::Function<decltype(fftw_execute)> execute{libfftw, "fftw_execute"};
  static inline const base::Function<decltype(fftw_destroy_plan)> destroy{libfftw, "fftw_destroy_plan"};
  static inline const base::Function<decltype(fftw_set_timelimit)> time_limit{libfftw, "fftw_set_timelimit"};
  static inline const base::Function<decltype(fftw_import_wisdom_from_string)> import_wisdom{
      libfftw, "fftw_import_wisdom_from_string"};
  static inline const base::Function<decltype(fftw_export_wisdom_to_string)> export_wisdom{
      libfftw, "fftw_export_wisdom_to_string"};
  static void set_threads(std::size_t threads) {
#if defined(RIDGE_HAVE_FFTW_THREADS)
    static const base::Function<decltype(fftw_init_threads)> start{libfftw_threads, "fftw_init_threads"};
    static const base::Function<decltype(fftw_plan_with_nthreads)> use{libfftw_threads, "fftw_plan_with_nthreads"};
    static const bool ready = start() != 0;
    if (ready) use(static_cast<int>(threads));
#else
    (void)threads;
#endif
  }
};

// Debian's FFTW on ARM has no cycle counter and plans by the clock: 20 s for 2^13 points. Interrupted after 4 s, its
// plans were a third slower, so planning is unlimited up to this length.
constexpr std::size_t kUnlimitedUpTo = std::size_t{1} << 13, kMostWisdom = std::size_t{16} << 20;
constexpr double kPlanningSeconds = 60;

// File of FFTW's wisdom for this hardware; empty if nothing can be stored.
template <class Library>
std::filesystem::path wisdom_path() {
  const std::filesystem::path folder = base::cache_folder();
  if (folder.empty()) return {};
  return folder /
         ("fftw-" + std::string(Library::name) + "-" +
          std::filesystem::path(machine::profile_file_name(machine::hardware_key())).stem().string() + ".wisdom");
}

template <class Library>
void read_wisdom() {
  const auto path = wisdom_path<Library>();
  if (path.empty()) return;
  try {
    const auto text = base::read_file(path, kMostWisdom);
    if (text && Library::import_wisdom(text->c_str()) == 0) {
      base::warn(
          fmt::format("{}: FFTW cannot read this wisdom (another version, or damaged) and plans again", path.string()));
    }
  } catch (const Error& error) {
    base::warn(error.what());
  }
}

template <class Library>
void write_wisdom() {
  const auto path = wisdom_path<Library>();
  if (path.empty()) return;
  const std::unique_ptr<char, decltype(&std::free)> text(Library::export_wisdom(), &std::free);
  if (!text) return;
  try {
    base::write_file(path, text.get());
  } catch (const Error& error) {
    base::warn(error.what());
  }
}

fftw_r2r_kind fftw_kind(fft::RealKind kind) {
  switch (kind) {
    case fft::RealKind::halfcomplex:
      return FFTW_R2HC;
    case fft::RealKind::halfcomplex_inverse:
      return FFTW_HC2R;
    case fft::RealKind::hartley:
      return FFTW_DHT;
    case fft::RealKind::dct1:
      return FFTW_REDFT00;
    case fft::RealKind::dct2:
      return FFTW_REDFT10;
    case fft::RealKind::dct3:
      return FFTW_REDFT01;
    case fft::RealKind::dct4:
      return FFTW_REDFT11;
    case fft::RealKind::dst1:
      return FFTW_RODFT00;
    case fft::RealKind::dst2:
      return FFTW_RODFT10;
    case fft::RealKind::dst3:
      return FFTW_RODFT01;
    case fft::RealKind::dst4:
      break;
  }
  return FFTW_RODFT11;
}

template <class Library>
typename Library::Plan make_plan(const PeerProblem& problem, void* in, void* out, unsigned flags) {
  using Complex = typename Library::Complex;
  using Real = typename Library::Real;
  const std::vector<int> shape(problem.shape.begin(), problem.shape.end());
  int points = 1;
  for (const int n : shape) points *= n;
  const int spectrum = points / shape.back() * (shape.back() / 2 + 1);
  const int rank = static_cast<int>(shape.size()), batch = static_cast<int>(problem.batch);
  if (problem.kind) {
    const std::vector<fftw_r2r_kind> kinds(shape.size(), fftw_kind(*problem.kind));
    return Library::plan_real(rank, shape.data(), batch, static_cast<Real*>(in), nullptr, 1, points,
                              static_cast<Real*>(out), nullptr, 1, points, kinds.data(), flags | FFTW_PRESERVE_INPUT);
  }
  if (!problem.real) {
    return Library::plan_dft(rank, shape.data(), batch, static_cast<Complex*>(in), nullptr, 1, points,
                             static_cast<Complex*>(out), nullptr, 1, points,
                             problem.inverse ? FFTW_BACKWARD : FFTW_FORWARD, flags | FFTW_PRESERVE_INPUT);
  }
  if (!problem.inverse) {
    return Library::plan_forward(rank, shape.data(), batch, static_cast<Real*>(in), nullptr, 1, points,
                                 static_cast<Complex*>(out), nullptr, 1, spectrum, flags | FFTW_PRESERVE_INPUT);
  }
  // With several axes it overwrites the spectrum: the bench restores the data before each round.
  return Library::plan_inverse(rank, shape.data(), batch, static_cast<Complex*>(in), nullptr, 1, spectrum,
                               static_cast<Real*>(out), nullptr, 1, points,
                               flags | (rank == 1 ? FFTW_PRESERVE_INPUT : FFTW_DESTROY_INPUT));
}

template <class Library>
PeerRun prepare(const PeerProblem& problem, void* in, void* out) {
  std::size_t points = 1;
  for (const std::size_t n : problem.shape) points *= n;
  if (points > (std::size_t{1} << 30))
    throw Error(ErrorKind::unavailable, "needs at most 2^30 points: FFTW counts in int");
  static std::mutex planning;  // FFTW's planner is not thread-safe
  const std::lock_guard lock(planning);
  Library::set_threads(problem.threads == 0 ? base::hardware_threads() : problem.threads);
  typename Library::Plan plan = nullptr;
  if (problem.quick) {
    plan = make_plan<Library>(problem, in, out, FFTW_ESTIMATE);
  } else {
    [[maybe_unused]] static const bool read = (read_wisdom<Library>(), true);
    plan = make_plan<Library>(problem, in, out, FFTW_MEASURE | FFTW_WISDOM_ONLY);
    if (plan == nullptr) {
      Library::time_limit(points <= kUnlimitedUpTo ? FFTW_NO_TIMELIMIT : kPlanningSeconds);
      plan = make_plan<Library>(problem, in, out, FFTW_MEASURE);
      Library::time_limit(FFTW_NO_TIMELIMIT);
      write_wisdom<Library>();
    }
  }
  if (plan == nullptr) throw Error(ErrorKind::unavailable, "FFTW has no plan for this problem");
  const std::shared_ptr<void> owner(static_cast<void*>(plan),
                                    [](void* p) { Library::destroy(static_cast<typename Library::Plan>(p)); });
  return [owner, plan] { Library::execute(plan); };
}

}  // namespace

Peer fftw_peer() {
  return {.name = "fftw", .prepare = [](const PeerProblem& problem, void* in, void* out) {
#if !defined(RIDGE_HAVE_FFTW_THREADS)
            if (problem.threads != 1)
              throw Error(ErrorKind::unavailable, "needs one thread: FFTW was found without its thread library");
#endif
            return problem.float64 ? prepare<Double>(problem, in, out) : prepare<Float>(problem, in, out);
          }};
}

}  // namespace ridge::cli
