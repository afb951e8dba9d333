// Computes the figures of Burtsev's paper from measured times.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

// Seconds of one transform on a device.
struct PartTimes {
  double part1 = 0;  // the bit-reversal permutation
  double part2 = 0;  // the butterflies
  double total = 0;  // with transfers to and from the device
  double kernels() const { return part1 + part2; }
};

struct Figures {
  double k1 = 0;     // T_cpu / T_total, transfers included
  double k2 = 0;     // T_cpu / T_kernels, part 1 included
  double k2_up = 0;  // the paper's K2^: K2 over that of A
  double k3 = 0;     // part 2's speed-up over A's
  double share = 0;  // the paper's %K as a fraction: part 2 of the kernel time
};
Figures figures(double cpu_seconds, const PartTimes& variant, const PartTimes& of_a);

// --- the composition law ---------------------------------------------------------------------------------------------

// Composition law: an operation of two parts with time fractions d1 + d2 = 1, accelerated by u1 and u2, is accelerated
// by u = u1 u2 / (d1 u2 + d2 u1).
double composed_speedup(double d1, double u1, double d2, double u2);

// The same law for any number of parts whose fractions sum to 1.
struct Part {
  double share = 0, speedup = 1;
};
double composed_speedup(std::span<const Part> parts);

// Inverse of the law: K3 from K2^ and %K if part 1 is unchanged.
double part2_speedup(double k2_up, double share);

// Times of a variant measured at one length, to predict another length.
struct ShortMeasurement {
  StagePlan plan{};
  double a_part1 = 0, a_part2 = 0;  // A's two parts at the plan's length
  double part1 = 0;                 // the variant's part 1
  std::vector<double> runs{};       // seconds of each run of the plan
};

// K2^ of `longer`, the same variant at another length, predicted by the law. It assumes that A's stages take equal
// times, and that its two parts keep their proportion, scaled by the number of stages. A run of the same kind is
// assumed to take a fixed time per point for any number of stages (it moves the points once), so its speed-up over A
// grows with its stages. Returns 0 if the short plan has no run of a kind that the longer one needs.
double predicted_k2_up(const ShortMeasurement& measured, const StagePlan& longer);

}  // namespace ridge::fft::papers
