// Boxcar matched filters over dedispersed series, clusters of their detections, and the refinement of candidates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/layout.hpp"

namespace ridge::search {

// Reorders the values, at least one; of an even number the upper of the two in the middle.
double median_of(std::vector<double>& values);

struct Normal {
  float mean = 0, sigma = 0;
};
// Mean and standard deviation of a series without its pulses: medians over parts of it. Sigma 0: too short or constant.
Normal robust_normal(std::span<const float> series);

// 1, 2, 3, 4, 6, 8, 12, 16 ... up to `widest`: at worst 0.90 of the S/N of a pulse whose width is between two of them.
std::vector<std::size_t> boxcar_widths(std::size_t widest);

// Times are in input samples, so that segments of all sample intervals compare.
struct Detection {
  std::uint64_t begin = 0, end = 0;  // the boxcar
  std::size_t trial = 0;             // counted over all segments
  std::size_t segment = 0;
  float snr = 0;
};

struct BoxcarJob {
  std::span<const float> series;  // `starts` samples, then up to as many as the widest boxcar has
  std::size_t starts = 0;         // boxcars that begin here are searched
  Normal normal{};
  std::span<const std::size_t> widths;  // in samples of the series
  std::span<const float> limits;        // per width: least S/N
  std::uint64_t first = 0;              // input sample of the series' first sample
  std::size_t factor = 1;               // input samples per sample
  std::size_t trial = 0, segment = 0;
};
// For each width and each run of 256 start positions, appends the best boxcar if its S/N reaches the limit.
void find_boxcars(const BoxcarJob& job, std::vector<Detection>& found);

struct Cluster {
  Detection best{};
  std::uint64_t begin = 0, end = 0;  // over all members
  std::size_t trial_first = 0, trial_last = 0;
  std::size_t members = 0;
};
// Single-linkage clusters: detections whose boxcars overlap in time and whose trials differ by at most three are in
// one group. Groups are ordered by the time of their best member.
std::vector<std::vector<Detection>> friends(std::vector<Detection> detections);
Cluster cluster_of(std::span<const Detection> members);

// A pulse in input samples at the highest frequency; `delay` is that of the whole band.
struct Box {
  double begin = 0, samples = 0, delay = 0, snr = 0;
};
// S/N in the boxcar `weak` of a pulse as high as `strong` and three times as wide. slope: share of the delay, per
// channel.
double echo(const Box& strong, const Box& weak, std::span<const double> slope);
// True if `weak` may be a detection of `strong` at a wrong dispersion measure or time: its S/N is at most 4.5 above the
// echo.
bool explains(const Box& strong, const Box& weak, std::span<const double> slope);

// True if two clusters overlap in time and trials.
bool touch(const Cluster& a, const Cluster& b);
Cluster joined(const Cluster& a, const Cluster& b);

// Measures a candidate again with exact delays: finer dispersion measures, widths and times around a detection.

struct RefineJob {
  const std::vector<double>& slope;  // per channel, as in Layout
  const std::uint8_t* plane;         // channels x stride, at the finest sample interval
  std::size_t stride, columns;       // columns: valid samples
  double delay, spacing;             // of the detected trial, between trials; in samples
  double shortest, longest;          // of the first and the last trial of all segments: no other delays are tried
  std::size_t begin, width;          // of the detected boxcar, in samples
  std::size_t narrowest, widest;     // boxcars to try
  Normal normal;                     // of the series
};

struct Refined {
  double delay = 0;  // of the whole band, in samples
  std::size_t begin = 0, width = 0;
  double snr = 0;
};

Refined refine(const RefineJob& job);
// The same at the detection's own dispersion measure only.
Refined measure_at_trial(const RefineJob& job);

}  // namespace ridge::search
