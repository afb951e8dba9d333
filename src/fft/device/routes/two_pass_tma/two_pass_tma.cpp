// Route two_pass_tma: two passes over memory whose tiles fill a compute unit; the next tile is fetched by TMA while the
// current one is transformed (Hopper). The intermediate data are stored in the second pass's tiles, each contiguous.
#include "fft/device/routes/two_pass_tma/two_pass_tma.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include "fft/device/pass/step.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/occupancy.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/problem/split.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kTmaFactorsTried = 2;
constexpr std::size_t kShortestColumns = 256;
constexpr std::size_t kShortestTma = std::size_t{1} << 18;  // l2_ring is faster for shorter lengths

struct TmaShape {
  TileShape tile;
  bool maps_output;  // the last pass stores its tiles by TMA too
};
constexpr TmaShape kTmaShapes[] = {{{16384, 512, 1}, true}, {{16384, 512, 1}, false}, {{8192, 512, 2}, true}};

// True if the lines are adjacent columns of an array with even strides, or of a batch of such arrays.
bool are_even_columns(const AxisProblem& problem) {
  const auto columns = [&](const Address& at) {
    return at.point > 1 && at.point % 2 == 0 && at.line.front() == 1 && at.line.size() <= 2 &&
           (at.line.size() == 1 || at.line[1] % 2 == 0);
  };
  return columns(problem.in) && columns(problem.out);
}

}  // namespace

std::string tiles_refusal(const Device& device, const AxisProblem& problem) {
  if (!device.limits().tensor_maps) return "needs TMA tensor copies: CUDA on Hopper or later";
  if (problem.kind == Kind::real || problem.samples != Samples::same) return "needs complex float or double data";
  if (problem.float16()) return "needs float or double storage, got 16-bit floats";
  const auto apart = [&](const Address& at) {  // copies must start at multiples of 16 bytes
    return at.point == 1 && at.line.size() == 1 && at.line[0] >= problem.length && at.line[0] % 2 == 0;
  };
  const bool rows = apart(problem.in) && apart(problem.out);
  return rows || are_even_columns(problem) ? ""
                                           : "needs contiguous lines with an even batch stride, or adjacent columns";
}

std::string shape_tile(const Device& device, PassDesign& pass, const TileShape& shape) {
  constexpr std::size_t kMostLines = 128;  // numbers that a copy can take from a row
  const std::size_t lines = shape.points / pass.length;
  if (shape.points % pass.length != 0 || lines > kMostLines || shape.items % lines != 0 ||
      pass.counts.front() % lines != 0) {
    return fmt::format("no whole tiles of {} points", shape.points);
  }
  const std::size_t threads = shape.items / lines, held = shape.points / shape.items;
  for (const RadixPlan& plan : radix_plans(pass.length, {.most_threads = threads, .most_held = held})) {
    if (plan.threads != threads) continue;
    pass.radices = plan.radices;
    pass.threads = threads;
    pass.ahead = true;
    pass.load.mapped = pass.load.at.point != lines;  // otherwise one contiguous run
    if (std::string reason = fit(device, pass, lines); !reason.empty()) return reason;
    pass.split = true;
    pass.resident = pass.float64 ? 1 : shape.resident;
    return {};
  }
  return fmt::format("no radices of {} points for {} work-items", pass.length, threads);
}

namespace {

// Splits one batch dimension in two: `width` neighbours, and the index of their set.
void divide_first_dimension(PassDesign& pass, std::uint64_t width) {
  const std::uint64_t sets = pass.counts.front() / width;
  pass.counts.front() = width;
  pass.counts.insert(pass.counts.begin() + 1, sets);
  for (Address* at : {&pass.load.at, &pass.store.at, &pass.load.factor_at, &pass.store.factor_at, &pass.load.valid_at,
                      &pass.store.valid_at}) {
    if (!at->line.empty()) at->line.insert(at->line.begin() + 1, at->line.front() * width);
  }
}

}  // namespace

bool between_in_tiles(PassDesign& first, PassDesign& second, const TileShape& shape) {
  const std::uint64_t width = shape.points / second.length, columns = shape.points / first.length;
  if (width == 0 || columns == 0 || second.length % columns != 0 || first.length % width != 0) return false;
  // Row k of the second pass, `width` rows per tile, point c: at k / width * (width * N2) + c * width + k % width.
  first.store.at.point = 1;
  first.store.at.line.front() = width;
  first.store.block = width;
  first.store.block_step = width * second.length;
  // The 32 work-items of a warp write contiguous data if their columns' points fill whole blocks.
  first.store_order = columns * width <= 32 ? Order::lines : Order::points;
  second.load.at.line.front() = 1;
  second.load.at.point = width;
  divide_first_dimension(second, width);
  second.load.at.line[1] = width * second.length;
  second.load_order = second.store_order = Order::lines;
  return true;
}

