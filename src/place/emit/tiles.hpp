// Tiles in local memory: a group loads the window (tile and halo) that its work-items read, and the kernel reads from
// it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "place/criteria/choose.hpp"
#include "place/criteria/memory.hpp"
#include "place/emit/blocking.hpp"

namespace ridge::place::emit {

// True if the grid's loops are perfectly nested with step 1, fixed bounds and no jumps: then a group computes a box of
// iterations and all its work-items reach the barriers.
bool boxes(const Nest& nest, const criteria::Choice& choice);

// Redirects name[subscript] in the text of `node` to the tile. False if a subscript is not known to the analysis; the
// array then stays in global memory.
bool read_from_tile(Node& node, const criteria::Tile& tile, const analysis::Relations& relations);

// Kernel text: loops over groups around loading and computing. `tiled` is the tree with reads from tiles, `root`
// without.
std::string tiled_text(const Nest& nest, const Node& root, const Node& tiled, const std::vector<Loop>& loops,
                       const criteria::Choice& choice, const Blocking& blocking,
                       const std::vector<criteria::Tile>& tiles, const analysis::Relations& relations,
                       const std::vector<std::string>& items);

std::string tile_elements(const Nest& nest, const Variable& v);  // name of the argument that holds the array's length

}  // namespace ridge::place::emit
