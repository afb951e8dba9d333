// Reference implementation of SimpleFlow, plain and sequential, one function per stage. Rounding that affects decisions
// follows OpenCV; filter sums are kept in double.
#pragma once
#include <cstdint>

#include "image/flow/plane.hpp"

namespace ridge::image::flow {

// Downscaling by two (size rounded up) by Keys' cubic with A = -0.75: 11-bit weights, replicated borders, rounding half
// to even.
struct Tap {
  int from = 0;
  int weight[4] = {};
};
std::vector<Tap> halving_taps(int from);  // one per output
Picture halve(const Picture& in);

// Start of a search: the flow rounded half to even and clamped to the picture, relative to `at`.
int start_of(float flow, int at, int size);

enum class WeightKind {
  table,       // three table entries multiplied in double, as OpenCV
  polynomial,  // weights.hpp, as every variant
};
// Replaces the flow of the mask's pixels by the best of the candidates around its start.
void search(const Picture& from, const Picture& to, const Mask& mask, Field& flow, const FlowParameters& parameters,
            WeightKind kind);

// 1 if following the flow forward and then backward ends within the threshold of the start, else 0. Symmetric in both
// directions.
Mask visible(const Field& flow, const Field& inverse, float threshold);

struct Filter {
  int radius;
  float sigma_dist, sigma_color;
};
// Cross-bilateral filter: weighted mean over visible neighbours of similar colour. If there are none, the flow is kept.
Field smooth(const Picture& guide, const Mask& seen, const Field& flow, const Filter& filter);

Field doubled(const Field& flow, Size size);  // nearest neighbour, values times two

// 1 if no vector within the radius differs by the threshold or more.
Mask regular(const Field& flow, int radius, float threshold);

// The pixels of the finer level to search, and the blocks of 2^level pixels from which the others are filled.
struct Points {
  Mask mask, level;
};
Points select(const Mask& is_regular, const Mask& level, Size fine, Selection order);
// Fills each block by bilinear interpolation between its corners.
void fill_blocks(Field& flow, const Mask& level);

Field gauss3(const Field& in);  // 3x3, sigma 5, reflect-101

// Simulates roundings of another order: every smoothed vector is shifted at random by at most this amount. Thresholds,
// starts of searches and choices between equal costs depend on less, so every variant must match where two disturbed
// runs agree.
struct Disturbance {
  float vectors = 0;
  std::uint64_t seed = 1;
};
Field simple_flow(const Picture& first, const Picture& second, const FlowParameters& parameters,
                  WeightKind kind = WeightKind::table, Disturbance disturbance = {});

}  // namespace ridge::image::flow
