// Checkpoints of runs and gradients: an interrupted one continues from what it saved and gives the same bits.
//
//   RunCheckpoints first{.due = [](std::size_t steps) { return steps % 100 == 0; }, .save = write_file};
//   survey.record(shot, 1000, nullptr, {}, {}, first);                            // interrupted
//   survey.record(shot, 1000, nullptr, {}, {}, {.resume = read_file()});          // the same traces
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace ridge::stencil {

// `due` is asked after each step of a run forward, and after each step backward of a gradient, with their number. When
// it returns true, `save` gets what the run needs to continue. A run with the same problem and steps and these bytes as
// `resume` gives the same results; a gradient repeats the run forward up to the step.
struct RunCheckpoints {
  std::function<bool(std::size_t steps)> due = {};
  std::function<void(const std::vector<std::byte>& state)> save = {};
  std::vector<std::byte> resume{};  // empty: from the beginning
};

}  // namespace ridge::stencil
