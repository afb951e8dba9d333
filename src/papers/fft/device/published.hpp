// The measurements published in Burtsev's paper, for comparison with ours, and the device they are compared on.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "papers/fft/device/unit.hpp"

namespace ridge::fft::papers {

inline constexpr int kFirstPublished = 8;  // 2^8 .. 2^24 (KOMDIV: 2^23)

// K2 of a variant on komdiv, intel or nvidia; empty if the paper gives none.
std::optional<double> published_k2(const std::string& platform, const std::string& variant, int log_n);

// The variant with the best published time; empty beyond the paper's tables.
std::string published_winner(const std::string& platform, int log_n);

// A row of the paper's tables 9 (intel) and 10 (nvidia).
struct PublishedRow {
  int log_n;
  const char* variant;
  double k1, k2, k2_up, k3, percent;
};
const std::vector<PublishedRow>& published_rows(const std::string& platform);

// The papers' machines as sets of limits that a present device can be restricted to.

struct Platform {
  const char* name;
  const char* machine;
  std::size_t work_group = 0;  // largest work-group; 0: the device's own
  std::size_t units = 0;       // compute units; 0: the device's own
  UnitCapacity capacity{};     // of the thesis's two machines; registers 0: not given
};

// komdiv, intel, nvidia (work-groups of 128, 256, 1024), hd4000, haswell (16 and 40 units). "own" is not a platform.
std::span<const Platform> platforms();
const Platform& platform(const std::string& name);  // Error{invalid_argument} lists the names

// A second handle of the same device, restricted to the platform's limits by the device layer's overrides: a launch
// beyond them fails, and wisdom is kept separate. Limits above the device's own have no effect.
Device acting_as(const Device& device, const Platform& platform);

}  // namespace ridge::fft::papers
