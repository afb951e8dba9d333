// Turns a planner's arguments into a tensor problem, checks them, and finds or makes its plan.
#include "fftw/make_plan.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/fork_gate.hpp"
#include "base/log.hpp"
#include "fft/tensor/problem_key.hpp"
#include "fftw/wisdom.hpp"

namespace ridge::fftw {
namespace {

Rigor rigor_of(unsigned flags) {
  if ((flags & kEstimate) != 0) return Rigor::estimate;
  if ((flags & kExhaustive) != 0) return Rigor::exhaustive;
  return (flags & kPatient) != 0 ? Rigor::patient : Rigor::measure;
}

// RIDGE_FFTW_TRACE=FILE appends one line per plan, which shows that this library planned.
void trace(const std::string& key, bool made) {
  static const char* const file = std::getenv("RIDGE_FFTW_TRACE");
  if (file == nullptr || *file == '\0') return;
  std::FILE* const out = std::fopen(file, "a");
  const bool written = out != nullptr && std::fprintf(out, "%s %s\n", made ? "plan" : "none", key.c_str()) > 0;
  const bool closed = out != nullptr && std::fclose(out) == 0;
  if (!written || !closed)
    base::warn(fmt::format("RIDGE_FFTW_TRACE={}: cannot be written: {}", file, std::strerror(errno)));
}

// The factor by which a real-to-real transform of one point multiplies it.
double factor_of_one_point(fft::RealKind kind) {
  using enum fft::RealKind;
  if (kind == dct2 || kind == dst2 || kind == dst1) return 2;
  return kind == dct4 || kind == dst4 ? std::numbers::sqrt2 : 1;
}

// Removes loops and axes of one point: they may have any stride, also 0, and only multiply by a constant. The last axis
// of real transforms stays, because its spectrum is halved.
void remove_single_points(fft::TensorProblem& problem) {
  std::erase_if(problem.loops, [](const fft::Dimension& loop) { return loop.length == 1; });
  const bool real = problem.kind == fft::TensorKind::real_forward || problem.kind == fft::TensorKind::real_inverse;
  const bool has_kinds = problem.kind == fft::TensorKind::real_to_real;
  for (std::size_t axis = problem.axes.size() - (real && !problem.axes.empty() ? 1 : 0); axis-- > 0;) {
    if (problem.axes[axis].length != 1) continue;
    const auto at = static_cast<std::ptrdiff_t>(axis);
    if (has_kinds) {
      if (problem.real_kinds[axis] == fft::RealKind::dct1) continue;  // needs two points: refused later
      problem.scale *= factor_of_one_point(problem.real_kinds[axis]);
      problem.real_kinds.erase(problem.real_kinds.begin() + at);
    }
    problem.axes.erase(problem.axes.begin() + at);
  }
}

// True if all elements that the strides reach fit the address space.
bool fits_memory(const fft::TensorProblem& problem) {
  constexpr std::ptrdiff_t kElement = 16, kMost = std::numeric_limits<std::ptrdiff_t>::max() / kElement;
  std::ptrdiff_t input = 0, output = 0;
  for (const auto* dimensions : {&problem.axes, &problem.loops}) {
    for (const fft::Dimension& d : *dimensions) {
      const auto length = static_cast<std::ptrdiff_t>(d.length);
      for (const auto& [stride, reach] : {std::pair(d.input, &input), std::pair(d.output, &output)}) {
        std::ptrdiff_t far = 0;
        if (stride < -kMost || stride > kMost || __builtin_mul_overflow(length, stride < 0 ? -stride : stride, &far) ||
            __builtin_add_overflow(*reach, far, reach) || *reach > kMost) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

bool real_kind(int number, fft::RealKind& kind) {
  using enum fft::RealKind;
  constexpr fft::RealKind kKinds[] = {
      halfcomplex, halfcomplex_inverse, hartley, dct1, dct3, dct2, dct4, dst1, dst3, dst2, dst4};
  if (number < 0 || number >= static_cast<int>(std::size(kKinds))) return false;
  kind = kKinds[number];
  return true;
}

void Request::axis(std::ptrdiff_t n, std::ptrdiff_t input, std::ptrdiff_t output) {
  if (n <= 0) valid = false;
  problem.axes.push_back({static_cast<std::size_t>(n > 0 ? n : 1), input, output});
}

void Request::loop(std::ptrdiff_t n, std::ptrdiff_t input, std::ptrdiff_t output) {
  if (n < 0) valid = false;
  problem.loops.push_back({static_cast<std::size_t>(n > 0 ? n : 0), input, output});
}

void Request::kinds(int rank, const int* numbers) {
  if (rank > 0 && numbers == nullptr) {
    valid = false;
    return;
  }
  for (int i = 0; i < rank && i < kMostRank; ++i) {
    fft::RealKind kind{};
    if (!real_kind(numbers[i], kind)) valid = false;
    problem.real_kinds.push_back(kind);
  }
}

std::vector<std::ptrdiff_t> Request::steps(int rank, const int* n, const Places& places, bool input) {
  const bool half = (problem.kind == fft::TensorKind::real_forward && !input) ||
                    (problem.kind == fft::TensorKind::real_inverse && input);
  const bool padded =
      (problem.kind == fft::TensorKind::real_forward || problem.kind == fft::TensorKind::real_inverse) && !half &&
      problem.in_place;
  std::vector<std::ptrdiff_t> result(static_cast<std::size_t>(rank));
  std::ptrdiff_t step = places.stride;
  for (int axis = rank; axis-- > 0;) {
    result[static_cast<std::size_t>(axis)] = step;
    std::ptrdiff_t length = places.embed != nullptr ? places.embed[axis] : n[axis];
    if (places.embed == nullptr && axis + 1 == rank) {
      if (half) length = n[axis] / 2 + 1;
      if (padded) length = 2 * (n[axis] / 2 + 1);
    }
    if (__builtin_mul_overflow(step, length, &step)) {
      valid = false;
      return result;
    }
  }
  return result;
}

void Request::many(int rank, const int* n, int howmany, const Places& input, const Places& output) {
  if (rank < 0 || howmany < 0 || rank > kMostRank || (rank > 0 && n == nullptr)) {
    valid = false;
    return;
  }
  for (int i = 0; i < rank; ++i) {
    if (n[i] <= 0) {
      valid = false;
      return;
    }
  }
  const auto in = steps(rank, n, input, true), out = steps(rank, n, output, false);
  for (int i = 0; i < rank; ++i) axis(n[i], in[static_cast<std::size_t>(i)], out[static_cast<std::size_t>(i)]);
  loop(howmany, input.distance, output.distance);
}

void Request::packed(int rank, const int* n) { many(rank, n, 1, {}, {}); }

template <class T>
Plan<T>* make_plan(const Request& request, const Arrays<T>& arrays, unsigned flags) noexcept {
  constexpr bool kSingle = sizeof(T) == sizeof(float);
  if (!request.valid || !fits_memory(request.problem)) return nullptr;
  try {
    const base::ForkGate gate;
    fft::TensorProblem problem = request.problem;
    problem.threads = static_cast<std::size_t>(settings().threads);
    remove_single_points(problem);
    const std::string key = fft::problem_key<T>(problem);
    const Rigor rigor = rigor_of(flags);
    if ((flags & kWisdomOnly) != 0 && !wisdom::knows(kSingle, key, rigor)) return nullptr;
    try {
      auto* const plan = new Plan<T>(problem, rigor, arrays);
      wisdom::remember(kSingle, key, rigor);
      trace(key, true);
      return plan;
    } catch (const std::exception&) {
      trace(key, false);
      return nullptr;
    }
  } catch (const std::exception&) {
    return nullptr;
  }
}

template Plan<float>* make_plan(const Request&, const Arrays<float>&, unsigned) noexcept;
template Plan<double>* make_plan(const Request&, const Arrays<double>&, unsigned) noexcept;

}  // namespace ridge::fftw
