// The list of route families, and the search for a route by its name.
#include "fft/device/route.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ridge::fft::on_device {

// One line per family of routes, defined in its file; comments: complex points per line. A plain list: linkers drop
// self-registration from static libraries.
// clang-format off
std::span<const RouteFamily* const> route_families() {
  static const std::vector<const RouteFamily*> all = [] {
    std::vector<const RouteFamily*> list;
    extern const RouteFamily kOnePass; list.push_back(&kOnePass);  // up to 2^14 floats (H200)
    extern const RouteFamily kCluster; list.push_back(&kCluster);  // Hopper: 2^14 to 2^17
    extern const RouteFamily kL2Ring; list.push_back(&kL2Ring);  // CUDA: from 2^16 on
    extern const RouteFamily kTwoPassTma; list.push_back(&kTwoPassTma);  // Hopper: two launches
    extern const RouteFamily kRealTwoPass; list.push_back(&kRealTwoPass);  // even real lines in two launches
    extern const RouteFamily kRealRing; list.push_back(&kRealRing);  // CUDA: even real lines in one launch
    extern const RouteFamily kMultiPass; list.push_back(&kMultiPass);  // two to four launches on any device
    extern const RouteFamily kRaderBluestein; list.push_back(&kRaderBluestein);  // lengths with large primes
    extern const RouteFamily kLongBluestein; list.push_back(&kLongBluestein);  // any other length
    extern const RouteFamily kPapers; list.push_back(&kPapers);  // published algorithms, only by name
    return list;
  }();
  return all;
}
// clang-format on

namespace {

bool owns(const RouteFamily& family, const std::string& variant) {
  return std::ranges::any_of(family.variants, [&](std::string_view name) {
    if (name.empty()) return false;
    if (!name.ends_with('/')) return variant == name;
    return variant.starts_with(name) || variant + '/' == name;
  });
}

}  // namespace

std::vector<Route> list_routes(const Device& device, const AxisProblem& problem, const std::string& wanted,
                               std::span<const RouteFamily* const> families) {
  std::vector<Route> routes;
  const std::string variant = wanted.substr(0, wanted.find('('));
  for (const RouteFamily* family : families) {
    if (family->list_named == nullptr || !owns(*family, variant)) continue;
    family->list_named(device, problem, wanted, routes);
    return routes;
  }
  for (const RouteFamily* family : families) {
    if ((problem.kept > 0 && !family->keeps_part) || (problem.folded > 0 && !family->folds) ||
        (problem.boxed && !family->boxes)) {
      continue;
    }
    if (family->list != nullptr) family->list(device, problem, routes);
  }
  // Two routes to the same kernel are listed once.
  std::vector<Route> distinct;
  std::set<std::string> names;
  for (Route& route : routes) {
    if (names.insert(route.candidate.name()).second) distinct.push_back(std::move(route));
  }
  expect_small(device, problem, distinct);
  return distinct;
}

std::optional<Route> route_named(const Device& device, const AxisProblem& problem, const std::string& name,
                                 std::span<const RouteFamily* const> families) {
  const std::string variant = name.substr(0, name.find('('));
  const auto family = std::ranges::find_if(families, [&](const RouteFamily* one) { return owns(*one, variant); });
  if (family == families.end()) return std::nullopt;
  std::vector<Route> routes;
  const auto named = (*family)->find != nullptr ? (*family)->find : (*family)->list_named;
  named != nullptr ? named(device, problem, name, routes) : (*family)->list(device, problem, routes);
  for (Route& route : routes) {
    if (route.candidate.refusal.empty() && route.candidate.name() == name) return std::move(route);
  }
  return std::nullopt;
}

}  // namespace ridge::fft::on_device
