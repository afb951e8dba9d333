// Bluestein's method for lines too long for one kernel. Chirp and filter are applied by loads and stores. Either two
// whole transforms of the padded length, or three kernels whose middle one transforms the rows forward and inverse.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/pass/step.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/problem/split.hpp"
#include "fft/device/route.hpp"
#include "fft/device/routes/bluestein/chirp_tables.hpp"
#include "fft/device/spectrum.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kShortest = 1024;  // shorter lengths fit one kernel

// The table of the problem times the chirp, computed when the route is compiled. `extent`: number of points of the axis
// in the table; half a spectrum is shorter than the line. `scale` multiplies a chirp without a table: tables contain
// it.
FactorTable with_chirp(const FactorTable& table, const Address& at, const AxisProblem& problem, bool conjugate,
                       std::size_t extent, double scale) {
  FactorTable made;
  made.later = [table, n = problem.length, point = at.point, conjugate, extent, scale] {
    std::vector<std::complex<double>> values = chirp(n);
    const bool alone = table.kind() == FactorKind::none;
    for (auto& value : values) value = (conjugate ? std::conj(value) : value) * (alone ? scale : 1.0);
    if (alone) return values;
    std::vector<std::complex<double>> own = table.later ? table.later() : table.complex.all();
    if (own.empty()) own.assign(table.real.begin(), table.real.end());
    for (std::size_t i = 0; i < own.size(); ++i) own[i] *= values[i / point % extent];
    return own;
  };
  if (table.kind() == FactorKind::none && problem.length >= kShortestDeviceChirp) {
    made.on_device = [n = problem.length, conjugate, scale](const Device& device, bool float64) {
      return device_chirp(device, n, conjugate, scale, float64);
    };
  }
  return made;
}

// Forward and inverse transform, with the extra work of their first load and last store.
struct PaddedConvolution {
  AxisProblem to_spectrum, from_spectrum;
  Split first, second;
  std::vector<Step> before;  // steps that complete the spectrum of a real line
  std::uint64_t spare = 0;
};

PaddedConvolution convolution(const AxisProblem& problem, std::size_t padded, const std::vector<std::size_t>& factors) {
  const bool real = problem.kind == Kind::real, inverse = problem.direction == Direction::inverse;
  const std::size_t n = problem.length;
  const Address plain_table{.point = 1, .line = std::vector<std::uint64_t>(problem.counts.size(), 0)};
  PaddedConvolution result;
  result.first = {.factors = factors, .width = 8, .to = Place::work, .load_valid = n};
  result.second = {
      .factors = factors, .width = 8, .from = Place::work, .store_valid = real && !inverse ? n / 2 + 1 : n};
  AxisProblem& to_spectrum = result.to_spectrum;
  to_spectrum = problem;
  to_spectrum.kind = Kind::complex;
  to_spectrum.direction = Direction::forward;
  to_spectrum.length = padded;
  to_spectrum.in_place = false;
  to_spectrum.out = packed_lines(problem, padded);
  to_spectrum.store = {};
  to_spectrum.store_storage = Storage::same;
  to_spectrum.scale = 1;
  AxisProblem& from_spectrum = result.from_spectrum;
  from_spectrum = to_spectrum;
  from_spectrum.direction = Direction::inverse;
  from_spectrum.samples = Samples::same;
  from_spectrum.load_storage = Storage::same;
  from_spectrum.store_storage = problem.store_storage;
  from_spectrum.in = to_spectrum.out;
  from_spectrum.out = problem.out;
  from_spectrum.load = {};
  from_spectrum.load_at = plain_table;
  from_spectrum.store =
      with_chirp(problem.store, problem.store_at, problem, inverse, result.second.store_valid, problem.scale);
  from_spectrum.store_at = problem.store.kind() == FactorKind::none ? plain_table : problem.store_at;
  if (real && inverse) {
    const SpectrumDesign spectrum{.change = SpectrumChange::mirror,
                                  .float64 = problem.float64,
                                  .length = n,
                                  .counts = problem.counts,
                                  .in = problem.in,
                                  .out = packed_lines(problem, n),
                                  .factor = problem.load.kind(),
                                  .factor_at = problem.load_at,
                                  .storage = problem.load_storage};
    to_spectrum.load_storage = Storage::same;
    to_spectrum.in = spectrum.out;
    to_spectrum.load = {};
    result.first.from = Place::spare;
    result.second.store = Values::reals;
    result.before.push_back({.design = spectrum_step(spectrum),
                             .from = Place::input,
                             .to = Place::spare,
                             .lines = inner_lines(problem),
                             .from_stride = problem.in.line.back(),
                             .to_stride = spectrum.out.line.back(),
                             .load = problem.load});
    result.spare = n * inner_lines(problem);
  } else if (real) {
    result.first.load = Values::reals;
  }
  const bool own_factors = to_spectrum.load.kind() != FactorKind::none;
  to_spectrum.load = with_chirp(to_spectrum.load, problem.load_at, problem, inverse, n, 1);
  if (!own_factors) to_spectrum.load_at = plain_table;
  return result;
}

