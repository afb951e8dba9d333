// Dedispersion by a tree: which rows of narrower bands add up to a row of a wider band, and how much each is delayed.
//
// A band of R * R ... channels has one row per sample of delay across it. A row is the sum of one row of each of its R
// parts. For every part, the pair (row, shift) is chosen whose delays, with all roundings of the levels below, have the
// least squared error. With R = 2 this is the fast dispersion measure transform.
#pragma once
#include <cstdint>
#include <vector>

#include "search/layout.hpp"

namespace ridge::search {

struct TreePass {
  std::size_t radix = 0;                         // parts per band
  std::vector<std::uint32_t> bands{};            // per band: its first row; one more at the end
  std::size_t width = 0;                         // channels per band, after the pass; the last band may have fewer
  std::vector<std::uint32_t> first{};            // per row: its first term; one more at the end
  std::vector<std::uint32_t> source{}, shift{};  // per term: row of the previous level and its delay
  std::vector<std::uint32_t> length{};           // per row: samples that later passes need
  std::size_t rows() const { return length.size(); }
};

struct Tree {
  std::vector<TreePass> passes{};  // the first reads the channels; the rows of the last are the trials
  double additions = 0;            // of one run
  double moved = 0;                // samples loaded and stored by one run
  std::vector<std::int32_t> delays(std::size_t trial, std::size_t channels) const;
};

// Radices of the passes, the first pass first; the last one is repeated until a band has all channels.
Tree make_tree(const Layout& layout, const std::vector<std::size_t>& radices);

// Largest number of channels whose sum of bytes fits 16 bits.
inline constexpr std::size_t kMost16 = 257;

}  // namespace ridge::search
