// A route transforms one axis of a problem: steps in order and the arrays between them. A family of routes is one file
// that defines its RouteFamily, and one line in registry.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

#include "fft/device/problem/axis_problem.hpp"
#include "fft/device/step.hpp"
#include "plan/lister.hpp"

namespace ridge::fft::on_device {

struct Route {
  planner::Candidate candidate;
  std::vector<Step> steps;
  std::uint64_t outer = 1;    // size of the last batch dimension
  std::uint64_t at_once = 0;  // indices of the last batch dimension per launch; 0: all
  bool together = false;      // intermediate data interleave all lines, so the batch cannot be split
  std::uint64_t scratch = 0, work = 0, spare = 0;  // complex elements per index of the last batch dimension
};

// A family of routes.
struct RouteFamily {
  // Variant names, by which a family is found. A name that ends with a slash is a prefix.
  std::array<std::string_view, 4> variants = {};
  // Appends the routes worth trying, best expected first, or one refused route with the reason.
  planner::Lister<Route, AxisProblem>* list = nullptr;
  // Alternative for families that are listed only if `wanted` names them (the papers' variants).
  void (*list_named)(const Device& device, const AxisProblem& problem, const std::string& wanted,
                     std::vector<Route>& routes) = nullptr;
  // Appends the routes of `list` that may have this name, so that a known choice is found without making the others.
  void (*find)(const Device& device, const AxisProblem& problem, const std::string& name,
               std::vector<Route>& routes) = nullptr;
  bool keeps_part = false;  // supports problems that keep a part of the spectrum
  bool folds = false;       // supports rows of real arrays whose columns are pairs of reals
  bool boxes = false;       // supports lines of which only a part is stored
};

// Sets the name and the cost of a route from its steps.
planner::Candidate described(const AxisProblem& problem, const std::string& variant, const std::vector<Step>& steps,
                             double efficiency);

// True if the data are so few that they stay in L2 and that only small work-groups occupy every compute unit.
bool is_small(const Device& device, const AxisProblem& problem);
// Corrects the expected costs for a small problem: idle compute units, cheap traffic, short launches.
void expect_small(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);

// A route of one step, from input to output.
Route one_step(const AxisProblem& problem, std::shared_ptr<const StepDesign> design, std::uint64_t from_stride,
               std::uint64_t to_stride);

// A refused route with the reason.
Route refused(const std::string& variant, const std::string& why);

std::vector<KernelSource> kernels_of(const Route& route);
void add_to(std::vector<KernelSource>& all, std::vector<KernelSource> more);

// A compiled route: its kernels and its arrays.

class CompiledRoute {
 public:
  CompiledRoute(const Device& device, const Route& route, bool float64);

  // Calls from several threads are serialized if they share arrays. Offsets count elements of each side and must keep
  // 16-byte accesses aligned.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::uint64_t in_offset = 0,
               std::uint64_t out_offset = 0) const;
  const Route& route() const { return route_; }
  std::size_t scratch_bytes() const;
  std::string describe() const;  // "16*16*16, 256 work-items, 40 registers"

 private:
  struct Stage {
    std::unique_ptr<const CompiledStep> step;
    Place from, to;
    std::uint64_t lines, from_stride, to_stride;
  };
  const Buffer& at(Place place, const Buffer& in, const Buffer& out) const;

  Route route_;
  std::vector<Stage> stages_;
  std::uint64_t at_once_ = 1;
  bool writes_own_arrays_ = false;
  Buffer scratch_, work_, spare_;
  // Last user of the arrays, which another queue must wait for. An event is recorded only then: one per call makes
  // short calls slower. Streams of other libraries may be destroyed before that, so their event is recorded at once.
  mutable std::mutex mutex_;
  mutable std::optional<Queue> last_queue_;
  mutable Event last_;
};

// Families in the order in which their routes are listed.
std::span<const RouteFamily* const> route_families();

// All routes, best expected first, refusals included. Families that are listed by name only contribute what `wanted`
// names.
std::vector<Route> list_routes(const Device& device, const AxisProblem& problem, const std::string& wanted = {},
                               std::span<const RouteFamily* const> families = route_families());

// The route with that name and parameters, if the problem has it.
std::optional<Route> route_named(const Device& device, const AxisProblem& problem, const std::string& name,
                                 std::span<const RouteFamily* const> families = route_families());

}  // namespace ridge::fft::on_device
