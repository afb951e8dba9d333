// Times calls: the least of several warm runs, interleaved when calls are compared.
#pragma once
#include <functional>
#include <vector>

namespace ridge::base {

double now();  // seconds, monotonic

struct Repeat {
  double seconds = 0.2;  // approximate time spent on each call measured
  int at_least = 3;      // rounds
  int at_most = 1000;
  double round = 0;  // seconds: a round repeats the call to last about this long (for calls too short for the clock)
};

// Seconds of one call: the least over all rounds. The first, cold call is not counted.
double best_seconds(const std::function<void()>& call, const Repeat& repeat = {});

// Times several calls, one round of each after another, so that a disturbance affects all of them alike. `before_round`
// runs before each round of each call and is not timed: it renews data that a call overwrites.
std::vector<double> best_seconds_interleaved(const std::vector<std::function<void()>>& calls, const Repeat& repeat = {},
                                             const std::function<void()>& before_round = {});

}  // namespace ridge::base
