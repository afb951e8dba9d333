// What the routes through a ring share.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

// Of the H200's 50 MB: what comes and goes needs room too.
inline constexpr double kMostRing = 36e6, kGoodRing = 27e6;

struct RingShape {
  std::size_t items, most_held;
  bool all_twiddles = false;  // loaded, none multiplied together
  bool long_only = false;     // tiles of 16 lines of 1024 points, a compute unit each
};
// Best first, as measured on an H200.
inline constexpr RingShape kRingShapes[] = {
    {256, 32}, {512, 32, false, true}, {256, 32, true}, {256, 16}, {256, 16, true}};

// Radices and lines for exactly so many work-items a group, at least 64 bytes side by side.
bool shaped(const Device& device, PassDesign& pass, const RingShape& shape, std::string& why);

// Radices and work-items a line of both passes that share groups of `items`, best first (ring_pairs.cpp).
struct RingPair {
  std::vector<std::size_t> first, second;  // radices
  std::size_t first_threads, second_threads, items;
};
std::vector<RingPair> ring_pairs(const PassDesign& first, const PassDesign& second, std::size_t most);

// How far the first pass runs ahead, and how long the ring is. A tile that is stored into a slot for the second time
// waits for tiles of the second pass: ahead is never so much that these would come after it.
bool sized(const Device& device, RingDesign& ring, std::uint64_t chunks, double most_bytes);

// Planes whose rows and columns are transformed.
struct PlaneProblem {
  bool float64 = false;
  Direction direction = Direction::forward;
  std::size_t rows = 1, columns = 1;  // the columns are as long as there are rows
  std::uint64_t in_point = 1, out_point = 1, in_row = 1, out_row = 1;
  std::vector<std::uint64_t> counts = {};  // of the digits of a plane's number; at least one
  std::vector<std::uint64_t> in_chunk = {}, out_chunk = {};
  double scale = 1;
  std::uint64_t planes() const;
};
// What tells a ring's candidate from others: radices, lines, the ring.
std::vector<std::pair<std::string, std::string>> ring_parameters(const RingDesign& ring);
double plane_bytes(const PlaneProblem& plane);
std::vector<Route> list_planes(const Device& device, const PlaneProblem& plane);

}  // namespace ridge::fft::on_device
