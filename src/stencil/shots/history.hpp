// How the history of a run is kept for the adjoint run within a memory budget.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "stencil/shots/shot_run.hpp"

namespace ridge::stencil {

struct HistoryProblem {
  std::size_t steps = 0;
  double fixed = 0;             // bytes of both runs without any history
  double whole = 0;             // bytes of a snapshot at full precision
  double whole_scratch = 0;     // further bytes with such snapshots
  double whole_accesses = 10;   // to a field, to write and to correlate such a snapshot
  double eighth = 0;            // bytes of a snapshot of 8-bit integers; 0: snapshots at full precision only
  double sixteenth = 0;         // of 16-bit integers
  double scratch = 0;           // further bytes with such snapshots
  double state = 0;             // bytes of a state from which a run can continue
  double states_elsewhere = 0;  // bytes for states and streamed snapshots in host memory, beside the budget; 0: states
                                // are part of the budget
  bool reversible = false;      // the update can be undone, except in the cells of a frame
  double frame = 0;             // bytes of the frame's values after a step
  double rewind = 0;            // bytes of the third run, which undoes the forward run
  double budget = 0;
  // Cost: bytes that a step moves, and bytes per second of the memory of the fields and of copies of states.
  double step = 0, memory_rate = 1, state_rate = 1;
  double error = 0;                // largest relative error that is accepted; 0: exact histories only
  int only_bits = 0;               // 8 or 16: only such snapshots and exact ones
  bool backwards = false;          // only rewinding
  std::vector<double> skipping{};  // error of snapshots of every k-th step, from k = 1 on
};

// Errors that snapshots of integers cause in a gradient, relative to its norm: above those of every test.
inline double error_of(SnapshotBits bits) {
  return bits == SnapshotBits::eight ? 3e-2 : bits == SnapshotBits::sixteen ? 1.5e-4 : 0;
}

// The run is divided into blocks of steps. The snapshots of one block are kept; with several blocks, states are kept
// from which blocks are computed again (multistage checkpointing as in Griewank and Walther's revolve).
struct History {
  SnapshotBits bits = SnapshotBits::whole;
  bool rewinds = false;   // the frame's values of each step are kept, and a third run undoes the forward run
  bool streams = false;   // snapshots are in host memory, except those that the device is writing or reading
  std::size_t every = 1;  // steps per snapshot
  std::size_t block = 0;  // steps
  std::size_t states = 0;
  double recomputation = 1;  // forward steps per step of the run
  double bytes = 0;          // within the budget
  double elsewhere = 0;      // bytes of states or snapshots beside the budget
  double error = 0;          // bound of the gradient's relative error, beyond rounding
  double time = 0;           // expected, in runs forward
  std::string explain{};
  std::size_t slots() const { return rewinds ? 1 : (block + every - 1) / every; }
};

// Steps (counted in a block of `length`) of the snapshots, in the middle of the intervals for which they stand.
inline std::size_t sampled_step(std::size_t slot, std::size_t every, std::size_t length) {
  const std::size_t step = slot * every + every / 2;
  return step < length ? step : length - 1;
}

// The history with the least expected time that meets the error and fits into the budget; of those within a tenth of
// that time, the one with the least error. Error{invalid_argument} with the least sufficient budget if there is none.
History plan_history(const HistoryProblem& problem);

// Number of blocks to advance before the next state is kept, for a range of `blocks` blocks whose first state is kept
// and with `states` free ones.
std::size_t blocks_to_advance(std::size_t blocks, std::size_t states);
// Blocks computed in total to reverse such a range.
double blocks_computed(std::size_t blocks, std::size_t states);

// Reverses `blocks` blocks from block `begin` on, whose first state is given, with `states` further ones. `run` has
// restore(state), advance(block, blocks), save() and reverse(block), which computes a block from its restored first
// state, keeps its history and goes back through it.
template <class Run, class State>
void reverse_blocks(Run& run, std::size_t begin, std::size_t blocks, std::size_t states, const State& state) {
  while (blocks > 1) {
    const std::size_t ahead = blocks_to_advance(blocks, states);
    run.restore(state);
    run.advance(begin, ahead);
    if (states == 0) {
      run.reverse(begin + ahead);
      --blocks;
      continue;
    }
    const State kept = run.save();
    reverse_blocks(run, begin + ahead, blocks - ahead, states - 1, kept);
    blocks = ahead;
  }
  run.restore(state);
  run.reverse(begin);
}

}  // namespace ridge::stencil
