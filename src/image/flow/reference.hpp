// SimpleFlow, plain and sequential, a function a stage: what every variant is compared with. Where rounding matters it
// is OpenCV's; sums that only filter are kept in double.
#pragma once
#include <cstdint>

#include "image/flow/plane.hpp"

namespace ridge::image::flow {

// Keys' cubic with A = -0.75 to half the size, rounded up: 11-bit weights, borders repeated, half to even.
struct Tap {
  int from = 0;
  int weight[4] = {};
};
std::vector<Tap> halving_taps(int from);  // one an output
Picture halve(const Picture& in);

// Where a search starts: the flow rounded half to even and kept inside the picture, relative to `at`.
int start_of(float flow, int at, int size);

enum class WeightKind {
  table,       // three entries of a table multiplied in double: what OpenCV has
  polynomial,  // weights.hpp: what every variant has
};
// The pixels of the mask, their flow replaced by the best of the candidates around its start.
void search(const Picture& from, const Picture& to, const Mask& mask, Field& flow, const FlowParameters& parameters,
            WeightKind kind);

// 1 where the flow there and back ends within the threshold of where it began, else 0. The same for both directions.
Mask visible(const Field& flow, const Field& inverse, float threshold);

struct Filter {
  int radius;
  float sigma_dist, sigma_color;
};
// Cross bilateral: means over visible neighbours that look alike. Where none does, the flow stays as it is.
Field smooth(const Picture& guide, const Mask& seen, const Field& flow, const Filter& filter);

Field doubled(const Field& flow, Size size);  // nearest, times two

// 1 where nothing within the radius differs by the threshold or more.
Mask regular(const Field& flow, int radius, float threshold);

// Which pixels of the finer level are searched, and the blocks of 2^level pixels that the others are filled from.
struct Points {
  Mask mask, level;
};
Points select(const Mask& is_regular, const Mask& level, Size fine, Selection order);
// Bilinear between the corners of each block.
void fill_blocks(Field& flow, const Mask& level);

Field gauss3(const Field& in);  // 3x3, sigma 5, reflect-101

// Roundings of another order: every smoothed vector is shifted at random by so much at most. Thresholds, starts of
// searches and the choice between equals turn on less, so that what two disturbed runs agree about every variant must
// give.
struct Disturbance {
  float vectors = 0;
  std::uint64_t seed = 1;
};
Field simple_flow(const Picture& first, const Picture& second, const FlowParameters& parameters,
                  WeightKind kind = WeightKind::table, Disturbance disturbance = {});

}  // namespace ridge::image::flow
