// Measuring: the best of several, warm, and interleaved when two things are compared.
#pragma once
#include <functional>
#include <vector>

namespace ridge::base {

double now();  // seconds, monotonic

struct Repeat {
  double seconds = 0.2;  // spend about this long on each thing measured
  int at_least = 3;      // rounds
  int at_most = 1000;
  double round = 0;  // a round repeats the call until it lasts this long (for calls too short for the clock)
};

// Seconds of one call: the least over the rounds. The first, cold call is not counted.
double best_seconds(const std::function<void()>& call, const Repeat& repeat = {});

// The same for several, taken in turn round by round, so that a noisy neighbour hits them all. `before_round` comes
// before each round of each of them, outside its time: new data, where a call spoils its own.
std::vector<double> best_seconds_interleaved(const std::vector<std::function<void()>>& calls, const Repeat& repeat = {},
                                             const std::function<void()>& before_round = {});

}  // namespace ridge::base
