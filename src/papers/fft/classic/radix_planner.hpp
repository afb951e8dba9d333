// Chooses radices and their order by a shortest path: nodes are completed stages, edges are passes weighted by their
// time (the papers' radix planner).
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::fft {

using Radices = std::vector<std::size_t>;

std::string to_string(const Radices& radices);  // "8-8-4-4"

struct RadixGraph {
  struct Edge {
    std::size_t stage;  // log2 of the points combined before it
    std::size_t radix;
    double seconds;
  };
  std::size_t stages = 0;  // log2 of the length
  std::vector<Edge> edges = {};
};

struct RadixPath {
  Radices radices = {};
  double seconds = 0;
};

// The shortest path, or the `count` shortest, best first. Error{invalid_argument} if the edges do not reach the end.
RadixPath shortest_path(const RadixGraph& graph);
std::vector<RadixPath> shortest_paths(const RadixGraph& graph, std::size_t count);
// All paths, for tests of shortest_path() with short lengths.
std::vector<RadixPath> all_paths(const RadixGraph& graph);
// Number of orders of these radices that make 2^stages points.
std::size_t compositions(std::size_t stages, const std::vector<std::size_t>& radices = {2, 4, 8});

// Times each pass of the classic Stockham kernel separately.
template <class T>
RadixGraph measure_radix_graph(std::size_t n, double seconds_each = 1e-3);
// The same from the machine's ceilings, without running anything.
template <class T>
RadixGraph model_radix_graph(const Device& device, std::size_t n);

struct RadixPlan {
  Radices radices = {};
  planner::Decision decision = {};  // candidates are whole plans
};

// Edges are timed in isolation, so the best few paths are run end to end and the best of those is stored as wisdom
// (workload "fft-radix"). Effort::quick uses wisdom or the model and runs nothing.
template <class T>
RadixPlan plan_radices(const Device& device, std::size_t n, const planner::Options& options = {});

// Radices in the order that the model prefers on any machine: as few passes as 16, 8 and 4 allow. Takes microseconds.
template <class T>
Radices quick_radices(std::size_t n);

}  // namespace ridge::fft
