// The stencil benchmark of `ridge bench stencil` and `ridge tour`: its cases, updates and initial grids.
#pragma once
#include <optional>

#include <ridge/stencil.hpp>

#include "bench/bench.hpp"
#include "bench/peers/plain_stencil.hpp"
#include "stencil/repeated_grid.hpp"

namespace ridge::cli {

struct StencilBench {
  PlainStencil stencil{};  // order and shape; the weights are set by the bench
  std::string system{};    // used instead of `stencil`: "wave2d", "acoustic3d:8", ...
  std::vector<std::size_t> shape{};
  bool float64 = false;
  std::size_t steps = 200;
  std::string border = "fixed";
  std::size_t threads = 0;
  std::string schedule = "automatic";
  std::string variant{};      // only this variant; empty: the planner's choice
  bool every = false;         // every variant in a separate row
  std::size_t trials = 0;     // variants to try before one is chosen; 0: the planner's default
  double plan_seconds = 60;   // time limit of the trials
  double seconds_each = 0.5;  // at least two rounds regardless
  bool power = false;         // one more second with the energy counter
  double rated_watts = 0;     // used if there is no counter
};

// Sets a grid size and a number of steps suitable for the device.
void fit_to_device(StencilBench& one, const Device& device, bool quick);

// Rows fastest first. Counts useful cells: those the stencil writes, once per step. `roof_share` is relative to the
// two-access roofline ceiling and exceeds 1 with temporal blocking.
BenchResult bench_stencil(
    const Device& device, const StencilBench& wanted, const Tell& tell = [](const std::string&) {});

std::string stencil_problem_text(const StencilBench& wanted);  // "5-point f32 8192x8192 200 steps"

// Weak scaling over MPI. Collective; each process owns an equal box of wanted.shape cells, consecutive along the
// slowest axis. First compared with one process bit by bit on a small grid, then timed: one process alone, all without
// communication, all with halo exchange. The notes break down the time.
BenchResult bench_stencil_mpi(const mpi::Communicator& all, const Device& device, const StencilBench& wanted);

template <class T>
struct StencilProblem {
  PlainStencil plain{};  // with weights; unused for systems
  stencil::Update<T> update;
  stencil::Problem problem{};
  stencil::Grid<T> grid;  // small if the cells repeat
  std::unique_ptr<stencil::Grid<T>> coefficients{};
  // Minimum values read and written per cell and step: changing fields are read and written once each; previous levels
  // and coefficients are read once.
  double least_values = 2;
  std::optional<stencil::RepeatedGrid<T>> repeated{};  // large grids on devices
  std::size_t repeated_steps = 0;                      // after which the cells are compared
};

// A new random grid every time, so that results do not depend on one set of values. On a device a large grid is made of
// a small one.
template <class T>
StencilProblem<T> stencil_problem(const StencilBench& wanted, const Device& device = host());

std::vector<stencil::Offset> offsets_of(const PlainStencil& stencil);

// Name, dimensions and order of "wave2d", "acoustic3d:4", "euler2d", "maxwell2d"; empty for star2d and the like.
struct StencilSystem {
  std::string name{};
  std::size_t dimensions = 2;
  int accuracy = 2;
};
std::optional<StencilSystem> stencil_system(const std::string& text);

}  // namespace ridge::cli
