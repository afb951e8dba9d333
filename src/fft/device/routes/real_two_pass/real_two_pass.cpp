// Route real_two_pass: even real lengths too long for one group, in two passes over memory: columns of pairs, then rows
// whose store computes the spectrum of the samples (pass/text/mirrored_rows_codegen.cpp). Row 0 alone takes two small
// passes.
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/pass/step.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/problem/split.hpp"
#include "fft/device/route.hpp"
#include "fft/device/spectrum.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kShortestReal = 1024, kRealFactorsTried = 3, kMostHeld = 16;

std::string refusal(const AxisProblem& problem) {
  if (problem.kind != Kind::real || problem.length % 2 != 0) return "needs real data of even length";
  if (problem.direction == Direction::inverse) return "needs a forward transform, got inverse: see two_pass";
  if (problem.store_storage != Storage::same)
    return "needs float or double output, got 16-bit floats: the first row is rounded twice";
  if (problem.length / 2 < kShortestReal) {
    return fmt::format("needs at least {} samples, got {}: see one_pass", 2 * kShortestReal, problem.length);
  }
  if (!has_butterflies(problem.length / 2)) return "needs prime factors with a butterfly: see bluestein";
  if (order_of(problem.in) == Order::lines || order_of(problem.out) == Order::lines) {
    return "needs batch strides of at least the point stride, in input and output";
  }
  return {};
}

void drop_first_dimension(PassDesign& design) {
  design.counts.erase(design.counts.begin());
  for (Address* at : {&design.load.at, &design.store.at, &design.load.factor_at, &design.store.factor_at}) {
    if (!at->line.empty()) at->line.erase(at->line.begin());
  }
  for (PassSide* side : {&design.load, &design.store}) side->valid_at = {};
}

std::string two_passes(const Device& device, const AxisProblem& problem, const std::vector<std::size_t>& factors,
                       std::size_t width, Route& route) {
  AxisProblem pairs = problem;
  pairs.kind = Kind::complex;
  pairs.length = problem.length / 2;
  SplitPlaces places;
  const std::vector<PassDesign> plain = split_designs(pairs, {.factors = factors, .load = Values::pairs}, places);
  PassDesign columns = plain[0], rows = plain[1];
  const std::uint64_t n1 = factors[0], n2 = factors[1];
  if (!places.apart || rows.counts.front() != n1 || n1 < 3)
    return "needs lines that are stored separately, not interleaved";
  PassDesign first_row = rows;
  drop_first_dimension(first_row);
  first_row.store.factor = FactorKind::none;
  first_row.scale = 1;
  first_row.store_order = first_row.load_order;
  rows.kind = MirroredRows{.rows = n1};
  rows.counts.front() = n1 / 2;
  rows.twiddle = Twiddle{.order = problem.length, .columns = ~std::uint64_t{0}, .column = {}};

  std::string why;
  const auto fit_one = [&](PassDesign& design, std::size_t lines, std::size_t held) {
    const auto designs = fitted(device, design, lines, 1, why, held);
    if (!designs.empty()) design = designs.front();
    return !designs.empty();
  };
  if (!fit_one(columns, width, 0) || !fit_one(rows, width, kMostHeld) || !fit_one(first_row, 0, kMostHeld)) return why;
  const SpectrumDesign first_values{.change = SpectrumChange::unpack,
                                    .float64 = problem.float64,
                                    .length = n2,
                                    .counts = problem.counts,
                                    .in = Address{.point = problem.out.point * n1, .line = problem.out.line},
                                    .out = Address{.point = problem.out.point * n1, .line = problem.out.line},
                                    .factor = problem.store.kind(),
                                    .factor_at = {.point = problem.store_at.point * n1, .line = problem.store_at.line},
                                    .scale = problem.scale};
  const std::uint64_t inner = inner_lines(problem);
  route.outer = problem.counts.back();
  route.scratch = places.between;
  route.steps = {{.design = pass_step(columns),
                  .from = Place::input,
                  .to = Place::scratch,
                  .lines = inner * n2,
                  .from_stride = problem.in.line.back(),
                  .to_stride = places.step,
                  .load = problem.load},
                 {.design = pass_step(rows),
                  .from = Place::scratch,
                  .to = Place::output,
                  .lines = inner * (n1 / 2),
                  .from_stride = places.step,
                  .to_stride = problem.out.line.back(),
                  .store = problem.store},
                 {.design = pass_step(first_row),
                  .from = Place::scratch,
                  .to = Place::output,
                  .lines = inner,
                  .from_stride = places.step,
                  .to_stride = problem.out.line.back()},
                 {.design = spectrum_step(first_values),
                  .from = Place::output,
                  .to = Place::output,
                  .lines = inner,
                  .from_stride = problem.out.line.back(),
                  .to_stride = problem.out.line.back(),
                  .load = problem.store}};
  return {};
}

void list_real_two_pass(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  std::string why = refusal(problem);
  bool any = false;
  if (why.empty()) {
    std::size_t tried = 0;
    double efficiency = 0.9;
    why = fmt::format("no factors of {} points have passes that fit the device", problem.length);
    for (const auto& factors : pass_factors(problem.length / 2, 2, 4096)) {
      if (tried == kRealFactorsTried) break;
      bool fits = false;
      for (const std::size_t width : {16, 8}) {
        Route route;
        why = two_passes(device, problem, factors, width, route);
        if (!why.empty()) continue;
        route.candidate = described(problem, "real_two_pass", route.steps, efficiency);
        route.candidate.parameters.insert(route.candidate.parameters.begin(),
                                          {"factors", fmt::format("{}", fmt::join(factors, "x"))});
        efficiency *= 0.98;
        routes.push_back(std::move(route));
        any = fits = true;
      }
      if (fits) ++tried;
    }
  }
  if (!any) routes.push_back(refused("real_two_pass", why));
}

}  // namespace

extern const RouteFamily kRealTwoPass{.variants = {"real_two_pass"}, .list = list_real_two_pass};

}  // namespace ridge::fft::on_device
