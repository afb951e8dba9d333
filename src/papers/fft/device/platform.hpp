// The papers' machines as sets of limits that a present device can be restricted to.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include <ridge/device.hpp>

#include "papers/fft/device/unit.hpp"

namespace ridge::fft::papers {

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
