// Builds updates and initial grids of the stencil benchmark.
#include "bench/stencil.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <ridge/stencil/problems.hpp>

#include "base/threads.hpp"
#include "stencil/problems/scenario.hpp"
#include "stencil/time_levels.hpp"
#include "stencil/trials.hpp"
#include "stencil/variant.hpp"

namespace ridge::cli {
namespace {

// Weights with sum one, so that values neither grow nor decay over many steps.
PlainStencil with_weights(PlainStencil stencil) {
  const double others = static_cast<double>(offsets_of(stencil).size() - 1);
  stencil.centre = 0.5;
  stencil.other = 0.5 / others;
  return stencil;
}

template <class T>
stencil::Update<T> sum_of(const PlainStencil& stencil, std::size_t axes) {
  std::vector<stencil::Term> terms;
  for (const stencil::Offset& offset : offsets_of(stencil)) {
    const bool centre = offset == stencil::Offset{};
    terms.push_back({.offset = offset, .weight = centre ? stencil.centre : stencil.other});
  }
  return stencil::linear<T>(axes, terms);
}

// Well below the stability limit, for cells of size 1.
constexpr double kCourant = 0.5;

template <class T>
stencil::Update<T> update_of_system(const StencilSystem& system) {
  const std::vector<double> spacing(system.dimensions, 1.0);
  const double dt = kCourant / std::sqrt(static_cast<double>(system.dimensions));
  if (system.name == "wave") return stencil::wave<T>({.dt = dt, .spacing = spacing});
  if (system.name == "acoustic")
    return stencil::acoustic<T>({.dt = dt, .spacing = spacing, .accuracy = system.accuracy});
  if (system.name == "maxwell") return stencil::maxwell<T>({.dt = dt});
  return stencil::euler<T>({.dt = 0.05});
}

template <class T, class Value>
void fill_cells(stencil::Grid<T>& grid, const Value& value) {
  const std::uint64_t seed = std::random_device()();
  const std::size_t cells = grid.cells();
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const auto mine = base::share(grid.all().size(), thread, threads);
    for (std::size_t i = mine.begin; i < mine.end; ++i)
      grid.all()[i] = static_cast<T>(value(i / cells, stencil::random_share(seed, i)));
  });
}

// Initial state: a physically valid gas, small contrasts of media, otherwise values from 0 to 1.
template <class T>
void fill_system(const StencilSystem& system, StencilProblem<T>& made) {
  if (system.name == "euler") {
    fill_cells(made.grid, [](std::size_t field, double share) {
      constexpr double kMiddle[4] = {1, 0.1, -0.1, 2.5};
      return kMiddle[field] + 0.1 * (share - 0.5);
    });
  } else {
    fill_cells(made.grid, [](std::size_t, double share) { return share; });
  }
  if (made.update.coefficients == 0) return;
  made.coefficients = std::make_unique<stencil::Grid<T>>(made.grid.shape(), made.update.coefficients);
  const double squared = kCourant * kCourant / static_cast<double>(system.dimensions);
  const bool maxwell = system.name == "maxwell";
  fill_cells(*made.coefficients, [&](std::size_t field, double share) {
    if (maxwell) return field == 0 ? 1.0 : std::sqrt(squared) * (1 - 0.5 * share);
    return squared * (1 - 0.5 * share);
  });
}

template <class T>
double least_values_of(const stencil::Update<T>& update) {
  const stencil::TimeLevels levels = stencil::time_levels(stencil::flatten(update.outputs));
  const auto remembered = static_cast<double>(std::count(levels.is_older.begin(), levels.is_older.end(), true));
  return 2 * static_cast<double>(update.fields) - remembered + static_cast<double>(update.coefficients);
}

std::vector<std::size_t> depths_of_all(const std::vector<planner::Candidate>& candidates) {
  std::vector<std::size_t> depths;
  for (const planner::Candidate& candidate : candidates) {
    if (candidate.refusal.empty()) depths.push_back(stencil::depth_of(candidate));
  }
  return depths;
}

}  // namespace

std::vector<stencil::Offset> offsets_of(const PlainStencil& stencil) {
  return stencil.box ? stencil::moore(stencil.dimensions, stencil.order)
                     : stencil::von_neumann(stencil.dimensions, stencil.order);
}

std::optional<StencilSystem> stencil_system(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon), order = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const char* known : {"wave", "acoustic", "euler", "maxwell"}) {
    for (const std::size_t dimensions : {1, 2, 3}) {
      if (name != fmt::format("{}{}d", known, dimensions)) continue;
      const bool plane = known == std::string("euler") || known == std::string("maxwell");
      const bool orders = known == std::string("acoustic");
      if (plane && dimensions != 2) return std::nullopt;
      if (!order.empty() && (!orders || (order != "2" && order != "4" && order != "6" && order != "8")))
        return std::nullopt;
      return StencilSystem{known, dimensions, orders ? (order.empty() ? 8 : order[0] - '0') : 2};
    }
  }
  return std::nullopt;
}

template <class T>
StencilProblem<T> stencil_problem(const StencilBench& wanted, const Device& device) {
  const auto system = stencil_system(wanted.system);
  const PlainStencil plain = system ? PlainStencil{} : with_weights(wanted.stencil);
  stencil::Update<T> update = system ? update_of_system<T>(*system) : sum_of<T>(plain, wanted.shape.size());
  const std::size_t fields = update.fields, coefficients = update.coefficients;
  // With its type named: g++ 12 destroys a nested aggregate without it twice if a later initializer throws.
  StencilProblem<T> made{
      .plain = plain,
      .update = std::move(update),
      .problem = stencil::Problem{.shape = wanted.shape,
                                  .borders = stencil::parse_borders(wanted.border, wanted.shape.size()),
                                  .threads = wanted.threads,
                                  .leap = stencil::LeapUse::never,  // measures single steps
                                  .schedule = stencil::parse_schedule(wanted.schedule)},
      .grid = stencil::Grid<T>({1})};
  std::vector<std::size_t> shape = wanted.shape;
  if (!device.is_host()) {
    made.repeated_steps =
        stencil::compared_steps(depths_of_all(stencil::candidates(device, made.update, made.problem)));
    const stencil::RepeatedGrid<T> repeated(device, stencil::resolve(made.update, made.problem), made.repeated_steps);
    if (repeated.pays()) {
      made.repeated = repeated;
      shape = repeated.small_shape();
    }
  }
  double cells = 1;
  for (const std::size_t side : shape) cells *= static_cast<double>(side);
  check_host_memory(cells * static_cast<double>((2 * fields + coefficients) * sizeof(T)));
  made.grid = stencil::Grid<T>(shape, fields);
  if (system) {
    fill_system(*system, made);
  } else {
    fill_cells(made.grid, [](std::size_t, double share) { return share; });
  }
  if (made.repeated) made.repeated->repeat(made.grid);
  if (made.repeated && made.coefficients) made.repeated->repeat(*made.coefficients);
  made.least_values = least_values_of(made.update);
  return made;
}

template StencilProblem<float> stencil_problem(const StencilBench&, const Device&);
template StencilProblem<double> stencil_problem(const StencilBench&, const Device&);

}  // namespace ridge::cli
