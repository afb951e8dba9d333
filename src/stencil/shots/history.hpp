// How the history of a run is kept for the adjoint run within a memory budget.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "stencil/shots/shot_run.hpp"

namespace ridge::stencil {

struct HistoryProblem {
  std::size_t steps = 0;
  double fixed = 0;                           // bytes of both runs without any history
  double whole = 0;                           // bytes of a snapshot at full precision
  SnapshotBits bits = SnapshotBits::sixteen;  // of snapshots stored as integers
  double small = 0;                           // bytes of a snapshot stored as integers
  double scratch = 0;                         // further bytes with such snapshots
  double state = 0;                           // bytes of a state from which a run can continue
  bool reversible = false;                    // the update can be undone, except in the cells of a frame
  double frame = 0;                           // bytes of the frame's values after a step
  double rewind = 0;                          // bytes of the third run, which undoes the forward run
  double budget = 0;
  bool exact = false;
  bool backwards = false;      // only rewinding
  std::size_t most_every = 1;  // steps between snapshots that still resolve the shortest period
};

// The run is divided into blocks of steps. The snapshots of one block are kept; with several blocks, states are kept
// from which blocks are computed again (multistage checkpointing as in Griewank and Walther's revolve).
struct History {
  SnapshotBits bits = SnapshotBits::whole;
  bool rewinds = false;   // the frame's values of each step are kept, and a third run undoes the forward run
  std::size_t every = 1;  // steps per snapshot
  std::size_t block = 0;  // steps
  std::size_t states = 0;
  double recomputation = 1;  // forward steps per step of the run
  double bytes = 0;
  std::string explain{};
  std::size_t slots() const { return rewinds ? 1 : (block + every - 1) / every; }
};

// Error{invalid_argument} with the least sufficient budget if it does not suffice.
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