namespace {

// Lines of each pass that fill a tile; none if accesses would be too narrow.
bool tiles_serve(const std::vector<std::size_t>& factors, const TileShape& shape, const AxisProblem& problem) {
  const std::size_t least = problem.float64 ? 2 : 4, most = 32;
  return std::all_of(factors.begin(), factors.end(), [&](std::size_t factor) {
    return shape.points % factor == 0 && shape.points / factor >= least && shape.points / factor <= most &&
           shape.items % (shape.points / factor) == 0;
  });
}

std::string add_route(const Device& device, const AxisProblem& problem, const std::vector<std::size_t>& factors,
                      const TmaShape& shape, double efficiency, std::vector<Route>& routes) {
  SplitPlaces places;
  std::vector<PassDesign> passes = split_designs(problem, {.factors = factors}, places);
  PassDesign &first = passes[0], &second = passes[1];
  if (!between_in_tiles(first, second, shape.tile)) return "needs factors that are multiples of the tile width";
  second.store.mapped = shape.maps_output;
  for (PassDesign* pass : {&first, &second}) {
    if (std::string reason = shape_tile(device, *pass, shape.tile); !reason.empty()) return reason;
  }
  Route route;
  route.outer = problem.counts.back();
  route.scratch = places.between;
  route.steps.push_back({.design = pass_step(first),
                         .from = Place::input,
                         .to = Place::scratch,
                         .lines = inner_lines(problem) * factors[1],
                         .from_stride = problem.in.line.back(),
                         .to_stride = places.step,
                         .load = problem.load});
  route.steps.push_back({.design = pass_step(second),
                         .from = Place::scratch,
                         .to = Place::output,
                         .lines = inner_lines(problem) * factors[0],
                         .from_stride = places.step,
                         .to_stride = problem.out.line.back(),
                         .store = problem.store});
  route.candidate = described(problem, "two_pass_tma", route.steps, efficiency);
  route.candidate.parameters.insert(route.candidate.parameters.begin(),
                                    {"factors", fmt::format("{}", fmt::join(factors, "x"))});
  route.candidate.parameters.emplace_back("tiles", shape.maps_output ? "in,out" : "in");
  routes.push_back(std::move(route));
  return {};
}

// Columns of arrays in one pass: tiles are loaded and stored by TMA.
std::string add_columns(const Device& device, const AxisProblem& problem, const TmaShape& shape, double efficiency,
                        std::vector<Route>& routes) {
  PassDesign pass = plain_pass(problem);
  Route route;
  route.outer = problem.counts.back();
  std::uint64_t lines = inner_lines(problem);
  if (problem.counts.size() == 1) {  // one array
    std::swap(route.outer, lines);
    pass.counts.push_back(1);
    pass.load.at.line.push_back(problem.in.point * problem.length);
    pass.store.at.line.push_back(problem.out.point * problem.length);
  }
  if (std::string reason = shape_tile(device, pass, shape.tile); !reason.empty()) return reason;
  pass.load.mapped = true;
  pass.store.mapped = shape.maps_output;
  if (pass.lines < (problem.float64 ? 2 : 4))
    return fmt::format("needs tiles of at least 32 bytes per row, columns of {} points leave {} columns per tile",
                       problem.length, pass.lines);
  route.steps.push_back({.design = pass_step(pass),
                         .from = Place::input,
                         .to = Place::output,
                         .lines = lines,
                         .from_stride = pass.load.at.line.back(),
                         .to_stride = pass.store.at.line.back(),
                         .load = problem.load,
                         .store = problem.store});
  const bool narrow = pass.lines * (problem.float64 ? 16 : 8) < 64;
  route.candidate = described(problem, "two_pass_tma", route.steps, efficiency * (narrow ? 0.68 : 1));
  route.candidate.parameters.emplace_back("tiles", shape.maps_output ? "in,out" : "in");
  routes.push_back(std::move(route));
  return {};
}

void list_two_pass_tma(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  std::string why = tiles_refusal(device, problem);
  std::size_t found = 0;
  if (why.empty() && are_even_columns(problem)) {
    if (problem.length < kShortestColumns)
      why = fmt::format("needs columns of at least {} points, got {}: see one_pass", kShortestColumns, problem.length);
    for (const TmaShape& shape : kTmaShapes) {
      if (problem.length < kShortestColumns) break;
      // Listed before one_pass without prefetching from 1024 points on (H200, us: 292 and 320, 2048 points 311 and
      // 383); for shorter columns among the first few: in place 289 and 316, out of place 280 and 277.
      const double efficiency = (problem.length >= 1024 ? 0.93 : 0.905) * (1 - 0.02 * static_cast<double>(found));
      why = add_columns(device, problem, shape, efficiency, routes);
      if (why.empty()) ++found;
    }
  } else if (why.empty() && problem.length < kShortestTma) {
    why = fmt::format("needs at least {} points, got {}: see l2_ring", kShortestTma, problem.length);
  } else if (why.empty()) {
    why = "needs two factors whose tiles fill a compute unit";
    for (const TmaShape& shape : kTmaShapes) {
      std::size_t tried = 0;
      for (const auto& factors : pass_factors(problem.length, 2, shape.tile.points)) {
        if (tried == kTmaFactorsTried) break;
        if (!tiles_serve(factors, shape.tile, problem)) continue;
        const double efficiency = 0.9 * (1 - 0.02 * static_cast<double>(found));
        const std::string reason = add_route(device, problem, factors, shape, efficiency, routes);
        if (reason.empty()) {
          ++found;
          ++tried;
        } else {
          why = reason;
        }
      }
    }
  }
  if (found == 0) routes.push_back(refused("two_pass_tma", why));
}

}  // namespace

extern const RouteFamily kTwoPassTma{.variants = {"two_pass_tma"}, .list = list_two_pass_tma};

}  // namespace ridge::fft::on_device
