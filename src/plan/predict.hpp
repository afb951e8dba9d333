// Predicts the time of a candidate from the machine model.
#pragma once
#include <string>

#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

namespace ridge::planner {

struct Prediction {
  double seconds = 0;
  std::string bound;  // the limiting ceiling: "memory copy 4.20 TB/s", "float peak 67.1 TFLOP/s"
};

// max(flops / peak, bytes / bandwidth) / efficiency + launches x launch latency. The bandwidth is that of the smallest
// memory level that holds the problem. A candidate with t threads has at most t times the figures of one core. An
// unknown ceiling (0) does not limit.
Prediction predict(const machine::Ceilings& ceilings, const Problem& problem, const Cost& cost);

// The same for the useful work alone: a lower bound for every variant.
Prediction roof(const machine::Ceilings& ceilings, const Problem& problem, bool float64);

}  // namespace ridge::planner
