// The stencil's bench, for `ridge bench stencil` and for the tour.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "cli/peers/plain_stencil.hpp"
#include "report/bench_rows.hpp"

namespace ridge::cli {

struct StencilBench {
  PlainStencil stencil;  // order, shape; the weights are chosen
  std::string system;    // instead of it: "wave2d", "acoustic3d:8", ...
  std::vector<std::size_t> shape;
  bool float64 = false;
  std::size_t steps = 200;
  std::string border = "fixed";
  std::size_t threads = 0;
  std::string variant;        // only this one; empty: the planner's choice
  bool every = false;         // every variant in a row of its own
  std::size_t trials = 0;     // variants to try before one is chosen; 0: the planner's own number
  double plan_seconds = 60;   // in which they are tried
  double seconds_each = 0.5;  // at least two rounds whatever it is
  bool power = false;         // a second of it with the energy counter
  double rated_watts = 0;     // where there is no counter
};

struct StencilBenchResult {
  std::vector<report::BenchRow> rows;  // fastest first
  std::string explanation;
  std::vector<std::string> notes;
};

// Useful cells only: those the stencil writes, once a step. `roof_share` is of the two-access roof, and above 1 where
// time is blocked.
StencilBenchResult bench_stencil(const Device& device, const StencilBench& wanted);

std::string stencil_problem_text(const StencilBench& wanted);  // "5-point f32 8192x8192 200 steps"

// Rates as a person wants them: Gcell/s, of the roofs of two and of three accesses, against the plain loop.
std::string stencil_table(const std::vector<report::BenchRow>& rows);

// A grid and a number of steps that suit the device.
StencilBench stencil_case(const Device& device, std::size_t dimensions, int order, bool box, bool float64, bool quick);

}  // namespace ridge::cli
