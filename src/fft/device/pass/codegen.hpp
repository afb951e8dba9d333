// A design turned into a kernel of the dialect.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/device.hpp>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

inline constexpr const char* kKernelName = "fft_pass";

// Arguments: in, out, tables, then the tables that the design asks for (factors of the load and of the store, gather,
// scatter), then ulong in_offset, ulong out_offset (elements) and uint lines.
struct PassText {
  KernelSource source;
  std::size_t local_bytes = 0;
};
PassText pass_text(const PassDesign& design);

// Rows that one copy of a tile takes, of a tile of so many or of half of one.
inline constexpr std::size_t kMostTileRows = 256;
std::size_t tile_rows(std::size_t points);

// Whether neighbouring lanes of a sub-group of so many can load a row and its mirror for each other.
bool fold_lanes_serve(const PassDesign& design, std::size_t lanes);

// Whether a design can take real lines two by two: its lanes hold each other's mirrors. What that takes of local
// memory.
bool twins_serve(const PassDesign& design, std::size_t lanes);
std::size_t twin_pitch(const PassDesign& design);  // numbers of two lines of samples
std::size_t twin_bytes(const PassDesign& design);

// Bytes of local memory that the kernel takes, without writing it.
std::size_t local_bytes_of(const PassDesign& design);

}  // namespace ridge::fft::on_device
