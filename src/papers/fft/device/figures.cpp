// Computes K1, K2, K2^, K3, %K and the composition law from measured times.
#include "papers/fft/device/figures.hpp"

#include <algorithm>

namespace ridge::fft::papers {
namespace {

// Contiguous blocks and strided columns are different loads, though one kernel does both.
bool same_kind(const StageRun& a, const StageRun& b) { return a.work == b.work && (a.first == 1) == (b.first == 1); }

// Speed-up over A per stage of a run of this kind: u(T) = T * this for T stages.
double speedup_per_stage(const ShortMeasurement& measured, const StageRun& wanted) {
  const double a_stage = measured.a_part2 / std::max(measured.plan.log_n, 1);
  // The last run of this kind counts: in D and F that is the one whose columns have the largest stride.
  for (std::size_t i = measured.plan.runs.size(); i-- > 0;) {
    if (!same_kind(measured.plan.runs[i], wanted) || measured.runs[i] <= 0) continue;
    return a_stage / measured.runs[i];
  }
  return 0;
}

}  // namespace

Figures figures(double cpu_seconds, const PartTimes& variant, const PartTimes& of_a) {
  const auto ratio = [](double above, double below) { return below > 0 ? above / below : 0; };
  return {.k1 = ratio(cpu_seconds, variant.total),
          .k2 = ratio(cpu_seconds, variant.kernels()),
          .k2_up = ratio(of_a.kernels(), variant.kernels()),
          .k3 = ratio(of_a.part2, variant.part2),
          .share = ratio(variant.part2, variant.kernels())};
}

double composed_speedup(double d1, double u1, double d2, double u2) { return u1 * u2 / (d1 * u2 + d2 * u1); }

double composed_speedup(std::span<const Part> parts) {
  if (parts.empty()) return 1;
  double share = parts[0].share, speedup = parts[0].speedup;
  for (const Part& part : parts.subspan(1)) {
    const double both = share + part.share;
    if (both <= 0) continue;
    speedup = composed_speedup(share / both, speedup, part.share / both, part.speedup);
    share = both;
  }
  return speedup;
}

double part2_speedup(double k2_up, double share) { return (k2_up - 1 + share) / share; }

double predicted_k2_up(const ShortMeasurement& measured, const StagePlan& longer) {
  if (!measured.plan.refusal.empty() || !longer.refusal.empty() || measured.plan.log_n < 1) return 0;
  // Times of A at the longer length, per point: part 1 stays, part 2 grows with the stages.
  const double stage = measured.a_part2 / measured.plan.log_n, all = measured.a_part1 + stage * longer.log_n;
  std::vector<Part> parts{
      {.share = measured.a_part1 / all, .speedup = measured.part1 > 0 ? measured.a_part1 / measured.part1 : 1}};
  for (const StageRun& run : longer.runs) {
    const double each = run.work == Work::one_stage ? 1 : speedup_per_stage(measured, run);
    if (each <= 0) return 0;
    // Variants that access global memory at every stage gain nothing from more stages.
    const bool once = run.work == Work::group_local || run.work == Work::own_points;
    double speedup = each * (once ? run.stages() : 1);
    if (run.work == Work::group_global) speedup = each * measured.plan.runs.front().stages();
    parts.push_back({.share = stage * run.stages() / all, .speedup = speedup});
  }
  return composed_speedup(parts);
}

}  // namespace ridge::fft::papers
