// Runs a scenario from its start or a checkpoint to its last step: files, pictures, checkpoints, progress.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>

#include <ridge/mpi/communicator.hpp>
#include "stencil/domain.hpp"
#include "stencil/problems/scenario.hpp"

namespace ridge::cli {

constexpr double kMostSteps = 1e15;  // counted exactly in a double, which checkpoints and processes exchange

struct RunOptions {
  std::size_t steps = 1000;
  std::size_t every = 0;             // steps between grids and frames; 0: the first and the last only
  std::vector<std::string> out;      // .pvd, .vti, .npy, .png
  std::string frames;                // PREFIX of PREFIX_000100.png
  std::string checkpoint;            // empty: none
  std::size_t checkpoint_every = 0;  // steps; 0: `every`, or a tenth of the steps
  bool resume = false;
  bool base64 = false;  // .vti as text
  std::string colours;  // of pictures; empty: the problem's
  std::string field;    // shown in pictures; empty: the first
  std::optional<double> low, high;
  std::size_t pixels = 768;
  std::string device;  // "cuda:*": one device per process
  stencil::DomainOptions domain;
  bool explain = false;
  bool steady = false;  // compute the steady state instead of steps
  // File of the initial state; empty: the scenario's own.
  std::string in;  // .npy, .png
};

// Checks names and combinations of options before anything is computed.
void check(const RunOptions& options);

// "cuda:*" assigns its own device to each process of a machine.
Device device_for(const mpi::Communicator& processes, const std::string& name);

// Returns 0, or 128 plus the number of the signal that stopped it.
template <class T>
int run_scenario(const mpi::Communicator& processes, stencil::Scenario<T> scenario, const RunOptions& options);

}  // namespace ridge::cli