std::vector<std::complex<double>> filter_values(std::size_t n, std::size_t padded, bool conjugate) {
  auto filter = chirp_filter(n, padded);
  if (conjugate) {
    for (auto& value : filter) value = std::conj(value);
  }
  return filter;
}

// Table of the filter's spectrum: value k at k % columns * rows + k / columns.
FactorTable filter_table(const ChirpFilter& filter) {
  FactorTable table;
  table.later = [filter] {
    const auto values = filter_values(filter.points, filter.padded, filter.conjugate);
    auto by_rows = values;
    for (std::size_t k = 0; k < filter.padded; ++k)
      by_rows[k % filter.columns * filter.rows + k / filter.columns] = values[k];
    return by_rows;
  };
  if (filter.points >= kShortestDeviceChirp) {
    table.on_device = [filter](const Device& device, bool float64) {
      return device_chirp_filter(device, filter, float64);
    };
  }
  return table;
}

// Two whole transforms; the second one's load applies the filter.
std::string two_transforms(const Device& device, const AxisProblem& problem, std::size_t padded,
                           const std::vector<std::size_t>& factors, Route& route) {
  PaddedConvolution made = convolution(problem, padded, factors);
  const std::size_t n = problem.length;
  const bool inverse = problem.direction == Direction::inverse;
  made.from_spectrum.load =
      filter_table({.points = n, .padded = padded, .conjugate = inverse, .columns = padded, .rows = 1});
  route.steps = made.before;
  route.spare = made.spare;
  const SplitResult forward_passes = split_passes(device, made.to_spectrum, made.first, route.steps);
  if (!forward_passes.refusal.empty()) return forward_passes.refusal;
  const SplitResult inverse_passes = split_passes(device, made.from_spectrum, made.second, route.steps);
  route.scratch = std::max(forward_passes.between, inverse_passes.between);
  route.together = !forward_passes.apart || !inverse_passes.apart;
  route.work = padded * inner_lines(problem);
  return inverse_passes.refusal;
}

// The pass over columns of the inverse: the same pass as forward, with load and store exchanged.
PassDesign inverse_columns(const PaddedConvolution& made, SplitPlaces& places) {
  AxisProblem mirrored = made.from_spectrum;
  mirrored.in = made.from_spectrum.out;
  mirrored.load = made.from_spectrum.store;
  mirrored.load_at = made.from_spectrum.store_at;
  mirrored.store = {};
  mirrored.load_storage = made.from_spectrum.store_storage;
  mirrored.store_storage = Storage::same;
  Split sides = made.second;
  sides.load = made.second.store;
  sides.load_valid = made.second.store_valid;
  PassDesign up = split_designs(mirrored, sides, places).front();
  std::swap(up.load, up.store);
  up.twiddle.reset();
  up.direction = Direction::inverse;
  up.load_order = order_of(up.load.at);
  up.store_order = order_of(up.store.at);
  return up;
}

// The pass over rows, in place: transforms them, multiplies by the filter's spectrum and transforms them back.
PassDesign filtered_rows(const AxisProblem& problem, const PassDesign& down, std::size_t padded, std::size_t columns,
                         std::size_t rows) {
  PassDesign across = down;
  across.length = across.points = rows;
  across.samples = Samples::same;
  across.load = {};
  across.load.at = packed_lines(problem, padded);
  across.load.at.line.insert(across.load.at.line.begin(), rows);
  across.store = across.load;
  across.counts = problem.counts;
  across.counts.insert(across.counts.begin(), columns);
  across.in_place = true;
  across.load_order = across.store_order = Order::points;
  Convolution filter{.method = Convolution::filter};
  filter.filter_at = {.point = 1, .line = std::vector<std::uint64_t>(across.counts.size(), 0)};
  filter.filter_at.line[0] = rows;
  across.kind = std::move(filter);
  across.twiddle = Twiddle{.order = padded, .columns = columns, .column = {}};
  across.twiddle->column.line.assign(across.counts.size(), 0);
  across.twiddle->column.line[0] = 1;
  return across;
}

