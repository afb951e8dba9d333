// How one axis of a problem is transformed: steps in their order, and what lies between them. A family of routes is
// a file that defines its RouteFamily, and its line in registry.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

#include "fft/device/axis_problem.hpp"
#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

struct Route {
  planner::Candidate candidate;
  std::vector<Step> steps;
  std::uint64_t outer = 1;                         // values of the last digit
  std::uint64_t at_once = 0;                       // of them in one launch; 0: all
  bool together = false;                           // what lies between steps has lines side by side: all or none
  std::uint64_t scratch = 0, work = 0, spare = 0;  // complex elements for each value of the last digit
};

// Routes of one kind.
struct RouteFamily {
  // Of its candidates: by them a name finds its family. One that ends with a slash stands for all that begin with it.
  std::array<std::string_view, 4> variants = {};
  // Appends the routes worth trying, best expected first, or one that is refused with the reason.
  void (*list)(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) = nullptr;
  // Instead, for families that are listed only where `wanted` names them (the papers').
  void (*list_named)(const Device& device, const AxisProblem& problem, const std::string& wanted,
                     std::vector<Route>& routes) = nullptr;
  bool keeps_part = false;  // takes problems of which a part of the spectrum is kept
  bool folds = false;       // takes rows of real arrays whose columns go as pairs
};

// The name and the cost of a route by its steps.
planner::Candidate described(const AxisProblem& problem, const std::string& variant, const std::vector<Step>& steps,
                             double efficiency);

// All of the problem in one step, from input to output.
Route one_step(const AxisProblem& problem, std::shared_ptr<const StepDesign> design, std::uint64_t from_stride,
               std::uint64_t to_stride);

// A route that is none, and why.
Route refused(const std::string& variant, const std::string& why);

std::vector<KernelSource> kernels_of(const Route& route);
void add_to(std::vector<KernelSource>& all, std::vector<KernelSource> more);

}  // namespace ridge::fft::on_device
