// Kernel text of a pass, in the kernel dialect.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/device.hpp>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

inline constexpr const char* kKernelName = "fft_pass";

// Kernel arguments: in, out, tables, then the optional tables (load factors, store factors, gather, scatter), then
// ulong in_offset, ulong out_offset (elements) and uint lines.
struct PassText {
  KernelSource source;
  std::size_t local_bytes = 0;
};
PassText pass_text(const PassDesign& design);

// Rows per TMA copy of a tile with `points` rows.
inline constexpr std::size_t kMostTileRows = 256;
std::size_t tile_rows(std::size_t points);

// True if neighbouring lanes of the sub-group can load a row and its mirror for each other.
bool fold_lanes_serve(const PassDesign& design, std::size_t lanes);

// True if the design can transform pairs of real lines: mirrored values must be in lanes of the same sub-group.
bool paired_lines_serve(const PassDesign& design, std::size_t lanes);
std::size_t pair_pitch(const PassDesign& design);  // local memory of two lines, in reals
std::size_t pair_bytes(const PassDesign& design);  // local memory of a group

// Local memory of the kernel in bytes, without generating its text.
std::size_t local_bytes_of(const PassDesign& design);

}  // namespace ridge::fft::on_device
