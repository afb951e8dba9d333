// Divides a grid into boxes, one per process, with deep halos: the owned cells, the redundantly computed cells, and the
// boxes to exchange. Independent of how they are exchanged.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>

#include "stencil/layout.hpp"

namespace ridge::stencil {

using Counts = std::array<std::size_t, 3>;  // z, y, x

// Division with as few halo cells as possible, slow axes first; Error{invalid_argument} if the grid is too small for
// that many processes.
Counts choose_processes(const Layout& layout, std::size_t processes);
// Parses "4", "2x2", "1x2x2": processes along each axis, slowest first. Error if malformed or if the product differs.
Counts parse_processes(const std::string& text, const Layout& layout, std::size_t processes);
std::string processes_text(const Layout& layout, const Counts& processes);  // "2x2"

// Steps between exchanges: deep halos are exchanged rarely and computed twice. At most `most`, with less than a tenth
// of the cells computed twice, and halos from direct neighbours only.
std::size_t choose_depth(const Layout& layout, const Counts& processes, std::size_t most);
std::size_t deepest(const Layout& layout, const Counts& processes);  // deepest halo that direct neighbours allow

// The part of one process. Boxes without "global" in their name use the coordinates of the process's own grid.
struct Part {
  Box global;                      // owned cells, in the whole grid
  Counts low{}, high{};            // cells of halo at each side
  Box owned;                       // owned cells
  std::vector<std::size_t> shape;  // of its own grid, halos included; as many axes as the whole
  Borders borders;                 // of its own grid: sides between processes are fixed, which affects halo cells only
};
// Speeds per process if they differ: each layer of processes along an axis gets cells in proportion to its mean speed,
// and at least what its neighbours' halos need. Empty: equal parts.
using Speeds = std::vector<double>;
Part part_of(const Layout& layout, const Counts& processes, std::size_t depth, std::size_t rank,
             const Speeds& speeds = {});

// Boxes sent to and received from a neighbour; all neighbours at once, corners included.
struct Exchange {
  std::size_t rank = 0;
  Box send, receive;
  int send_tag = 0, receive_tag = 0;
  std::array<int, 3> direction{};
};
std::vector<Exchange> exchanges(const Layout& layout, const Counts& processes, std::size_t depth, std::size_t rank,
                                const Speeds& speeds = {});

}  // namespace ridge::stencil
