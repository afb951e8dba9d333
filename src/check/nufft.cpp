// Checks nonuniform transforms of random points against their defining sums in long double.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/nufft.hpp>

#include "check/check.hpp"

namespace ridge::check {
namespace {

using WideSum = std::complex<long double>;
constexpr double kHalfPeriod = 3.141592653589793;

struct NufftCase {
  nufft::Problem problem{};
  std::size_t points = 0, modes = 1;  // modes: of one set
  std::uint64_t data = 0;
};

// Positions of the points.
enum class Places { uniform, cluster, edges, outside };

template <class T>
std::array<std::vector<T>, 3> draw_places(const NufftCase& one, Places places) {
  Random random(one.data + 7);
  const auto edge = static_cast<T>(kHalfPeriod);
  std::array<std::vector<T>, 3> axis;
  for (std::size_t i = 0; i < one.problem.modes.size(); ++i) {
    const double centre = kHalfPeriod * (2 * random.uniform() - 1);
    for (std::size_t j = 0; j < one.points; ++j) {
      const double u = 2 * random.uniform() - 1;
      const T on_edge = random.chance(0.5) ? edge : random.chance(0.5) ? -edge : T(0);
      axis[i].push_back(places == Places::uniform   ? static_cast<T>(kHalfPeriod * u)
                        : places == Places::cluster ? static_cast<T>(centre + 1e-4 * u)
                        : places == Places::edges   ? on_edge
                                                    : static_cast<T>(100 * u));
    }
  }
  return axis;
}

// Frequency stored at position `at` of an axis of n modes.
long double frequency_at(nufft::Order order, std::size_t n, std::size_t at) {
  const auto size = static_cast<long>(n), i = static_cast<long>(at);
  if (order == nufft::Order::centered) return static_cast<long double>(i - size / 2);
  return static_cast<long double>(i < size - size / 2 ? i : i - size);
}

// Phases of all modes at one point are products of those of the axes.
template <class T>
std::array<std::vector<WideSum>, 3> axis_phases(const NufftCase& one, const std::array<std::vector<T>, 3>& axis,
                                                std::size_t j) {
  std::array<std::vector<WideSum>, 3> phases{{{WideSum(1)}, {WideSum(1)}, {WideSum(1)}}};
  for (std::size_t i = 0; i < one.problem.modes.size(); ++i) {
    const std::size_t n = one.problem.modes[i];
    phases[i].resize(n);
    for (std::size_t at = 0; at < n; ++at) {
      const long double phase =
          one.problem.sign * frequency_at(one.problem.order, n, at) * static_cast<long double>(axis[i][j]);
      phases[i][at] = {std::cos(phase), std::sin(phase)};
    }
  }
  return phases;
}

template <class T>
std::vector<WideSum> sums(const NufftCase& one, const std::array<std::vector<T>, 3>& axis,
                          const std::vector<std::complex<T>>& in) {
  const bool to_modes = one.problem.type == nufft::Type::to_modes;
  std::vector<WideSum> out(one.problem.batch * (to_modes ? one.modes : one.points));
  for (std::size_t j = 0; j < one.points; ++j) {
    const auto phases = axis_phases(one, axis, j);
    std::size_t mode = 0;
    for (const WideSum& a : phases[0]) {
      for (const WideSum& b : phases[1]) {
        const WideSum outer = a * b;
        for (const WideSum& c : phases[2]) {
          const WideSum phase = outer * c;
          for (std::size_t set = 0; set < one.problem.batch; ++set) {
            const std::size_t point = set * one.points + j, at = set * one.modes + mode;
            (to_modes ? out[at] : out[point]) += WideSum(in[to_modes ? point : at]) * phase;
          }
          ++mode;
        }
      }
    }
  }
  return out;
}

// Shapes whose sums stay cheap: at most `most` modes, and points x modes bounded by the caller.
NufftCase draw_case(Draw& draw, double least_epsilon) {
  Random& random = draw.random;
  NufftCase one;
  nufft::Problem& problem = one.problem;
  problem.type = random.chance(0.5) ? nufft::Type::to_modes : nufft::Type::to_points;
  problem.sign = random.chance(0.5) ? 1 : -1;
  problem.order = random.chance(0.5) ? nufft::Order::centered : nufft::Order::fft;
  problem.batch = random.chance(0.2) ? random.between(2, 3) : 1;
  problem.threads = random.below(4);
  problem.epsilon = std::max(least_epsilon, std::pow(10.0, -1 - 13 * random.uniform()));
  const std::size_t axes = random.between(1, 3);
  one.data = random.bits();
  constexpr std::size_t kSums = 400'000;  // products of one check
  const std::size_t most = std::min<std::size_t>(draw.points, kSums / 4);
  const auto side = static_cast<std::size_t>(std::pow(static_cast<double>(most), 1.0 / static_cast<double>(axes)));
  for (std::size_t i = 0; i < axes; ++i) {
    problem.modes.push_back(random.length(std::max<std::size_t>(1, side)));
    one.modes *= problem.modes.back();
  }
  one.points = random.chance(0.03) ? 0 : random.magnitude(std::max<std::size_t>(1, kSums / one.modes / problem.batch));
  problem.points = one.points;
  return one;
}

template <class T>
Outcome check_points(Draw& draw) {
  const NufftCase one = draw_case(draw, 1.01 * nufft::least_epsilon<T>(3));
  const nufft::Problem& problem = one.problem;
  const auto places = static_cast<Places>(draw.random.below(4));
  const char* names[] = {"uniform", "clustered", "on edges", "outside the period"};
  draw.problem = fmt::format(
      "{} type {} modes {} points {} {} epsilon {:.1e} sign {:+} batch {}{}", sizeof(T) == 4 ? "f32" : "f64",
      static_cast<int>(problem.type), fmt::join(problem.modes, "x"), one.points, names[static_cast<int>(places)],
      problem.epsilon, problem.sign, problem.batch, problem.order == nufft::Order::fft ? " fft order" : "");
  const planner::Options options = some_variant(nufft::candidates<T>(draw.device, problem), draw.random.bits());
  auto plan = nufft::plan<T>(draw.device, problem, options);
  draw.problem += " by " + chosen_by(plan.decisions());
  const auto axis = draw_places<T>(one, places);
  plan.set_points(axis[0], axis[1], axis[2]);
  const bool to_modes = problem.type == nufft::Type::to_modes;
  std::vector<std::complex<T>> in(problem.batch * (to_modes ? one.points : one.modes));
  fill_values(std::as_writable_bytes(std::span(in)), sizeof(T) == 4 ? Values::float32 : Values::float64, one.data);
  std::vector<std::complex<T>> out(problem.batch * (to_modes ? one.modes : one.points),
                                   std::complex<T>(std::numeric_limits<T>::quiet_NaN()));
  plan.run(in, out);
  draw.answered(std::as_writable_bytes(std::span(out)));
  const std::vector<WideSum> exact = sums(one, axis, in);
  // The norm that random phases give is the least divisor: sums of few terms may happen to vanish.
  long double square = 0, difference = 0, least = 0;
  for (const auto& value : in) least += std::norm(WideSum(value));
  least *= static_cast<long double>(to_modes ? one.modes : one.points);
  for (std::size_t i = 0; i < out.size(); ++i) {
    square += std::norm(exact[i]);
    difference += std::norm(WideSum(out[i]) - exact[i]);
  }
  const auto error = static_cast<double>(std::sqrt(difference));
  // Epsilon is promised for random points. The aliasing error depends on the place within a cell, up to three times its
  // root mean square, and does not average over points in few places.
  const bool spread = places == Places::uniform || places == Places::outside;
  const double margin = spread && one.points >= 20 ? 1 : 3;
  double relative = margin * problem.epsilon;
  if (to_modes) {
    const auto points = static_cast<double>(one.points), modes = static_cast<double>(one.modes);
    // A grid cell adds the values of many points one after another: of all, or of those within a kernel's width, at
    // most 8 of the 2 cells per mode of an axis. Values of random sign lose the unit roundoff times the root of their
    // number.
    const double width = std::pow(4.0, static_cast<double>(problem.modes.size()));
    const double terms = spread ? std::min(points, points / modes * width) : points;
    relative += double{std::numeric_limits<T>::epsilon()} / 2 * std::sqrt(terms);
  }
  const double allowed = relative * static_cast<double>(std::sqrt(std::max(square, least)));
  if (error <= allowed) return {};
  return {.wrong = fmt::format("error {:.2e} in the L2 norm, allowed {:.2e}", error, allowed)};
}

// Type 3 of random points and frequencies, whose extents multiply to a bounded grid.
template <class T>
Outcome check_type3(Draw& draw) {
  Random& random = draw.random;
  nufft::Type3Problem problem{
      .axes = random.between(1, 3), .sign = random.chance(0.5) ? 1 : -1, .threads = random.below(4)};
  problem.epsilon = std::max(1.6 * nufft::least_epsilon<T>(3), std::pow(10.0, -1 - 11 * random.uniform()));
  problem.batch = random.chance(0.2) ? 2 : 1;
  const double product = std::pow(4000.0, random.uniform() / static_cast<double>(problem.axes));  // of the extents
  const double extent = std::pow(10.0, 6 * random.uniform() - 3), centre = 3 * random.uniform();
  const std::size_t points = random.magnitude(std::min<std::size_t>(draw.points, 300));
  const std::size_t count = random.magnitude(std::min<std::size_t>(draw.points, 300));
  const std::uint64_t data = random.bits();
  draw.problem = fmt::format("{} type 3, {} axes, {} points over {:.1e}, {} frequencies over {:.1e}, epsilon {:.1e}",
                             sizeof(T) == 4 ? "f32" : "f64", problem.axes, points, extent, count, product / extent,
                             problem.epsilon);
  std::vector<std::vector<T>> x(problem.axes), s(problem.axes);
  std::vector<std::span<const T>> from, to;
  for (std::size_t i = 0; i < problem.axes; ++i) {
    for (std::size_t j = 0; j < points; ++j) x[i].push_back(static_cast<T>(extent * (random.uniform() + centre)));
    for (std::size_t k = 0; k < count; ++k)
      s[i].push_back(static_cast<T>(product / extent * (random.uniform() - centre)));
    from.emplace_back(x[i]);
    to.emplace_back(s[i]);
  }
  std::vector<std::complex<T>> in(problem.batch * points), out(problem.batch * count);
  fill_values(std::as_writable_bytes(std::span(in)), sizeof(T) == 4 ? Values::float32 : Values::float64, data);
  nufft::Type3Plan<T> plan(draw.device, problem);
  plan.set_points(from, to);
  plan.run(in, out);
  draw.answered(std::as_writable_bytes(std::span(out)));
  long double square = 0, difference = 0, least = 0;
  for (const auto& value : in) least += std::norm(WideSum(value));
  for (std::size_t k = 0; k < out.size(); ++k) {
    WideSum exact = 0;
    for (std::size_t j = 0; j < points; ++j) {
      long double phase = 0;
      for (std::size_t i = 0; i < problem.axes; ++i) {
        phase += static_cast<long double>(x[i][j]) * static_cast<long double>(s[i][k % count]);
      }
      exact += WideSum(in[k / count * points + j]) * WideSum(std::cos(phase), problem.sign * std::sin(phase));
    }
    square += std::norm(exact);
    difference += std::norm(WideSum(out[k]) - exact);
  }
  const long double norm = std::max(square, least * static_cast<long double>(count));
  const double margin = points >= 20 && count >= 20 ? 1 : 3;
  const auto error = static_cast<double>(std::sqrt(difference));
  const double allowed = margin * problem.epsilon * static_cast<double>(std::sqrt(norm));
  if (error <= allowed) return {};
  return {.wrong = fmt::format("error {:.2e} in the L2 norm, allowed {:.2e}", error, allowed)};
}

}  // namespace

Outcome check_nufft(Draw& draw) {
  const bool type3 = draw.random.chance(0.2);
  const bool wide = draw.random.chance(0.5) && draw.device.limits().float64;
  if (type3) return wide ? check_type3<double>(draw) : check_type3<float>(draw);
  return wide ? check_points<double>(draw) : check_points<float>(draw);
}

}  // namespace ridge::check
