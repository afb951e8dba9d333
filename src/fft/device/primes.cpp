// Lengths with a large prime factor: Rader's and Bluestein's convolutions, in one kernel where they fit.
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/radices.hpp"
#include "fft/device/route.hpp"
#include "fft/device/tables.hpp"
#include "fft/prime/numbers.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kMostCandidates = 3;

// Convolutions of real lines keep it simple: nothing imaginary on one side, half a spectrum on the other.
void real_sides(const AxisProblem& problem, PassDesign& pass) {
  if (problem.kind != Kind::real) return;
  if (problem.direction == Direction::forward) {
    pass.load.values = Values::reals;
    pass.store.valid = problem.length / 2 + 1;
  } else {
    pass.load.values = Values::hermitian;
    pass.load.once = false;
    pass.store.values = Values::reals;
  }
}

void add_one_kernel(const Device& device, const AxisProblem& problem, const PassDesign& plain, const char* name,
                    double& efficiency, std::vector<Route>& routes) {
  std::string refusal;
  const std::vector<PassDesign> designs = fitted(device, plain, 0, kMostCandidates, refusal);
  if (designs.empty()) {
    routes.push_back({.candidate = {.variant = name, .refusal = refusal}, .steps = {}});
    return;
  }
  for (const PassDesign& design : designs) {
    Route route;
    route.outer = problem.counts.back();
    route.steps.push_back({.design = design,
                           .from = Place::input,
                           .to = Place::output,
                           .lines = inner_lines(problem),
                           .from_stride = design.load.at.line.back(),
                           .to_stride = design.store.at.line.back(),
                           .load = problem.load,
                           .store = problem.store});
    route.candidate = described(problem, name, route.steps, efficiency);
    efficiency *= 0.95;
    routes.push_back(std::move(route));
  }
}

bool contiguous(const AxisProblem& problem, const Address& at) {
  return at.point == 1 && problem.counts.size() == 1 && at.line[0] == problem.length;
}

void list_rader(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  const auto refuse = [&](const char* why) {
    routes.push_back({.candidate = {.variant = "rader", .refusal = why}, .steps = {}});
  };
  if (!prime::is_prime(problem.length)) return refuse("the length is not a prime");
  if (!has_butterflies(problem.length - 1)) return refuse("the length less one has a large prime factor");
  if (problem.kind == Kind::real || problem.samples != Samples::same) return refuse("takes complex points");
  if (!contiguous(problem, problem.in) || !contiguous(problem, problem.out)) {
    return refuse("takes lines that lie one after the other");
  }
  PassDesign plain = plain_pass(problem);
  plain.method = PrimeMethod::rader;
  plain.length = problem.length - 1;
  plain.load.staged = plain.store.staged = true;
  double efficiency = 0.5;
  add_one_kernel(device, problem, plain, "rader", efficiency, routes);
}

// Padded lengths worth trying: the shortest made of small factors, and powers of two.
std::vector<std::size_t> padded_lengths(std::size_t n) {
  std::vector<std::size_t> lengths;
  const std::size_t least = 2 * n - 1, power = std::bit_ceil(least);
  // Multiples of 64 (or 8) leave every stage enough work-items that run along neighbouring points.
  const std::size_t grain = least >= 4096 ? 64 : 8;
  for (std::size_t m = (least + grain - 1) / grain * grain; m <= power; m += grain) {
    std::size_t rest = m;
    for (const std::size_t p : {2, 3, 5, 7}) {
      while (rest % p == 0) rest /= p;
    }
    if (rest == 1) lengths.push_back(m);
    if (lengths.size() == 3) break;
  }
  if (std::find(lengths.begin(), lengths.end(), power) == lengths.end()) lengths.push_back(power);
  return lengths;
}

void list_bluestein(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  double efficiency = 0.4;
  for (const std::size_t padded : padded_lengths(problem.length)) {
    PassDesign plain = plain_pass(problem);
    real_sides(problem, plain);
    plain.method = PrimeMethod::bluestein;
    plain.length = padded;
    plain.load.valid = problem.length;
    if (plain.store.valid == 0) plain.store.valid = problem.length;
    if (plain.load_order != plain.store_order) plain.load_order = plain.store_order = Order::points;
    add_one_kernel(device, problem, plain, "bluestein", efficiency, routes);
  }
}

// `extent` is how many points of the axis the table has: half a spectrum is shorter than the line.
FactorTable with_chirp(const FactorTable& table, const Address& at, const AxisProblem& problem, bool conjugate,
                       std::size_t extent) {
  std::vector<std::complex<double>> values = chirp(problem.length);
  if (conjugate) {
    for (auto& value : values) value = std::conj(value);
  }
  FactorTable result;
  if (table.kind() == FactorKind::none) {
    result.complex = std::move(values);
    return result;
  }
  const std::size_t count = std::max(table.real.size(), table.complex.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::complex<double> own = table.complex.empty() ? table.real[i] : table.complex[i];
    result.complex.push_back(own * values[i / at.point % extent]);
  }
  return result;
}