// Columns forward; rows forward, filter, rows inverse in place; columns inverse.
std::string three_kernels(const Device& device, const AxisProblem& problem, std::size_t padded,
                          const std::vector<std::size_t>& factors, Route& route) {
  if (order_of(problem.in) == Order::lines || order_of(problem.out) == Order::lines) {
    return "needs batch strides of at least the point stride, in input and output";
  }
  PaddedConvolution made = convolution(problem, padded, factors);
  const std::size_t n = problem.length, columns = factors[0], rows = factors[1];
  const bool inverse = problem.direction == Direction::inverse;
  SplitPlaces places;
  made.first.to = Place::scratch;
  PassDesign down = split_designs(made.to_spectrum, made.first, places).front();

  PassDesign up = inverse_columns(made, places);
  PassDesign across = filtered_rows(problem, down, padded, columns, rows);
  std::string refusal;
  const auto fit_one = [&](PassDesign& design, std::size_t lines) {
    const auto designs = fitted(device, design, lines, 1, refusal, lines > 0 ? 16 : 0);
    if (!designs.empty()) design = designs.front();
    return !designs.empty();
  };
  if (!fit_one(down, 8) || !fit_one(up, 8) || !fit_one(across, 0)) return refusal;
  const std::uint64_t inner = inner_lines(problem);
  route.steps = made.before;
  route.spare = made.spare;
  route.scratch = padded * inner;
  route.steps.push_back({.design = pass_step(down),
                         .from = made.first.from,
                         .to = Place::scratch,
                         .lines = inner * rows,
                         .from_stride = made.to_spectrum.in.line.back(),
                         .to_stride = places.step,
                         .load = made.to_spectrum.load});
  route.steps.push_back({.design = pass_step(across),
                         .from = Place::scratch,
                         .to = Place::scratch,
                         .lines = inner * columns,
                         .from_stride = places.step,
                         .to_stride = places.step,
                         .filter = filter_table(
                             {.points = n, .padded = padded, .conjugate = inverse, .columns = columns, .rows = rows})});
  route.steps.push_back({.design = pass_step(up),
                         .from = Place::scratch,
                         .to = Place::output,
                         .lines = inner * rows,
                         .from_stride = places.step,
                         .to_stride = problem.out.line.back(),
                         .store = made.from_spectrum.store});
  return {};
}

void list_long_bluestein(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  if (has_butterflies(problem.length)) return;  // butterflies alone are always faster
  const auto refuse = [&](const char* variant, const std::string& why) { routes.push_back(refused(variant, why)); };
  if (problem.length < kShortest)
    return refuse("long_bluestein",
                  fmt::format("needs at least {} points, got {}: see bluestein", kShortest, problem.length));
  const double element = problem.float64 ? 16 : 8;
  double efficiency = 0.8;
  std::string refusal = fmt::format("no padded length for {} points has passes that fit the device", problem.length);
  bool any = false;
  const auto add = [&](const char* name, Route route, const std::vector<std::size_t>& factors) {
    route.outer = problem.counts.back();
    route.candidate = described(problem, name, route.steps, efficiency);
    route.candidate.parameters.insert(route.candidate.parameters.begin(),
                                      {"factors", fmt::format("{}", fmt::join(factors, "x"))});
    efficiency *= 0.97;
    any = true;
    routes.push_back(route);
    if (route.together) return;
    // A few lines at a time, so that the intermediate data stay in L2.
    const double each = static_cast<double>(route.scratch + route.work) * element;
    const auto at_once = static_cast<std::uint64_t>(std::floor(24e6 / each));
    if (at_once < 1 || at_once * 2 > route.outer) return;
    route.at_once = at_once;
    route.candidate.parameters.emplace_back("at_once", std::to_string(at_once));
    route.candidate.cost.launches *= std::ceil(static_cast<double>(route.outer) / static_cast<double>(at_once));
    route.candidate.cost.bytes *= 0.85;
    routes.push_back(std::move(route));
  };
  for (const std::size_t padded : padded_lengths(problem.length)) {
    const auto two = pass_factors(padded, 2, 4096);
    bool fits = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(two.size(), 2); ++i) {
      Route fused, whole;
      refusal = three_kernels(device, problem, padded, two[i], fused);
      fits |= refusal.empty();
      if (refusal.empty()) add("fused_bluestein", std::move(fused), two[i]);
      if (i > 0) continue;
      refusal = two_transforms(device, problem, padded, two[i], whole);
      fits |= refusal.empty();
      if (refusal.empty()) add("long_bluestein", std::move(whole), two[i]);
    }
    if (fits) continue;
    const auto three = pass_factors(padded, 3, 1024);
    if (three.empty()) continue;
    Route whole;
    refusal = two_transforms(device, problem, padded, three.front(), whole);
    if (refusal.empty()) add("long_bluestein", std::move(whole), three.front());
  }
  if (!any) refuse("long_bluestein", refusal);
}

}  // namespace

extern const RouteFamily kLongBluestein{.variants = {"long_bluestein", "fused_bluestein"}, .list = list_long_bluestein};

}  // namespace ridge::fft::on_device
