// Routes rader and bluestein: lengths with a large prime factor as convolutions in one kernel.
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/pass/exchange_layout.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/route.hpp"
#include "fft/host/prime/numbers.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kMostConvolutions = 4;

// Real lines: zero imaginary parts on one side, half a spectrum on the other.
void real_line_sides(const AxisProblem& problem, PassDesign& pass) {
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

// Expected cost of a convolution's design: points of both transforms, bank conflicts, and a penalty for a single group
// per compute unit.
double score(const PassDesign& design) {
  const double price = plan_price(design.length, design.radices, design.threads);
  const double alone = design.resident == 1 && design.threads > 128 ? 1.25 : 1;
  return static_cast<double>(design.length) * price * (0.7 + 0.3 * conflicts(design)) * alone;
}

// Routes of one kernel for each of several designs, best first.
void add_one_kernel(const AxisProblem& problem, std::vector<PassDesign> designs, const char* name, double efficiency,
                    std::vector<Route>& routes) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < designs.size(); ++i) order.emplace_back(score(designs[i]), i);
  std::sort(order.begin(), order.end());
  for (const auto& [price, i] : order) {
    const PassDesign& design = designs[i];
    Route route = one_step(problem, pass_step(design), design.load.at.line.back(), design.store.at.line.back());
    route.candidate = described(problem, name, route.steps, efficiency);
    // Sorted by this cost, not by operations.
    route.candidate.cost.flops = 0;
    efficiency *= 0.97;
    routes.push_back(std::move(route));
  }
}

bool contiguous(const AxisProblem& problem, const Address& at) {
  return at.point == 1 && problem.counts.size() == 1 && at.line[0] == problem.length;
}

void list_rader(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  const auto refuse = [&](const char* why) { routes.push_back(refused("rader", why)); };
  if (!prime::is_prime(problem.length)) return refuse("needs a prime length");
  if (!has_butterflies(problem.length - 1))
    return refuse("needs a prime p whose p - 1 has only prime factors with a butterfly: see bluestein");
  if (problem.kind == Kind::real || problem.samples != Samples::same)
    return refuse("needs complex float or double data");
  if (problem.float16()) return refuse("needs float or double storage, got 16-bit floats");
  if (!contiguous(problem, problem.in) || !contiguous(problem, problem.out)) {
    return refuse("needs contiguous lines, not adjacent columns");
  }
  PassDesign plain = plain_pass(problem);
  plain.kind = Convolution{.method = Convolution::rader};
  plain.length = problem.length - 1;
  plain.load.staged = plain.store.staged = true;
  std::string refusal;
  std::vector<PassDesign> designs = fitted(device, plain, 0, kMostConvolutions, refusal);
  if (designs.empty()) return refuse(refusal.c_str());
  add_one_kernel(problem, std::move(designs), "rader", 0.5, routes);
}

void list_bluestein(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  std::vector<PassDesign> all;
  std::string refusal;
  for (const std::size_t padded : padded_lengths(problem.length)) {
    PassDesign plain = plain_pass(problem);
    real_line_sides(problem, plain);
    plain.kind = Convolution{.method = Convolution::bluestein};
    plain.length = padded;
    plain.load.valid = problem.length;
    if (plain.store.valid == 0) plain.store.valid = problem.length;
    if (plain.load_order != plain.store_order) plain.load_order = plain.store_order = Order::points;
    std::string why;
    const std::vector<PassDesign> designs = fitted(device, plain, 0, kMostConvolutions, why);
    all.insert(all.end(), designs.begin(), designs.end());
    if (refusal.empty()) refusal = why;
  }
  if (all.empty()) {
    routes.push_back(refused("bluestein", refusal));
    return;
  }
  add_one_kernel(problem, std::move(all), "bluestein", 0.46, routes);
}

void list_rader_bluestein(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  if (has_butterflies(problem.length)) {
    // Butterflies alone are always faster; convolutions are listed only if requested by name.
    routes.push_back(refused("bluestein", "the length has only prime factors with a butterfly: see one_pass"));
    return;
  }
  list_rader(device, problem, routes);
  list_bluestein(device, problem, routes);
}

}  // namespace

extern const RouteFamily kRaderBluestein{.variants = {"rader", "bluestein"}, .list = list_rader_bluestein};

}  // namespace ridge::fft::on_device