// Two whole transforms of the padded length, with chirp and filter on their loads and stores.
void list_long_bluestein(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  const bool real = problem.kind == Kind::real, inverse = problem.direction == Direction::inverse;
  const std::size_t n = problem.length;
  constexpr std::size_t kShortest = 1024;
  if (n < kShortest) {
    routes.push_back({.candidate = {.variant = "long_bluestein", .refusal = "lines this short are done in one kernel"},
                      .steps = {}});
    return;
  }
  double efficiency = 0.8;
  std::string refusal = "no padded length that fits";
  bool any = false;
  for (const std::size_t padded : padded_lengths(n)) {
    const auto all_factors = pass_factors(padded, 2, 4096);
    std::vector<std::vector<std::size_t>> tried(
        all_factors.begin(),
        all_factors.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(all_factors.size())));
    if (tried.empty()) {
      const auto three = pass_factors(padded, 3, 1024);
      if (!three.empty()) tried.push_back(three.front());
    }
    for (const auto& factors : tried) {
      Route route;
      route.outer = problem.counts.back();
      Split first{.factors = factors, .width = 8, .to = Place::work, .load_valid = n};
      Split second{
          .factors = factors, .width = 8, .from = Place::work, .store_valid = real && !inverse ? n / 2 + 1 : n};
      AxisProblem there = problem;
      there.kind = Kind::complex;
      there.direction = Direction::forward;
      there.length = padded;
      there.in_place = false;
      there.out = packed_lines(problem, padded);
      there.store = {};
      there.scale = 1;
      AxisProblem back = there;
      back.direction = Direction::inverse;
      back.samples = Samples::same;
      back.in = there.out;
      back.out = problem.out;
      back.load_at = {.point = 1, .line = std::vector<std::uint64_t>(problem.counts.size(), 0)};
      back.load = {.later = [n, padded, inverse] {
        auto filter = chirp_filter(n, padded);
        if (inverse) {
          for (auto& value : filter) value = std::conj(value);
        }
        return filter;
      }};
      back.store = with_chirp(problem.store, problem.store_at, problem, inverse, second.store_valid);
      if (problem.store.kind() == FactorKind::none) {
        for (auto& value : back.store.complex) value *= problem.scale;
        back.store_at = {.point = 1, .line = std::vector<std::uint64_t>(problem.counts.size(), 0)};
      }
      if (real && inverse) {
        SpectrumDesign spectrum{.change = SpectrumChange::mirror,
                                .float64 = problem.float64,
                                .length = n,
                                .counts = problem.counts,
                                .in = problem.in,
                                .out = packed_lines(problem, n),
                                .factor = problem.load.kind(),
                                .factor_at = problem.load_at};
        there.in = spectrum.out;
        there.load = {};
        first.from = Place::spare;
        second.store = Values::reals;
        route.steps.push_back({.design = spectrum,
                               .from = Place::input,
                               .to = Place::spare,
                               .lines = inner_lines(problem),
                               .from_stride = problem.in.line.back(),
                               .to_stride = spectrum.out.line.back(),
                               .load = problem.load});
        route.spare = n * inner_lines(problem);
      } else if (real) {
        first.load = Values::reals;
      }
      const bool own_factors = there.load.kind() != FactorKind::none;
      there.load = with_chirp(there.load, problem.load_at, problem, inverse, n);
      if (!own_factors) there.load_at = {.point = 1, .line = std::vector<std::uint64_t>(problem.counts.size(), 0)};
      const SplitResult forth = split_passes(device, there, first, route.steps);
      const SplitResult home = forth.refusal.empty() ? split_passes(device, back, second, route.steps) : forth;
      if (!home.refusal.empty()) {
        refusal = home.refusal;
        continue;
      }
      route.scratch = std::max(forth.between, home.between);
      route.work = padded * inner_lines(problem);
      route.candidate = described(problem, "long_bluestein", route.steps, efficiency);
      route.candidate.parameters.insert(route.candidate.parameters.begin(),
                                        {"factors", fmt::format("{}", fmt::join(factors, "x"))});
      efficiency *= 0.96;
      routes.push_back(std::move(route));
      any = true;
    }
  }
  if (!any) routes.push_back({.candidate = {.variant = "long_bluestein", .refusal = refusal}, .steps = {}});
}

}  // namespace

void list_primes(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  if (has_butterflies(problem.length)) {
    // Butterflies alone always win; a convolution is only worth knowing where a line is asked for by name.
    routes.push_back(
        {.candidate = {.variant = "bluestein", .refusal = "the length has butterflies of its own"}, .steps = {}});
    return;
  }
  list_rader(device, problem, routes);
  list_bluestein(device, problem, routes);
  list_long_bluestein(device, problem, routes);
}

}  // namespace ridge::fft::on_device
