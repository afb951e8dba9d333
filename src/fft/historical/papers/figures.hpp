// The figures that Burtsev's paper reports, from times.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "fft/historical/papers/stage_plan.hpp"

namespace ridge::fft::papers {

// Seconds of one transform on a device.
struct PartTimes {
  double part1 = 0;  // the bit-reversal permutation
  double part2 = 0;  // the butterflies
  double total = 0;  // with the way to the device and back
  double kernels() const { return part1 + part2; }
};

struct Figures {
  double k1 = 0;     // T_cpu / T_total, transfers included
  double k2 = 0;     // T_cpu / T_kernels, part 1 included
  double k2_up = 0;  // the paper's K2^: K2 over that of A
  double k3 = 0;     // part 2's speed-up over A's
  double share = 0;  // the paper's %K, as a fraction: part 2's of the kernels' time
};
Figures figures(double cpu_seconds, const PartTimes& variant, const PartTimes& of_a);

// --- the composition law ---------------------------------------------------------------------------------------------

// An operation of two parts that took the shares d1 + d2 = 1 of the time, now u1 and u2 times as fast, is
// u = u1 u2 / (d1 u2 + d2 u1) times as fast.
double composed_speedup(double d1, double u1, double d2, double u2);

// The same for any number of parts, whose shares sum to 1: the law applied again and again.
struct Part {
  double share = 0, speedup = 1;
};
double composed_speedup(std::span<const Part> parts);

// Backwards: K3 from K2^ and %K where part 1 is the same in both.
double part2_speedup(double k2_up, double share);

// What a variant measured at one length says of another one.
struct ShortMeasurement {
  StagePlan plan{};
  double a_part1 = 0, a_part2 = 0;  // A's two parts at the plan's length
  double part1 = 0;                 // the variant's
  std::vector<double> runs{};       // seconds of each of the plan's runs
};

// K2^ of `longer`, the same variant at another length, from the law. A's stages are taken to last equally long, and its
// two parts to keep the shares that they have at the short length, scaled by their number of stages. A run of the same
// kind is taken to need a fixed time for a point however many stages it does (it moves the points once), so its
// speed-up over A grows with its stages. 0 where the short plan has no run of a kind that the longer one needs.
double predicted_k2_up(const ShortMeasurement& measured, const StagePlan& longer);

}  // namespace ridge::fft::papers
