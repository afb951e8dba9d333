// Peer FFTW 3 with measured plans: its estimates and interrupted planning would make it look slower. Its wisdom is kept
// next to Ridgeline's, so that only the first bench waits for planning.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
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
template <class Real>
struct Fftw {
  static constexpr bool kFloat = sizeof(Real) == sizeof(float);
  static constexpr const char* name = kFloat ? "f32" : "f64";
  using Plan = std::conditional_t<kFloat, fftwf_plan, fftw_plan>;
  using Complex = Real[2];
  template <class In, class Out, class... Kind>
  using PlanMany = Plan(int rank, const int* n, int count, In* in, const int*, int, int, Out* out, const int*, int, int,
                        Kind..., unsigned flags);

  template <class F>
  static F* find(const std::string& function, const base::Library& library = kFloat ? libfftwf : libfftw) {
    return reinterpret_cast<F*>(library.find(((kFloat ? "fftwf_" : "fftw_") + function).c_str()));
  }

  static void set_threads([[maybe_unused]] std::size_t threads) {
#if defined(RIDGE_HAVE_FFTW_THREADS)
    const base::Library& library = kFloat ? libfftwf_threads : libfftw_threads;
    static const bool ready = find<int()>("init_threads", library)() != 0;
    if (ready) find<void(int)>("plan_with_nthreads", library)(static_cast<int>(threads));
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
    if (text && Library::template find<int(const char*)>("import_wisdom_from_string")(text->c_str()) == 0) {
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
  const std::unique_ptr<char, decltype(&std::free)> text(Library::template find<char*()>("export_wisdom_to_string")(),
                                                         &std::free);
  if (!text) return;
  try {
    base::write_file(path, text.get());
  } catch (const Error& error) {
    base::warn(error.what());
  }
}

fftw_r2r_kind fftw_kind(fft::RealKind kind) {
  using Kind = fft::RealKind;
  static const std::map<Kind, fftw_r2r_kind> kinds{
      {Kind::halfcomplex, FFTW_R2HC}, {Kind::halfcomplex_inverse, FFTW_HC2R},
      {Kind::hartley, FFTW_DHT},      {Kind::dct1, FFTW_REDFT00},
      {Kind::dct2, FFTW_REDFT10},     {Kind::dct3, FFTW_REDFT01},
      {Kind::dct4, FFTW_REDFT11},     {Kind::dst1, FFTW_RODFT00},
      {Kind::dst2, FFTW_RODFT10},     {Kind::dst3, FFTW_RODFT01},
      {Kind::dst4, FFTW_RODFT11}};
  return kinds.at(kind);
}

template <class Library>
typename Library::Plan make_plan(const PeerProblem& problem, void* in, void* out, unsigned flags) {
  using Complex = typename Library::Complex;
  using Number = std::remove_extent_t<Complex>;
  const std::vector<int> shape(problem.shape.begin(), problem.shape.end());
  int points = 1;
  for (const int n : shape) points *= n;
  const int spectrum = points / shape.back() * (shape.back() / 2 + 1);
  const int rank = static_cast<int>(shape.size()), batch = static_cast<int>(problem.batch);
  const bool backwards = problem.real && problem.inverse;
  // A real inverse of several axes overwrites the spectrum: the bench restores the data before each round.
  flags |= backwards && rank > 1 ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT;
  const auto plan = [&]<class In, class Out, class... Kind>(const char* name, In* from, int from_size, Out* to,
                                                            int to_size, Kind... kind) {
    return Library::template find<typename Library::template PlanMany<In, Out, Kind...>>(name)(
        rank, shape.data(), batch, from, nullptr, 1, from_size, to, nullptr, 1, to_size, kind..., flags);
  };
  auto *numbers = static_cast<Number*>(in), *to_numbers = static_cast<Number*>(out);
  auto *values = static_cast<Complex*>(in), *to_values = static_cast<Complex*>(out);
  if (problem.kind) {
    const std::vector<fftw_r2r_kind> kinds(shape.size(), fftw_kind(*problem.kind));
    return plan("plan_many_r2r", numbers, points, to_numbers, points, kinds.data());
  }
  if (backwards) return plan("plan_many_dft_c2r", values, spectrum, to_numbers, points);
  if (problem.real) return plan("plan_many_dft_r2c", numbers, points, to_values, spectrum);
  return plan("plan_many_dft", values, points, to_values, points, problem.inverse ? FFTW_BACKWARD : FFTW_FORWARD);
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
      const auto time_limit = Library::template find<void(double)>("set_timelimit");
      time_limit(points <= kUnlimitedUpTo ? FFTW_NO_TIMELIMIT : kPlanningSeconds);
      plan = make_plan<Library>(problem, in, out, FFTW_MEASURE);
      time_limit(FFTW_NO_TIMELIMIT);
      write_wisdom<Library>();
    }
  }
  if (plan == nullptr) throw Error(ErrorKind::unavailable, "FFTW has no plan for this problem");
  using Use = void(typename Library::Plan);
  const std::shared_ptr<void> owner(static_cast<void*>(plan), [](void* p) {
    Library::template find<Use>("destroy_plan")(static_cast<typename Library::Plan>(p));
  });
  return [owner, plan, execute = Library::template find<Use>("execute")] { execute(plan); };
}

}  // namespace

Peer fftw_peer() {
  return {.name = "fftw", .prepare = [](const PeerProblem& problem, void* in, void* out) {
#if !defined(RIDGE_HAVE_FFTW_THREADS)
            if (problem.threads != 1)
              throw Error(ErrorKind::unavailable, "needs one thread: FFTW was found without its thread library");
#endif
            return problem.float64 ? prepare<Fftw<double>>(problem, in, out) : prepare<Fftw<float>>(problem, in, out);
          }};
}

}  // namespace ridge::cli
