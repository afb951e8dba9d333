// A grid cut into boxes, one a process, with deep halos: what each owns, what it computes besides, and which boxes
// travel. Knows nothing of how they travel.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>

#include "stencil/layout.hpp"

namespace ridge::stencil {

using Counts = std::array<std::size_t, 3>;  // z, y, x

// As few cells in halos as possible, slow axes cut first; Error{invalid_argument} where the grid is too small for so
// many.
Counts choose_processes(const Layout& layout, std::size_t processes);
// "4", "2x2", "1x2x2": along each axis of the grid, slowest first. Error where it is not that, or not so many.
Counts parse_processes(const std::string& text, const Layout& layout, std::size_t processes);
std::string processes_text(const Layout& layout, const Counts& processes);  // "2x2"

// Steps between exchanges: deep halos are exchanged seldom and computed twice. As many as `most`, while the cells
// computed twice stay below a tenth, and a halo comes from direct neighbours only.
std::size_t choose_depth(const Layout& layout, const Counts& processes, std::size_t most);
std::size_t deepest(const Layout& layout, const Counts& processes);  // that neighbours allow

// One process's part. Boxes without "global" in their name are in the coordinates of its own grid.
struct Part {
  Box global;                      // what it owns of the whole grid
  Counts low{}, high{};            // cells of halo at each side
  Box owned;                       // what it owns
  std::vector<std::size_t> shape;  // of its own grid, halos included; as many axes as the whole
  Borders borders;                 // of its own grid: inner sides are fixed, and what they spoil lies in the halo
};
// A speed a process, where they differ: along an axis each layer of processes gets cells as its mean speed is, and not
// less than its neighbours' halos need. None: equal parts.
using Speeds = std::vector<double>;
Part part_of(const Layout& layout, const Counts& processes, std::size_t depth, std::size_t rank,
             const Speeds& speeds = {});

// A box that goes to a neighbour and the one that comes from it, all neighbours at once, corners included.
struct Exchange {
  std::size_t rank = 0;
  Box send, receive;
  int send_tag = 0, receive_tag = 0;
  std::array<int, 3> direction{};
};
std::vector<Exchange> exchanges(const Layout& layout, const Counts& processes, std::size_t depth, std::size_t rank,
                                const Speeds& speeds = {});

}  // namespace ridge::stencil
