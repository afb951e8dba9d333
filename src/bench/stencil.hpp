// The stencil benchmark of `ridge bench stencil` and `ridge tour`.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/mpi/communicator.hpp>

#include "bench/peers/plain_stencil.hpp"
#include "report/bench_rows.hpp"

namespace ridge::cli {

struct StencilBench {
  PlainStencil stencil;  // order and shape; the weights are set by the bench
  std::string system;    // used instead of `stencil`: "wave2d", "acoustic3d:8", ...
  std::vector<std::size_t> shape;
  bool float64 = false;
  std::size_t steps = 200;
  std::string border = "fixed";
  std::size_t threads = 0;
  std::string schedule = "automatic";
  std::string variant;        // only this variant; empty: the planner's choice
  bool every = false;         // every variant in a separate row
  std::size_t trials = 0;     // variants to try before one is chosen; 0: the planner's default
  double plan_seconds = 60;   // time limit of the trials
  double seconds_each = 0.5;  // at least two rounds regardless
  bool power = false;         // one more second with the energy counter
  double rated_watts = 0;     // used if there is no counter
};

struct StencilBenchResult {
  std::vector<report::BenchRow> rows;  // fastest first
  std::string explanation;
  std::vector<std::string> notes;
};

// Counts useful cells: those the stencil writes, once per step. `roof_share` is relative to the two-access roofline
// ceiling and exceeds 1 with temporal blocking.
StencilBenchResult bench_stencil(const Device& device, const StencilBench& wanted);

std::string stencil_problem_text(const StencilBench& wanted);  // "5-point f32 8192x8192 200 steps"

// Table of Gcell/s, shares of the ceilings of two and three accesses, and the speed relative to the plain loop.
std::string stencil_table(const std::vector<report::BenchRow>& rows);

// A grid size and a number of steps suitable for the device.
StencilBench stencil_case(const Device& device, std::size_t dimensions, int order, bool box, bool float64, bool quick);

// Weak-scaling benchmark of stencils over MPI processes.

// Collective; each process owns an equal box of wanted.shape cells, consecutive along the slowest axis. First compared
// with one process bit by bit on a small grid, then timed: one process alone, all without communication, all with halo
// exchange. The notes break down the time.
StencilBenchResult bench_stencil_mpi(const mpi::Communicator& all, const Device& device, const StencilBench& wanted);

}  // namespace ridge::cli
