// What the machine model expects of a candidate before it is run.
#pragma once
#include <string>

#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

namespace ridge::planner {

struct Prediction {
  double seconds = 0;
  std::string bound;  // the ceiling that binds, in words: "memory copy 4.20 TB/s", "float peak 67.1 TFLOP/s"
};

// max(flops / peak, bytes / bandwidth) / efficiency + launches x launch latency. The bandwidth is that of the nearest
// level of memory that holds the problem; a candidate of t threads has at most t times one core's figures. A ceiling
// that is not known (0) does not bind.
Prediction predict(const machine::Ceilings& ceilings, const Problem& problem, const Cost& cost);

// The same for the useful work alone: what no variant can beat.
Prediction roof(const machine::Ceilings& ceilings, const Problem& problem, bool float64);

}  // namespace ridge::planner
